"""The ``pipeline`` command: finds the subcommand, imports its module alone, runs it.

Commands import what they need when they run: help, which asks for all of them, stays quick.
"""

from __future__ import annotations

import os
import sys
from collections import UserDict
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn

import click

from pipeline.core import home, interrupts, output
from pipeline.core.exit_codes import ExitCode

MODULES = {
    "build": "build",
    "bundle": "bundle",
    "diff": "diff",
    "doctor": "doctor",
    "experiment": "experiment",
    "health": "health",
    "heap": "heap",
    "history": "history",
    "import": "import_profiles",
    "init": "init",
    "install": "install",
    "layout": "layout",
    "learn": "learn",
    "list": "versions",
    "package": "package",
    "profiles": "profiles",
    "prune": "prune",
    "record": "record",
    "reject": "reject",
    "release": "release",
    "report": "report",
    "review": "review",
    "rollback": "rollback",
    "sample": "sample",
    "test": "test",
    "trace": "trace",
    "tune": "tune",
    "uninstall": "install",
    "unpin": "unpin",
    "verify": "verify",
    "versus": "versus",
}
"""Each command with the module of ``pipeline/commands/`` that has it, as NAME_command."""


MEANT = {
    **{word: f"`.venv/bin/hakmem {word}`" for word in ("check", "metrics", "run", "top")},
    "compare": "`diff` (two versions) or `versus` (any two libraries)",
    "delete": "`prune` (old versions) or `uninstall` (what is installed)",
    "publish": "`build`, which publishes what passes, or `rollback --to VERSION`",
    "remove": "`prune` (old versions) or `uninstall` (what is installed)",
    "show": "`report`",
    "stats": "`.venv/bin/hakmem top`",
    "status": "`list` (what is published) or `.venv/bin/hakmem check PID`",
}
"""Words that people type for a command, and what they mean by them."""


class _OnDemand(UserDict[str, click.Command]):
    """The commands by name: the module of one is imported when it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.data = dict.fromkeys(MODULES, click.Command(None))

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(
            import_module(f"pipeline.commands.{MODULES[name]}"), f"{name}_command"
        )
        return command


class _Commands(click.Group):
    """The commands; a word of ``MEANT`` gets what was meant, and not the nearest spelling."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; UsageError with the right one if the word is known."""
        if args[0] in MEANT:
            from pipeline.core.errors import UsageError

            raise UsageError(f"no such command: {args[0]}", hint=f"take {MEANT[args[0]]}")
        return super().resolve_command(ctx, args)


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"pipeline {_version()}")
        context.exit()


def _version() -> str:
    from importlib.metadata import version

    from pipeline.core.paths import Tree

    return Tree.here().version if home.is_tree(home.own_root()) else version("hakmem-pipeline")


@click.group(
    cls=_Commands,
    commands=_OnDemand(),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with `doctor`, then `build`; for a program of your own: docs/tutorial.md. "
    "Exit codes: docs/exit-codes.md. Shell completion: docs/commands.md.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Build, train, prove and publish a libhakmem compiled for a workload."""


def main() -> NoReturn:
    """Run the command line and leave with one of the codes of docs/exit-codes.md."""
    sys.exit(_guarded(_run))


def _run() -> object:
    home.enter()
    interrupts.install()
    output.take_any_name()
    if "_PIPELINE_COMPLETE" in os.environ:
        from pipeline.commands import completion  # noqa: F401
    return cli.main(standalone_mode=False, prog_name="pipeline")


def _guarded(action: Callable[[], object]) -> int:
    """Run ``action`` and turn whatever it raises into a message and an exit code."""
    stdout = sys.stdout
    try:
        result = action()
        return result if isinstance(result, int) else ExitCode.OK
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return ExitCode.OK
    except SystemExit as error:  # click's own way out
        if sys.stdout is not stdout:  # click's plug for a pipe whose reader has gone, as head does
            return ExitCode.OK
        return error.code if isinstance(error.code, int) else ExitCode.INTERNAL
    except BaseException as error:
        from pipeline.core.report_error import report_error

        code = report_error(error)
        output.drop_what_is_refused()
        return code
