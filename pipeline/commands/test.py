"""``pipeline test``: the checks of the repository, with a summary and one exit code.

pytest uses one processor and runs beside the other suites.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.options import Word
from pipeline.commands.suites import ONLY_FULL, SUITES, VARIANTS, steps
from pipeline.commands.suites_run import conclude, run_all

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole


def complete_app(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the apps whose name begins with what was typed."""
    from pipeline.apps.model import load_apps
    from pipeline.apps.suite import scripts
    from pipeline.core.paths import Tree

    return [app.name for app in load_apps(scripts(Tree.here())) if app.name.startswith(typed)]


@click.command("test")
@click.option(
    "--only",
    multiple=True,
    type=Word(SUITES),
    metavar="SUITE",
    help=f"Run this suite alone: {', '.join(SUITES)}.",
)
@click.option(
    "--full", is_flag=True, help="Also what takes long: twenty minutes on two processors."
)
@click.option(
    "--changed",
    metavar="[REV]",
    is_flag=False,
    flag_value="HEAD",
    help="Only what the changes since REV touch; without REV, what is not committed.",
)
@click.option("--apps", is_flag=True, help="Run real programs with the library instead (minutes).")
@click.option(
    "--app", "names", multiple=True, metavar="NAME", shell_complete=complete_app, help="Only this."
)
@click.option(
    "--library",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path),
    help="The library for --apps; by default the published one, else the one built last.",
)
@click.option(
    "--variant",
    type=click.Choice(VARIANTS),
    help="Build this variant of the library for --apps.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the library for --apps, such as HAKMEM_PURGE_DELAY=0.",
)
@click.option("--verbose", "-v", is_flag=True, help="Show commands as lines to paste.")
def test_command(
    only: tuple[str, ...],
    full: bool,
    changed: str | None,
    apps: bool,
    names: tuple[str, ...],
    library: Path | None,
    variant: str | None,
    settings: tuple[str, ...],
    verbose: bool,
) -> None:
    """Run the tests: all, or those that a change touches.

    \b
    Examples:
      pipeline test                          # twelve minutes on two quiet CPUs
      pipeline test --full                   # also what takes long
      pipeline test --changed                # what is not committed
      pipeline test --changed main           # what changed since main
      pipeline test --only ruff --only mypy  # two of the suites
      pipeline test --apps                   # real programs, preloaded
      pipeline test --app redis --app nginx  # two of those
      pipeline test --apps --variant guard   # with the build that finds misuse
    """
    from pipeline.core.console import open_console
    from pipeline.core.errors import UsageError
    from pipeline.core.paths import Tree

    console = open_console(verbose)
    if apps or names:
        from pipeline.apps.suite import run_suite as run_apps

        if only or full or changed:
            word = "--only" if only else "--full" if full else "--changed"
            raise UsageError(
                f"{word} and --apps do not go together", hint="run one, then the other"
            )
        if library and variant:
            raise UsageError(
                "--library and --variant do not go together", hint="--variant builds its library"
            )
        run_apps(Tree.here(), names, library, console, parse_settings(settings), variant)
        return
    if library or variant or settings:
        word = "--library" if library else "--variant" if variant else "--set"
        raise UsageError(f"{word} is for --apps alone", hint="add --apps, or --app NAME")
    if changed is not None:
        if only or full:
            word = "--only" if only else "--full"
            raise UsageError(
                f"{word} and --changed do not go together", hint="--changed chooses by itself"
            )
        run_changed(changed, console)
        return
    run_suites(only, console, full)


def run_changed(since: str, console: BuildConsole) -> None:
    """Run what the changes since a commit touch; raise TestsFailed."""
    from pipeline.commands.changed import asked_by, changed_files, steps_for
    from pipeline.core.paths import Tree
    from pipeline.report.text import many

    tree = Tree.here()
    files = changed_files(tree.root, since)
    todo = steps_for(files, tree.root)
    changed = f"changed since {since}: {many(len(files), 'file')}"
    console.say(f"{changed}; suites: {', '.join(todo) or 'none'}")
    for path in files:
        names = sorted(Path(test).stem for test in asked_by(path, tree.root))
        console.say(f"  {path}: {', '.join(names) or 'no test of pytest'}")
    conclude(run_all(todo, tree, console, quick=True), "./bootstrap test --changed")


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
    """Return NAME=VALUE words as a dictionary; UsageError for what is not one of the library's."""
    from pipeline.core.errors import UsageError

    for setting in settings:
        if not setting.startswith("HAKMEM_") or "=" not in setting:
            raise UsageError(f"--set {setting}: HAKMEM_NAME=VALUE is expected")
    return dict(setting.split("=", 1) for setting in settings)


def run_suites(only: tuple[str, ...], console: BuildConsole, full: bool = False) -> None:
    """Run the suites with these names (none: all); raise TestsFailed."""
    from pipeline.core.paths import Tree

    wanted = only or [suite for suite in SUITES if full or suite not in ONLY_FULL]
    chosen = [suite for suite in SUITES if suite in wanted]
    outcomes = run_all({s: steps(s, Tree.here().root, full) for s in chosen}, Tree.here(), console)
    conclude(outcomes, f"./bootstrap test --only {{suite}}{' --full' if full else ''}")
