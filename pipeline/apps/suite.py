"""The suite of real programs: which library, one app after the other, a table at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.apps.model import App, Outcome, Run, choose, load_apps
from pipeline.apps.packages import provide
from pipeline.apps.run import Place, run_app
from pipeline.core import interrupts
from pipeline.core.errors import PackagesMissing, TestsFailed, UsageError
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.toolchain.find import find_llvm

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline.core.console import BuildConsole

NAME_WIDTH = 18


def run_suite(
    tree: Tree,
    names: tuple[str, ...],
    library: Path | None,
    console: BuildConsole,
    settings: Mapping[str, str],
    variant: str | None = None,
) -> None:
    """Run the apps with these names (none: all); raise TestsFailed or PackagesMissing.

    ``settings`` are options of the library for the preloaded runs. ``variant`` is built first, in
    the place of a ``library``.
    """
    apps = choose(load_apps(scripts(tree)), names)
    if variant:
        library = build_variant(tree, variant, console)
    library = library or find_library(tree)
    if "guard" in library.name:
        apps = [app.for_guard() for app in apps]
    console.say(f"library: {library}")
    logs = tree.state / "tests" / "apps"
    with _private_folder() as folder:
        copy = Path(shutil.copy2(library, folder / "libhakmem.so"))
        copy.chmod(0o755)
        place = Place(scripts(tree), folder, copy, logs, settings)
        outcomes = [_one(app, place, console) for app in apps]
    console.say("")
    console.rich.print(summary(outcomes))
    console.say(f"logs: {logs}")
    conclude(outcomes)


def scripts(tree: Tree) -> Path:
    """Return the folder of the suite's table, scripts and programs."""
    return tree.root / "tests" / "apps" / "suite"


def find_library(tree: Tree) -> Path:
    """Return the published library (of ``mixed`` first), else the one built last; or UsageError."""
    published = sorted(tree.root.glob("dist/*/current/lib/libhakmem.so"))
    mixed = [path for path in published if path.parents[2].name == "mixed"]
    if published:
        return [*mixed, *published][0]
    places = [tree.root / "build" / preset / "lib/libhakmem.so" for preset in ("clang", "gcc")]
    built = [path for path in places if path.exists()]
    if not built:
        raise UsageError(
            "there is no library to test",
            hint="./bootstrap build --profile mixed, or name one by --library",
        )
    return max(built, key=lambda path: path.stat().st_mtime)


def build_variant(tree: Tree, variant: str, console: BuildConsole) -> Path:
    """Build the library of a variant by its preset and return it; raise ChildFailed."""
    console.say(f"building the variant {variant}")
    build, log = tree.root / "build" / variant, tree.state / "tests" / "apps" / f"{variant}.log"
    compiler = f"-DCMAKE_C_COMPILER={find_llvm() / 'clang'}"
    run(["cmake", "--preset", variant, compiler], cwd=tree.root, log=log)
    run(["cmake", "--build", build, "--target", "hakmem"], cwd=tree.root, log=log)
    return build / "lib" / f"libhakmem-{variant}.so"


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Make a short path without blanks that others may enter: servers do not run as root."""
    folder: Path | None = None
    try:
        with interrupts.held():  # a folder that is made has its name here
            folder = Path(tempfile.mkdtemp(prefix=f"hakmem-apps-{os.getpid()}-", dir="/tmp"))
        interrupts.check()
        folder.chmod(0o755)
        yield folder
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _one(app: App, place: Place, console: BuildConsole) -> Outcome:
    """Provide for an app, run it, tell about it."""
    own = replace(place, folder=place.folder / app.name)
    with console.rich.status(app.name) as status:

        def say(text: str) -> None:
            status.update(f"{app.name}: {text}")

        lacking = provide(app, place.logs / f"{app.name}-packages.log", say)
        outcome = Outcome(app.name, "skipped", lacking) if lacking else run_app(app, own, say)
    shutil.rmtree(own.folder, ignore_errors=True)
    console.say(_line(outcome))
    return outcome


def _line(outcome: Outcome) -> str:
    times = " then ".join(
        f"{run.seconds:.1f} s" for run in (outcome.plain, outcome.preloaded) if run
    )
    words = [f"{outcome.app:<{NAME_WIDTH}}", f"{outcome.result:<8}", times, outcome.why]
    return " ".join(word for word in words if word)


def summary(outcomes: Sequence[Outcome]) -> Table:
    """Return the table of all apps: result, seconds and peak RSS of both runs."""
    from rich import box
    from rich.table import Table

    table = Table("app", "result", box=box.SIMPLE_HEAD)
    table.columns[0].no_wrap = True
    for head in ("plain s", "preloaded s", "plain MiB", "preloaded MiB"):
        table.add_column(head, justify="right")
    for outcome in outcomes:
        runs = (outcome.plain, outcome.preloaded)
        seconds = [_cell(run, lambda run: run.seconds) for run in runs]
        memory = [_cell(run, lambda run: run.peak_mib) for run in runs]
        table.add_row(outcome.app, outcome.result, *seconds, *memory)
    return table


def _cell(run: Run | None, quantity: Callable[[Run], float]) -> str:
    return f"{quantity(run):.1f}" if run else ""


def conclude(outcomes: Sequence[Outcome]) -> None:
    """Raise what the suite ends with, if not all is well: failures first, then what was skipped."""
    failed = [outcome.app for outcome in outcomes if outcome.result == "failed"]
    if failed:
        raise TestsFailed(
            f"{len(failed)} of {len(outcomes)} apps failed: {', '.join(failed)}",
            hint=f"alone: ./bootstrap test --app {failed[0]}",
        )
    skipped = [outcome for outcome in outcomes if outcome.result == "skipped"]
    if skipped:
        names = ", ".join(outcome.app for outcome in skipped)
        raise PackagesMissing(f"not run for want of packages: {names}", hint=skipped[0].why)
