"""What libraries cost, kept by their bytes: a search that goes on counts none of them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.files import replacing
from pipeline.judge.counting.told import Told, mean
from pipeline.judge.counting.whole import WholeCounter
from pipeline.judge.tasks import Task
from pipeline.layout.search import Cost


class Known:
    """Costs that were counted, by a key, in a file that is written after each of them."""

    def __init__(self, path: Path) -> None:
        """Read what an earlier search has left; a file that cannot be read is as good as none."""
        self._path = path
        try:
            self._costs = {key: Cost(**cost) for key, cost in json.loads(path.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self._costs = {}

    def get(self, key: str) -> Cost | None:
        """Return the cost that is known; None if none is."""
        return self._costs.get(key)

    def note(self, costs: Mapping[str, Cost]) -> None:
        """Keep these, too."""
        self._costs |= costs
        text = json.dumps({key: asdict(cost) for key, cost in self._costs.items()}, indent=0)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self._path) as fresh:
            fresh.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Counted:
    """Counts libraries that are not known yet. ``parts`` are what else decides about counts."""

    counter: WholeCounter
    tasks: Sequence[Task]
    known: Known
    parts: Mapping[str, object]

    def __call__(self, libraries: Mapping[str, Path]) -> dict[str, Cost | str]:
        """Return the cost of each library by its name; a sentence where it cannot be counted."""
        keys = {name: self._key(path) for name, path in libraries.items()}
        fresh = {key: libraries[name] for name, key in keys.items() if self.known.get(key) is None}
        counted = self._count(fresh) if fresh else {}
        self.known.note({key: cost for key, cost in counted.items() if isinstance(cost, Cost)})
        return {name: self.known.get(key) or counted[key] for name, key in keys.items()}

    def _count(self, libraries: Mapping[str, Path]) -> dict[str, Cost | str]:
        """Count all at once; one by one where a program fails with any of them."""
        names = {key: f"{number}" for number, key in enumerate(libraries)}
        found = self.counter.count({names[k]: path for k, path in libraries.items()}, self.tasks)
        if len(libraries) > 1 and any(one.problem for one in found):
            return {k: self._count({k: path})[k] for k, path in libraries.items()}
        return {key: cost_of(found, name) for key, name in names.items()}

    def _key(self, library: Path) -> str:
        return digest_value({**self.parts, "library": digest_file(library)})


def cost_of(told: Sequence[Told], name: str) -> Cost | str:
    """Return the cost of one library over all tasks, or the first reason that it has none."""
    problems = [f"{one.task.name}: {one.problem}" for one in told if one.problem]
    misses, pages, lines = (mean(told, name, field) for field in ("i1_misses", "pages", "lines"))
    if problems or misses is None or pages is None or lines is None:
        return problems[0] if problems else "a program that was counted never ran the library"
    programs = {one.task.name: int(one.counts[name].i1_misses) for one in told}
    return Cost(misses, pages, lines, programs)
