"""The ``hakmem`` command: finds the subcommand, imports its module alone, runs it.

A new subcommand is a row of ``COMMANDS`` and a module ``operate/commands/NAME.py`` with
``configure(parser)`` and ``run(args)``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from operate.telling import tell
from pipeline.core.errors import (
    PipelineError,
    SpaceError,
    UsageError,
    cannot_use,
    folder_is_gone,
    no_memory,
)
from pipeline.core.exit_codes import ExitCode
from pipeline.core.output import drop_what_is_refused, take_any_name
from pipeline.core.spelling import did_you_mean

COMMANDS = {
    "run": "Start a program with the library that fits.",
    "check": "Say whether a running program uses the library.",
    "top": "Show what a running program holds, size class by size class.",
    "heap": "Write the heap profile of a running program.",
    "reload": "Make running programs read their file of options again.",
    "metrics": "Give Prometheus the figures of all running programs.",
    "completion": "Print the script that completes `hakmem` in a shell.",
}
"""Each subcommand with its one line of help."""

_EXIT_CODES = "Exit codes: docs/exit-codes.md."
_WIDTH = max(map(len, COMMANDS))


def main() -> NoReturn:
    """Run the command line and leave with one of the codes of docs/exit-codes.md."""
    take_any_name()
    sys.exit(guarded(lambda: dispatch(sys.argv[1:])))


def dispatch(words: Sequence[str]) -> int:
    """Run what ``words`` ask for, and return its exit code; --help leaves by SystemExit."""
    chosen = next((word for word in words if not word.startswith("-")), "")
    if chosen and chosen not in COMMANDS and words[0] == chosen:
        _refuse(chosen)
    parser = build_parser([chosen] if chosen in COMMANDS else [])
    args, unknown = parser.parse_known_args(words)
    if unknown:
        getattr(args, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if not hasattr(args, "run"):
        parser.print_help()
        return ExitCode.OK
    code: int = args.run(args)
    return code


def _refuse(word: str) -> NoReturn:
    """Refuse a command that there is not, and name the nearest."""
    others = f"give one of: {', '.join(COMMANDS)}; all others are commands of `pipeline`"
    raise UsageError(
        f"there is no command {word!r}", hint=did_you_mean(word, COMMANDS, others, "{!r}")
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Refuse the words as `pipeline` does: with what helps, and no usage in front."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows what it takes")


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        """Give the options so much room that each has what it is for beside it."""
        super().__init__(prog, max_help_position=36)


def build_parser(filled: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the whole command line; only the commands in ``filled`` are imported."""
    parser = _Parser(
        prog="hakmem",
        usage="hakmem [-h] [--version] COMMAND ...",
        description="Run, look at and watch programs that use libhakmem.",
        epilog=_commands_and_codes(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(prog="hakmem", metavar="COMMAND", help=argparse.SUPPRESS)
    for name, line in COMMANDS.items():
        child = commands.add_parser(
            name,
            description=line,
            epilog=_EXIT_CODES,
            formatter_class=_Help,
        )
        if name in filled:
            fill(name, child)
    return parser


def _commands_and_codes() -> str:
    """Return the table of the commands: argparse breaks the row of the longest name over lines."""
    rows = (f"  {name:{_WIDTH}}  {line}" for name, line in COMMANDS.items())
    return "\n".join(["commands:", *rows, "", _EXIT_CODES])


def fill(name: str, parser: argparse.ArgumentParser) -> None:
    """Give a subcommand its arguments and what runs it."""
    module = import_module(f"operate.commands.{name}")
    module.configure(parser)
    parser.set_defaults(run=module.run, parser=parser)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        """Print the version of the tree, or of what is installed."""
        print(f"hakmem {version()}")
        parser.exit()


def version() -> str:
    """Return the version: of the tree around this package, else of the distribution."""
    file = Path(__file__).resolve().parents[1] / "VERSION"
    if file.is_file():
        return file.read_text(encoding="utf-8").strip()
    from importlib.metadata import version as installed

    return installed("hakmem-pipeline")


def guarded(action: Callable[[], int]) -> int:
    """Run ``action``; turn an error that was foreseen into its message and exit code."""
    try:
        code = action()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except PipelineError as error:
        return tell(error)
    except BrokenPipeError:  # who reads has seen enough
        drop_what_is_refused()
        return ExitCode.OK
    except MemoryError:
        return tell(no_memory())
    except OSError as error:
        drop_what_is_refused()
        return tell(folder_is_gone(error) or _refused(error))
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _refused(error: OSError) -> PipelineError:
    """Return what the system refuses as an error of ours: a file that is named, or its bytes."""
    if error.filename is None:
        return SpaceError(
            f"cannot read or write: {error.strerror}",
            hint="free some space, or name another file",
        )
    return cannot_use(error)
