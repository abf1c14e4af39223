"""A search for another layout of a published version, which is made and counted again and again.

The tasks are those of the training, as for the ablation: what judges a build is not touched.
"""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.core.errors import PipelineError
from pipeline.judge.counting.whole import touched_of
from pipeline.layout.candidates import Recipe
from pipeline.layout.pins import names_of
from pipeline.layout.search import Cost, Found, Search
from pipeline.release.version import Version
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.cut import cut
from pipeline.stages.build.workloads import task_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.counted import Counted, Known
from pipeline.stages.proof.layout_ground import Ground
from pipeline.stages.proof.list_worth import present_tasks, private_room, task_counter
from pipeline.stages.proof.relist import Relisted, require_fresh
from pipeline.toolchain.flags import BOLT, Flags
from pipeline.toolchain.symbols import SymbolLists

KEPT = Path("searched", "counts.json")
Make = Callable[[str, SymbolLists, Flags | None], Path]


def search_layouts(
    shop: Workshop, version: Version, hot: Sequence[str], cold: Sequence[str], budget_s: float
) -> Found:
    """Return what a search of about ``budget_s`` seconds finds; ``hot`` and ``cold`` are lines.

    The time begins when the code is compiled and the orders are there. Raises BuildError where the
    version cannot be made again, DataError where nothing can be counted.
    """
    setup = configure(shop)
    require_fresh(shop, setup, version)
    plain = cut(shop, setup, baseline(shop, setup))
    tasks = present_tasks()
    with shop.console.stage("search") as line, private_room(shop) as room:
        line.step(f"compiling the code of {version.name}")
        make = Relisted(shop, setup, plain, version, room)
        line.step("asking tools and programs for orders of functions")
        ground = Ground(shop, make, hot, room)
        candidates = ground.candidates(tasks)
        until = time.monotonic() + budget_s
        search = Search(
            measure=Maker(make, counted(shop), room, names_of(cold)),
            left=lambda: time.monotonic() < until,
            say=line.step,
            movable=ground.movable,
            width=len(os.sched_getaffinity(0)),
        )
        found = search.run(names_of(hot), candidates)
        line.done(f"{len(found.tried)} layouts and {found.exchanged} exchanges counted")
    return found


def counted(shop: Workshop) -> Counted:
    """Return what counts libraries in the tasks of the training, and knows those of before."""
    tasks, counter = present_tasks(), replace(task_counter(shop), read=touched_of)
    parts = {
        "tasks": task_keys(shop, tasks),
        "cache": str(counter.geometry),
        "simulator": shop.tool_keys["valgrind"],
    }
    return Counted(counter, tasks, Known(shop.store.folder / KEPT), parts)


@dataclass(frozen=True)
class Maker:
    """Makes the library of each recipe and has it counted; names one that cannot be made."""

    make: Make
    count: Callable[[dict[str, Path]], dict[str, Cost | str]]
    room: Path
    cold: tuple[str, ...]
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def __call__(self, recipes: Sequence[Recipe]) -> list[Cost | str]:
        """Return the costs in the order of the recipes. Names are as long as any other."""
        names = [f"{next(self.numbers):06}" for _ in recipes]
        made = [self._make(name, one) for name, one in zip(names, recipes, strict=True)]
        costs = self.count({n: m for n, m in zip(names, made, strict=True) if isinstance(m, Path)})
        for name in names:
            shutil.rmtree(self.room / name, ignore_errors=True)
        return [m if isinstance(m, str) else costs[n] for n, m in zip(names, made, strict=True)]

    def _make(self, name: str, recipe: Recipe) -> Path | str:
        flags = recipe.changed(BOLT) if recipe.bolt else None
        try:
            return self.make(name, SymbolLists(recipe.hot, self.cold), flags)
        except PipelineError as error:
            return error.message.splitlines()[0]
