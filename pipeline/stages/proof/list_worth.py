"""The worth of changed symbol lists: a version made with each, and counted in whole programs.

The tasks are those by which a build is chosen; others judge a version afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import numbered
from pipeline.core.errors import DataError, PipelineError
from pipeline.core.store import ROOM_PREFIX
from pipeline.layout.groups import Group
from pipeline.layout.propose import Change, changed_lists
from pipeline.layout.worth import Counts, Worth, weigh
from pipeline.release.version import Version
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.cut import cut
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.ablation import trained_tasks
from pipeline.stages.proof.relist import STAGE, Relisted, require_fresh
from pipeline.stages.proof.request import COUNT_ENV
from pipeline.toolchain.symbols import SymbolLists

if TYPE_CHECKING:
    from pipeline.judge.counting.told import Told
    from pipeline.judge.counting.whole import WholeCounter
    from pipeline.judge.tasks import Task

Say = Callable[[str], None]


def weigh_changes(
    shop: Workshop, version: Version, files: Mapping[str, Sequence[str]], groups: Sequence[Group]
) -> Worth:
    """Return what each group of changes of the lists is worth to a version.

    ``files`` are the lines of hot.txt and cold.txt as they stand. Raises BuildError where the
    version cannot be made again, DataError where nothing can be counted.
    """
    setup = configure(shop)
    require_fresh(shop, setup, version)
    plain = cut(shop, setup, baseline(shop, setup))
    tasks = present_tasks()
    with shop.console.stage(STAGE) as line, private_room(shop) as room:
        line.step(f"compiling the code of {version.name}")
        make = Relisted(shop, setup, plain, version, room)
        measure = ListCounter(make, task_counter(shop), tasks, files, line.step)
        worth = weigh(groups, measure)
        line.done(f"{len(worth.kept)} of {len(groups)} groups of changes are worth it")
    return worth


def present_tasks() -> tuple[Task, ...]:
    """Return the tasks of the training whose programs are here; DataError if none is."""
    tasks = trained_tasks()
    present = tuple(task for task in tasks if task.path is not None)
    if not present:
        names = ", ".join(task.program for task in tasks)
        raise DataError(f"nothing can be counted: none of {names} is installed")
    return present


def task_counter(shop: Workshop) -> WholeCounter:
    """Return what counts a library in whole tasks, in a cache like this machine's without sets."""
    from pipeline.judge.counting.whole import WholeCounter
    from pipeline.judge.l1i import machine_l1i, without_conflicts

    cache = without_conflicts(machine_l1i()[0])
    return WholeCounter(shop.tools.path("valgrind"), cache, COUNT_ENV, shop.log(STAGE, "").parent)


@contextmanager
def private_room(shop: Workshop) -> Iterator[Path]:
    """Yield a folder that is gone afterwards; what a kill leaves, the next run clears away."""
    home = shop.store.folder / STAGE
    home.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=ROOM_PREFIX, dir=home) as room:
            yield Path(room)
    finally:
        with suppress(OSError):
            home.rmdir()


@dataclass(frozen=True)
class ListCounter:
    """Counts the library that ``make`` makes with each of some sets of changes."""

    make: Callable[[str, SymbolLists], Path]
    counter: WholeCounter
    tasks: Sequence[Task]
    files: Mapping[str, Sequence[str]]
    say: Say

    def __call__(self, sets: Mapping[str, Sequence[Change]]) -> Mapping[str, Counts | str]:
        """Return the counts with each set; a sentence for one that cannot be made."""
        made: dict[str, Path] = {}
        refused: dict[str, str] = {}
        for number, (name, changes) in enumerate(sets.items(), start=1):
            self.say(f"linking {name}, {number} of {len(sets)}")
            try:
                made[name] = self.make(name, changed_lists(self.files, changes))
            except PipelineError as error:
                refused[name] = error.message
        said = numbered(self.say, len(made) * len(self.tasks))
        told = self.counter.count(made, self.tasks, said)
        return {name: refused.get(name) or _counts(told, name) for name in sets}


def _counts(told: Sequence[Told], name: str) -> Counts | str:
    """Return the counts of one library over all tasks, or the first reason that there are none."""
    from pipeline.judge.counting.told import mean

    problems = [f"{one.task.name}: {one.problem}" for one in told if one.problem]
    misses, lines = (mean(told, name, field) for field in ("i1_misses", "hot_lines"))
    if problems or misses is None or lines is None:
        return problems[0] if problems else "a program that was counted never ran the library"
    return Counts(misses, lines, {o.task.name: int(o.counts[name].i1_misses) for o in told})
