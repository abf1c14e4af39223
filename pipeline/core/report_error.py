"""The last words of a run that failed: never a traceback, always what to do next."""

from __future__ import annotations

import errno
import re
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

import click

from pipeline.core.errors import (
    BuildInterrupted,
    GateError,
    NothingYet,
    PipelineError,
    SpaceError,
    UsageError,
    cannot_use,
    folder_is_gone,
    how_to_write,
    no_memory,
)
from pipeline.core.exit_codes import ExitCode
from pipeline.core.home import is_tree, own_root
from pipeline.core.lock import publishing_run
from pipeline.core.paste import runnable, what_to_do
from pipeline.core.paths import Tree, from_here
from pipeline.core.spelling import nearest_file

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)
_FAILING = (errno.EIO, errno.ESTALE, errno.ENOTCONN)
_NAMES = (errno.ENAMETOOLONG, errno.ELOOP, errno.EEXIST, errno.EISDIR)
_NAMING = {
    "-p": "a profile as `-p NAME`",
    "--to": "a version as `--to NAME`",
    "--reason": "a reason as `--reason TEXT`",
}
_FULL_WORDS = ("No space left on device", "Disk quota exceeded", "File too large", "SIGXFSZ")


def report_error(error: BaseException) -> int:
    """Tell a person what went wrong on stderr and return the exit code."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        cause = error.__cause__ if isinstance(error, click.Abort) else error
        _tell("interrupted", cause.hint if isinstance(cause, BuildInterrupted) else "")
        return ExitCode.INTERRUPTED
    if isinstance(error, click.ClickException):
        _tell(error.format_message(), _help_of(error))
        return ExitCode.USAGE
    known = folder_is_gone(error) or _as_space_error(error) or _as_name(error) or error
    if isinstance(known, PipelineError):
        hint = f"{_meanwhile(known)}{known.hint or known.exit_code.cure}"
        _tell(known.message, hint, known.log, known)
        return known.exit_code
    log = _keep(error)
    what = "with the log" if log is not None else "with this message"
    hint = f"this is a fault of the pipeline: please report it {what}"
    _tell(f"unexpected {type(error).__name__}: {error}", hint, log)
    return ExitCode.INTERNAL


def _meanwhile(error: PipelineError) -> str:
    """Return what may make just now what is asked for and not there; or ""."""
    other = publishing_run(Tree(own_root()).state) if isinstance(error, NothingYet) else ""
    if not other:
        return ""
    return f"{other}: if that is the build of it, wait. Else: "


def _help_of(error: click.ClickException) -> str:
    """Return how to see what the command takes that was typed wrongly."""
    context = getattr(error, "ctx", None)
    if hint := _of_gone_file(error) or _of_early_option(error, context):
        return hint
    if context and (profile := _bare_profile(error, context)):
        return f"did you mean `.venv/bin/{context.command_path} --profile {profile}`?"
    command = context.command_path if context else _typed()
    options = _naming(context.command) if context and "extra argument" in str(error) else ""
    return f"`.venv/bin/{command} --help` shows what it takes{options}"


def _of_gone_file(error: click.ClickException) -> str:
    """Return where to look for a file that is named and not there; or ""."""
    parameter = getattr(error, "param", None)
    found = re.search(r"'(.*)' does not exist", error.message, re.DOTALL)
    if parameter is None or found is None or not isinstance(parameter.type, click.Path):
        return ""
    return nearest_file(Path(found[1]))


def _of_early_option(error: click.ClickException, context: click.Context | None) -> str:
    """Return where an option belongs that stands before the command that has it; or ""."""
    group = context.command if context else None
    if context is None or not isinstance(group, click.Group | click.CommandCollection):
        return ""
    option = getattr(error, "option_name", "")
    name = next((word for word in sys.argv[1:] if word in group.list_commands(context)), "")
    command = group.get_command(context, name) if name and option else None
    if command is None or not any(option in one.opts for one in command.params):
        return ""
    return f"put `{option}` behind `{name}`: it is an option of `.venv/bin/pipeline {name}`"


def _naming(command: click.Command) -> str:
    """Return by which options a command takes a word that was typed without one."""
    taken = {option for one in command.params for option in one.opts}
    said = [what for option, what in _NAMING.items() if option in taken]
    return f": {', '.join(said)}" if said else ""


def _bare_profile(error: click.ClickException, context: click.Context) -> str:
    """Return the profile that somebody named without its option, as no argument that fits."""
    _, is_extra, word = error.message.rstrip(")").rpartition("extra argument (")
    takes = any("--profile" in one.opts for one in context.command.params)
    known = {path.stem for path in Tree(own_root()).profiles.glob("*.toml")}
    return word if is_extra and takes and word in known else ""


def _typed() -> str:
    """Return the command as it was typed: some errors of click do not know theirs."""
    name = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
    return f"pipeline {name}".rstrip()


def _as_name(error: BaseException) -> UsageError | None:
    """Return the error as a wrong name of a file, if that is what is behind it."""
    if isinstance(error, OSError) and error.filename is not None and error.errno in _NAMES:
        return cannot_use(error)
    return None


def _as_space_error(error: BaseException) -> SpaceError | None:
    """Return the error as a lack of space or of rights, if that is what is behind it."""
    if isinstance(error, SpaceError):
        return error
    if isinstance(error, MemoryError):
        return no_memory()
    if isinstance(error, OSError) and error.errno in _FAILING:
        return SpaceError(
            f"cannot read or write {error.filename or 'a file'}: {error.strerror}",
            hint="does its disk, or the network to it, still answer? `dmesg` may say more",
        )
    if isinstance(error, OSError) and error.errno in _FORBIDDEN:
        return SpaceError(
            f"cannot write {error.filename}: {error.strerror}",
            hint=how_to_write(error),
        )
    full = isinstance(error, OSError) and error.errno in _FULL
    if full or _speaks_of_space(error):
        written = getattr(error, "filename2", None)  # of a copy; the other one is only read
        place = written or getattr(error, "filename", None) or own_root()
        return SpaceError(
            f"no space left on the disk of {place}: {error}",
            hint="free some space, and give the same command again",
            log=getattr(error, "log", None),
        )
    return None


def _speaks_of_space(error: BaseException) -> bool:
    return isinstance(error, PipelineError) and any(w in error.message for w in _FULL_WORDS)


def _tell(
    message: str,
    hint: str,
    log: Path | None = None,
    kind: PipelineError | type[PipelineError] = PipelineError,
) -> None:
    colour = "yellow" if isinstance(kind, GateError) else "red"
    click.secho(runnable(f"{kind.word}: {message}"), fg=colour, err=True)
    if hint:
        click.echo(what_to_do(hint), err=True)
    if log is not None:
        click.echo(f"  {kind.log_word}: {from_here(log)}", err=True)


def _keep(error: BaseException) -> Path | None:
    """Write the traceback below build/ if possible, else to the temporary folder.

    Outside of a tree nothing is kept: there is no folder of ours, and none that is expected.
    """
    root = own_root()
    if not is_tree(root):
        return None
    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}.log"
    text = "".join(traceback.format_exception(error))
    for folder in (Tree(root).state, Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
            return folder / name
        except OSError:
            continue
    return None
