"""What a reader asked for: one profile, or what grew from one to a later one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.heap.read import Profile, read
from pipeline.heap.stacks import Stack, Sums, without_places
from pipeline.heap.symbols import names
from pipeline.heap.text import signed_size
from pipeline.heap.tree import What, by_stack, growth, samples_by_stack


@dataclass(frozen=True)
class Look:
    """A profile, the bytes of each stack in it or by how much they grew, and by which samples."""

    profile: Profile
    sums: dict[Stack, float]
    samples: str

    def facts(self) -> list[tuple[str, str]]:
        """Return what is known of the profile, and the sum of what is shown."""
        lost = self.profile.lost
        return [
            ("bytes, estimated", signed_size(sum(self.sums.values()))),
            ("samples", self.samples),
            ("one sample", f"in {self.profile.rate:,} bytes, in the mean"),
            *([("samples lost", f"{lost:,}: there was no room for them")] if lost else []),
        ]


def look(file: Path, later: Path | None, what: What) -> Look:
    """Return the later profile with what grew, or the only one."""
    first, sums, counts = _read(file, what)
    if later is None:
        return Look(first, sums, _all(first))
    last, more, more_counts = _read(later, what)
    samples = f"{_moved(growth(counts, more_counts))}; the later file has {_all(last)}"
    return Look(last, growth(sums, more), samples)


def _read(file: Path, what: What) -> tuple[Profile, dict[Stack, float], dict[Stack, float]]:
    profile = read(file)
    known = names(profile)
    counts = without_places(samples_by_stack(profile, known, what))
    return profile, by_stack(profile, known, what), counts


def _all(profile: Profile) -> str:
    return f"{profile.live_samples:,} live, of {profile.samples:,} since the start"


def _moved(grown: Sums) -> str:
    """Return the samples that a growth stands on, by the calls that have more or fewer of them."""
    came = round(sum(count for count in grown.values() if count > 0))
    went = round(-sum(count for count in grown.values() if count < 0))
    return f"the growth stands on {came + went:,}: {came:,} more, {went:,} fewer"
