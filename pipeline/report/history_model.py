"""The history of a profile: a point for each version, and what ties it to the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from pipeline.judge.samples import Record

SAME, OTHER, UNSURE = "=", "≠", "?"
SIGNS = {SAME: "same library", OTHER: "other workloads", UNSURE: "workloads unknown"}
"""Signs of a version that does not continue the one before it, and why."""
_JUDGED_BY = {"text_bytes": (), "misses": ("counted", "files")}
"""What a quantity depends on beside the library; others on the timed workloads and recordings."""


class Point(Record):
    """One version as it was judged. None is unknown.

    ``mark`` says in words that it was rolled back or ``rejected``, ``damaged`` that its files are
    not as they were published, ``removed`` that it was published once.
    ``gain`` is its throughput over the baseline as a ratio, with the ends of its interval.
    ``baseline`` is the digest of that baseline: gains over two baselines cannot be compared.
    ``misses`` are what ``misses_of`` says: of the library, by the I-cache key of that time.
    Instructions are per operation, memory is the peak in MiB, text in bytes.

    ``workloads`` are the names of those that it was timed by, ``recordings`` those that it played,
    and ``counted`` the programs whose misses were counted; ``files`` has a digest of each of these.
    ``dropped`` and ``added`` say how the first differ from those of the version before it,
    ``uncounted`` and ``newly_counted`` the programs; ``replaced`` are programs with other files.
    ``same_library`` tells that its library has the same bytes as that of the version before it.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    version: str
    created: str
    published: bool
    current: bool
    mark: str | None = None
    rejected: bool = False
    damaged: bool = False
    removed: bool = False
    mode: str | None
    processor: str | None
    baseline: str | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    misses: float | None
    misses_of: str | None
    instructions: float | None
    memory_mib: float | None
    text_bytes: Annotated[int, Field(ge=0, lt=1 << 63)] | None
    library: str | None = None
    same_library: bool = False
    workloads: tuple[str, ...] | None = None
    recordings: tuple[str, ...] | None = None
    counted: tuple[str, ...] | None = None
    files: tuple[str, ...] | None = None
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    newly_counted: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    recorded_anew: bool = False


class History(Record):
    """All versions of a profile of which there is a report, oldest first."""

    schema_version: Literal[1] = 1
    profile: str
    points: tuple[Point, ...]
    unreadable: tuple[str, ...]

    def series(self, field: str) -> list[float | None]:
        """Return a quantity of each version; None also where it was measured in another way.

        The newest version says how misses are measured.
        """
        kind = self.points[-1].misses_of if self.points else None
        return [
            None if field == "misses" and point.misses_of != kind else getattr(point, field)
            for point in self.points
        ]

    def breaks(self, field: str) -> list[str]:
        """Return for each version why no line leads to it from the one before; "" where one does.

        The size of the code has nothing to do with the workloads.
        """
        return [
            _sign(before, after, _JUDGED_BY.get(field, ("workloads", "recordings")))
            for before, after in pairwise((None, *self.points))
            if after is not None
        ]


def _sign(before: Point | None, after: Point, judged_by: tuple[str, ...]) -> str:
    if before is None:
        return ""
    both = [(getattr(before, name), getattr(after, name)) for name in judged_by]
    apart = [one for one in both if one[0] != one[1]]
    if apart:
        return UNSURE if any(None in one for one in apart) else OTHER
    return SAME if after.same_library else ""


@dataclass(frozen=True)
class Quantity:
    """A quantity of the history: its field, its heading, its unit, and which way is better."""

    field: str
    heading: str
    unit: str
    more_is_better: bool = False


QUANTITIES = (
    Quantity("gain", "throughput against the baseline", "ratio", more_is_better=True),
    Quantity("misses", "I-cache misses of the library", ""),
    Quantity("instructions", "instructions per operation", ""),
    Quantity("memory_mib", "peak memory", "MiB"),
    Quantity("text_bytes", "text size", "bytes"),
)
