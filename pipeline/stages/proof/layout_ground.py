"""What a search of layouts begins with: the orders that tools and programs suggest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.core.errors import PipelineError
from pipeline.judge.tasks import Task
from pipeline.layout.candidates import Candidate, by_flags, by_order
from pipeline.layout.pins import names_of, pinned, reordered
from pipeline.stages.bolt.optimize import suggested
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.first_use import first_used
from pipeline.stages.proof.relink import functions_of
from pipeline.stages.proof.relist import STAGE, Relisted
from pipeline.stages.proof.request import COUNT_ENV
from pipeline.toolchain.flags import Flag
from pipeline.toolchain.symbols import Function

BY_BOLT = ("cdsort", "hfsort", "pettis-hansen", "exec-count")
"""BOLT's orders of functions; its `hfsort+` is another name of cdsort."""
BY_LINKER = ("cdsort", "hfsort")
"""The linker's orders, by the calls that the compiler's profile tells."""
FIRST_USE = "first use"


@dataclass(frozen=True)
class Ground:
    """Asks for orders. ``hot`` are the lines of hot.txt, ``room`` is for scratch files."""

    shop: Workshop
    make: Relisted
    hot: Sequence[str]
    room: Path

    def candidates(self, tasks: Sequence[Task]) -> list[Candidate]:
        """Return the layouts to try: orders that differ from the list's, then flags."""
        names, pins = names_of(self.hot), pinned(self.hot)
        orders = {
            name: reordered(names, same_function(wanted, self._functions), pins)
            for name, wanted in self._suggested(tasks)
        }
        flags = by_flags(names) if self.make.edges else ()
        return [*by_order(orders), *flags]

    @property
    def movable(self) -> frozenset[str]:
        """The names that may change places: functions with code of their own, and not pinned."""
        present = {one.name for one in self._functions}
        return frozenset({*names_of(self.hot)} & present - pinned(self.hot))

    @cached_property
    def _functions(self) -> list[Function]:
        return functions_of(self.shop, STAGE, self.make.linked)

    def _suggested(self, tasks: Sequence[Task]) -> Iterator[tuple[str, list[str]]]:
        """Yield each order that can be had here; a tool that has none says so in its log."""
        asked = self._by_bolt if self.make.edges else self._by_linker
        for algorithm in BY_BOLT if self.make.edges else BY_LINKER:
            try:
                yield algorithm, asked(algorithm)
            except PipelineError as error:
                self.shop.console.notice(f"no order by {algorithm}: {error.message}")
        yield FIRST_USE, self._first_used(tasks)

    def _by_bolt(self, algorithm: str) -> list[str]:
        flags = (
            Flag(f"--reorder-functions={algorithm}", "an order of BOLT's own"),
            Flag("--generate-function-order={order}", "to read it"),
        )
        edges = self.make.edges
        assert edges is not None
        return suggested(self.shop, self.make.linked, edges, self.room, STAGE, flags)

    def _by_linker(self, algorithm: str) -> list[str]:
        library = self.room / f"{algorithm}.so"
        self.make.sort(algorithm, library)
        return [one.name for one in functions_of(self.shop, STAGE, library)]

    def _first_used(self, tasks: Sequence[Task]) -> list[str]:
        tool, log = self.shop.tools.path("valgrind"), self.shop.log(STAGE, "first-use")
        return first_used(tool, tasks, self.make.linked, COUNT_ENV, log)


def same_function(wanted: Iterable[str], functions: Sequence[Function]) -> list[str]:
    """Return the names with all other names of the same function behind each: a list has one."""
    place = {one.name: one.address for one in functions}
    others: dict[int, list[str]] = {}
    for one in functions:
        others.setdefault(one.address, []).append(one.name)
    return [other for name in wanted for other in others.get(place.get(name, -1), [name])]
