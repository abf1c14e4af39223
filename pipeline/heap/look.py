"""What a reader asked for: one profile, or what grew from one to a later one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.heap.read import MOST_CALLS, Profile, read
from pipeline.heap.stacks import Stack, Sums, without_folders, without_places
from pipeline.heap.symbols import Names, names
from pipeline.heap.text import signed_size
from pipeline.heap.tree import What, by_stack, growth, samples_by_stack
from pipeline.trace.words import size

_CUT = f"they begin in mid-program, as {MOST_CALLS} calls are kept"


@dataclass(frozen=True)
class Named:
    """A profile, and the functions of its addresses."""

    profile: Profile
    names: Names


@dataclass(frozen=True)
class Look:
    """A profile, the bytes of each stack in it or by how much they grew, and by which samples."""

    profile: Profile
    whole: dict[Stack, float]
    samples: str
    moved: str = ""

    @cached_property
    def sums(self) -> dict[Stack, float]:
        """Return the bytes as readers see them; ``whole`` has the folders of the sources, too."""
        return without_folders(self.whole)

    def facts(self) -> list[tuple[str, str]]:
        """Return what is known of the profile, and the sum of what is shown."""
        lost, cut = self.profile.lost, self.profile.cut_samples
        return [
            ("bytes, estimated", signed_size(sum(self.sums.values()))),
            *([("the growth has", self.moved)] if self.moved else []),
            ("samples", self.samples),
            *_precision(self.profile.rate, lost),
            *([("samples lost", f"{lost:,}: there was no room for them")] if lost else []),
            *([("stacks cut", f"{cut:,}: {_CUT}")] if cut else []),
        ]


def _precision(rate: int, lost: int) -> list[tuple[str, str]]:
    """Return how far a row may be off: by the root of its samples, which come by chance.

    At a rate of one byte hardly a block is passed over, unless the tables are full.
    """
    if rate == 1 and lost:
        return [("one sample", "for nearly each block"), ("error of a row", "unknown: see below")]
    if rate == 1:
        return [("one sample", "for nearly each block"), ("error of a row", "almost none")]
    at = f"10 % at {size(100 * rate)}, 30 % at {size(11 * rate)}"
    return [
        ("one sample", f"in {rate:,} bytes, on average"),
        ("error of a row", f"about 1 / sqrt(samples): {at}"),
    ]


def named(file: Path) -> Named:
    """Read a profile and name its addresses: tools are asked here, and nowhere else."""
    profile = read(file)
    return Named(profile, names(profile))


def look(first: Named, later: Named | None, what: What) -> Look:
    """Return the later profile with what grew, or the only one."""
    sums, counts = _sums(first, what)
    if later is None:
        return Look(first.profile, sums, _all(first.profile))
    more, more_counts = _sums(later, what)
    samples = f"{_all(later.profile)}, in the later file"
    return Look(later.profile, growth(sums, more), samples, _moved(growth(counts, more_counts)))


def _sums(of: Named, what: What) -> tuple[dict[Stack, float], dict[Stack, float]]:
    counts = without_places(samples_by_stack(of.profile, of.names, what))
    return by_stack(of.profile, of.names, what), counts


def _all(profile: Profile) -> str:
    return f"{profile.live_samples:,} live, of {profile.samples:,} since the start"


def _moved(grown: Sums) -> str:
    """Return the samples that a growth stands on, by the calls that have more or fewer of them."""
    came = round(sum(count for count in grown.values() if count > 0))
    went = round(-sum(count for count in grown.values() if count < 0))
    return f"{came + went:,} samples: {came:,} more, {went:,} fewer"
