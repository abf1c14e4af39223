"""Every way in which the pipeline can fail, as one family of errors.

An error says what went wrong in one line, then what to do about it, then where the log is.
"""

from __future__ import annotations

import errno
from pathlib import Path

from pipeline.core.exit_codes import ExitCode

SHOWN_NAME = 300
"""Characters of a name that an error shows."""


class BuildInterrupted(KeyboardInterrupt):
    """An interrupt of work that is done in stages, whose finished ones are kept."""

    hint = (
        "the same command goes on from the last good stage, and begins the interrupted one anew; "
        "if that is verify, its counts and pairs are lost"
    )


class JudgementInterrupted(BuildInterrupted):
    """An interrupt of two versions' direct judgement, of which nothing is kept."""

    hint = "nothing of this judgement is kept: the same command begins it again"


class PipelineError(Exception):
    """An error with an exit code, a sentence, a hint, and (where there is one) a log file."""

    exit_code = ExitCode.INTERNAL
    word = "error"
    log_word = "log"

    def __init__(self, message: str, *, hint: str = "", log: Path | None = None) -> None:
        """Keep ``message`` (what), ``hint`` (what to do) and ``log`` (where to read on)."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log = log


class UsageError(PipelineError):
    """The command line asks for something that does not go together."""

    exit_code = ExitCode.USAGE


def folder_is_gone(error: BaseException) -> UsageError | None:
    """Return the error for a current folder that was removed, if the system speaks of that."""
    if not isinstance(error, FileNotFoundError) or error.filename is not None:
        return None
    return UsageError("the folder that you are in was removed", hint="change into another one")


def cannot_use(error: OSError) -> UsageError:
    """Return the error for a name that the system refuses, such as one that is far too long."""
    name = str(error.filename)
    shown = name if len(name) <= SHOWN_NAME else f"{name[:SHOWN_NAME]}..."
    return UsageError(
        f"cannot use {shown}: {error.strerror}", hint="name another one, or mend that"
    )


def how_to_write(error: OSError) -> str:
    """Return what to do where the system forbids to write."""
    if error.errno == errno.EROFS:
        return "its file system can only be read: write elsewhere, or mount it for writing"
    if error.errno == errno.ENOTDIR:
        return "a part of its path is a file and no folder: write elsewhere"
    return "give yourself the right to write there"


def no_memory() -> SpaceError:
    """Return the error for memory that the system refuses."""
    return SpaceError(
        "the system gives no more memory",
        hint="is a named file far too large? Else end other programs, or raise `ulimit -v`",
    )


class ProfileError(PipelineError):
    """A profile is unknown, unreadable or breaks a rule of its schema."""

    exit_code = ExitCode.PROFILE


class ToolError(PipelineError):
    """A program that a stage needs is missing or too old."""

    exit_code = ExitCode.TOOL


class BuildError(PipelineError):
    """A tool that makes an artifact refused to."""

    exit_code = ExitCode.BUILD


class WorkloadError(PipelineError):
    """A training or health workload crashed, failed or hung."""

    exit_code = ExitCode.WORKLOAD


class DataError(PipelineError):
    """Profile data is missing, empty or corrupt, or a bundle is refused."""

    exit_code = ExitCode.DATA


class GateError(PipelineError):
    """The judge did not let the build pass: nothing went wrong, this is what came out."""

    exit_code = ExitCode.GATE
    word = "result"
    log_word = "report"


class SpaceError(PipelineError):
    """A folder cannot be written, or there is no space left in it."""

    exit_code = ExitCode.SPACE


class BusyError(PipelineError):
    """Another run holds the lock of this tree."""

    exit_code = ExitCode.BUSY


class TestsFailed(PipelineError):
    """At least one test suite failed."""

    __test__ = False  # not a test class, whatever its name looks like to pytest
    exit_code = ExitCode.TESTS


class PackagesMissing(PipelineError):
    """Something was left out because Debian packages for it cannot be installed."""

    exit_code = ExitCode.PACKAGES


class ArtifactError(PipelineError):
    """A file that a tool made is empty, does not load, or breaks a rule for binaries."""

    exit_code = ExitCode.ARTIFACT


class VersionError(PipelineError):
    """A published version is asked for that is not there."""

    exit_code = ExitCode.VERSION


class NothingYet(VersionError):
    """Of a profile nothing is published or judged at all: a build that runs may change that."""


class UnfitError(PipelineError):
    """No library can be preloaded into a program, or this processor cannot run the library."""

    exit_code = ExitCode.UNFIT


class ChildError(PipelineError):
    """A child process did not do its work; the two kinds below say how."""

    exit_code = ExitCode.BUILD

    def __init__(
        self, how: str, *, program: str = "", hint: str = "", log: Path | None = None
    ) -> None:
        """Keep ``program`` and ``how`` it failed apart: some callers have another name for it."""
        super().__init__(f"{program}: {how}" if program else how, hint=hint, log=log)
        self.program = program
        self.how = how


class ChildFailed(ChildError):
    """A child process ended with an exit code that was not expected, or by a signal."""

    def __init__(self, how: str, *, program: str, returncode: int, log: Path | None = None) -> None:
        """Keep ``returncode``; negative means the number of the signal that ended it."""
        super().__init__(how, program=program, log=log)
        self.returncode = returncode


class ChildTimeout(ChildError):
    """A child process ran into its time limit and was killed with its whole group."""
