"""The ``pipeline`` command. Commands import what they need when they run: help stays quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import click

from pipeline.commands.build import build_command
from pipeline.commands.bundle import bundle_command
from pipeline.commands.doctor import doctor_command
from pipeline.commands.experiment import experiment_group
from pipeline.commands.fleet import import_command, sample_command
from pipeline.commands.going_back import reject_command, rollback_command, unpin_command
from pipeline.commands.health import health_command
from pipeline.commands.heap import heap_command
from pipeline.commands.history import history_command
from pipeline.commands.install import install_command, uninstall_command
from pipeline.commands.layout import layout_command
from pipeline.commands.learn import learn_command
from pipeline.commands.package import package_command
from pipeline.commands.profiles import init_command, profiles_command
from pipeline.commands.prune import prune_command
from pipeline.commands.record import record_command
from pipeline.commands.release import release_command
from pipeline.commands.report import diff_command, report_command
from pipeline.commands.review import review_command
from pipeline.commands.test import test_command
from pipeline.commands.trace import trace_group
from pipeline.commands.tune import tune_command
from pipeline.commands.verify import verify_command
from pipeline.commands.versions import list_command
from pipeline.commands.versus import versus_command
from pipeline.core import home, interrupts, output
from pipeline.core.errors import ExitCode


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"pipeline {_version()}")
        context.exit()


def _version() -> str:
    from importlib.metadata import version

    from pipeline.core.paths import Tree

    return Tree.here().version if home.is_tree(home.own_root()) else version("hakmem-pipeline")


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: docs/exit-codes.md. Shell completion: docs/commands.md.",
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


for _command in (
    build_command,
    test_command,
    doctor_command,
    report_command,
    diff_command,
    versus_command,
    experiment_group,
    review_command,
    history_command,
    list_command,
    rollback_command,
    unpin_command,
    reject_command,
    prune_command,
    release_command,
    layout_command,
    bundle_command,
    install_command,
    uninstall_command,
    package_command,
    profiles_command,
    init_command,
    record_command,
    sample_command,
    import_command,
    trace_group,
    heap_command,
    tune_command,
    learn_command,
    verify_command,
    health_command,
):
    cli.add_command(_command)


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
