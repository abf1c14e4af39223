"""Every way the pipeline can end, as one table of exit codes and one family of errors.

An error says what went wrong in one line, then what to do about it, then where the log is.
``docs/exit-codes.md`` is generated from :class:`ExitCode`; a test keeps the two together.
"""

from __future__ import annotations

import errno
from enum import IntEnum
from pathlib import Path

SHOWN_NAME = 300
"""Characters of a name that an error shows."""


class ExitCode(IntEnum):
    """Exit codes of ``pipeline`` and ``bootstrap``, each with its meaning and the cure."""

    meaning: str
    cure: str

    def __new__(cls, value: int, meaning: str, cure: str) -> ExitCode:
        """Make a member that carries its own documentation."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.cure = cure
        return member

    OK = 0, "everything asked for was done", "nothing to do"
    INTERNAL = 1, "an error that nobody foresaw", "report it with the log file that is named"
    USAGE = (
        2,
        "the command line was not understood, or names what is not there",
        "see `.venv/bin/pipeline --help`",
    )
    PROFILE = 3, "the profile is unknown or not valid", "mend the key that the message names"
    TOOL = 4, "a tool is missing or too old", "run `./bootstrap doctor`"
    BUILD = 5, "a compiler, linker, BOLT or CMake failed", "read the log that is named"
    WORKLOAD = 6, "a workload crashed or ran into its time limit", "run the line from its log"
    DATA = 7, "profile data is missing, empty or corrupt", "build again with `--from train`"
    GATE = 8, "the new build was judged and not published", "do what the message says"
    SPACE = (
        9,
        "no space left, or a folder cannot be written",
        "free space there, get the right to write there, or write elsewhere",
    )
    BUSY = 10, "another run works in this tree", "wait for it, or leave out `--no-wait`"
    TESTS = 11, "at least one test failed", "mend the tests that the summary names"
    PACKAGES = (
        12,
        "packages are missing and cannot be installed",
        "run the line it prints",
    )
    PYTHON = 13, "bootstrap: no Python 3.11 or newer with venv", "install python3 and python3-venv"
    ARTIFACT = (
        14,
        "a tool made something unfit, or a version's files are damaged",
        "do what the message says; without advice, give the command again, then report it",
    )
    VERSION = (
        15,
        "no such version is published, or it was rejected",
        "see `.venv/bin/pipeline list`, or build one",
    )
    REGRESSION = (
        16,
        "the newer of two versions, a reviewed build, or B of `versus` or an experiment, is worse",
        "keep the older one, or accept what the table names",
    )
    UNFIT = (
        17,
        "`hakmem run`: no library can serve this program here",
        "start the program without hakmem, or mend what the message names",
    )
    UNUSED = (
        18,
        "`hakmem check`: malloc of a process is not the library's, or unknown",
        "start the process again with `hakmem run`",
    )
    LIVES = (
        19,
        "`pipeline heap --fail-above`: more memory lives than that",
        "look at the functions named first",
    )
    INTERRUPTED = (
        130,
        "ctrl-C, SIGTERM, or the terminal was closed",
        "the same command again; a build goes on where it was",
    )


class BuildInterrupted(KeyboardInterrupt):
    """An interrupt of work that is done in stages, whose finished ones are kept."""

    hint = "the same command goes on from the last good stage"


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
    """Profile data is missing, empty or corrupt."""

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


class UnfitError(PipelineError):
    """No library can be preloaded into a program, or this processor cannot run the library."""

    exit_code = ExitCode.UNFIT


class ChildError(PipelineError):
    """A child process did not do its work; the two kinds below say how."""

    exit_code = ExitCode.BUILD


class ChildFailed(ChildError):
    """A child process ended with an exit code that was not expected, or by a signal."""

    def __init__(
        self, message: str, *, returncode: int, hint: str = "", log: Path | None = None
    ) -> None:
        """Keep ``returncode``; negative means the number of the signal that ended it."""
        super().__init__(message, hint=hint, log=log)
        self.returncode = returncode


class ChildTimeout(ChildError):
    """A child process ran into its time limit and was killed with its whole group."""


def exit_code_page() -> str:
    """Return docs/exit-codes.md. ``python -m pipeline.core.errors`` prints it."""
    rows = [f"| {code.value} | {code.meaning} | {code.cure} |" for code in ExitCode]
    return "\n".join(
        [
            "# Exit codes",
            "",
            "**For people who call `pipeline`, `hakmem` or `bootstrap` from scripts.** Look up here"
            " what a code",
            "means; then you can tell what went wrong and what to do next.",
            "",
            "Every error is a sentence, then what to do about it, and the log file where there is"
            " one.",
            "This page is made from the table in `pipeline/core/errors.py` by",
            "`python -m pipeline.core.errors > docs/exit-codes.md`.",
            "",
            "| code | meaning | what to do |",
            "| ---: | --- | --- |",
            *rows,
            "",
            "`report --check` ends with 8 where a build was refused or rejected. Who built with",
            "`--allow-regression` has accepted that loss: it ends with 0, and names it on stderr.",
            "`diff` and `review` take no notice of that, and end with 16.",
            "",
            "`experiment run` ends with 16 where B is worse, as `versus` does; the entry has the",
            "verdict all the same.",
            "",
        ]
    )


if __name__ == "__main__":
    print(exit_code_page(), end="")
