"""What a search for a geometry tries, on what ground, and how far each candidate came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.core.processor import ANY
from pipeline.judge.keys import percent
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.tune.measure import File, Job
from pipeline.tune.standing import Standing


@dataclass(frozen=True)
class Candidate:
    """A library to measure. ``moves`` are the names of the changes it is made of."""

    moves: tuple[str, ...]
    library: File

    @property
    def name(self) -> str:
        """Return a name for people."""
        return " + ".join(self.moves)


@dataclass(frozen=True)
class Ground:
    """What all candidates of a search share.

    ``block`` says how many pairs of each workload make a block (even numbers), ``block_s`` about
    how many seconds that takes. ``processor`` is the kind that the search is for.
    """

    default: File
    benches: tuple[BenchCommand, ...]
    block: Mapping[str, int]
    block_s: float
    request: JudgeRequest
    context: str
    processor: str = ANY

    def job(self, candidate: Candidate, number: int, seed: int) -> Job:
        """Return block ``number`` of a candidate, from 0."""
        return Job(
            name=candidate.name,
            default=self.default,
            candidate=candidate.library,
            benches=self.benches,
            pairs={name: (number * n, (number + 1) * n) for name, n in self.block.items()},
            seed=seed,
            context=self.context,
            processor=self.processor,
        )


@dataclass(frozen=True)
class Trial:
    """How far a candidate came in a race, and how it stood then."""

    candidate: Candidate
    blocks: int
    standing: Standing


@dataclass(frozen=True)
class Confirmation:
    """How a candidate stands by fresh runs: all of them, each half, and the default in its place.

    ``repeat`` is the default against itself, by as many runs as ``trial``.
    """

    trial: Trial
    halves: tuple[Standing, ...]
    repeat: Standing

    @property
    def candidate(self) -> Candidate:
        """Return what was confirmed, or not."""
        return self.trial.candidate

    @property
    def standing(self) -> Standing:
        """Return how it stands by all fresh runs."""
        return self.trial.standing

    @property
    def against(self) -> str:
        """Return what speaks against the choice; empty where it holds."""
        if not self.standing.wins:
            now = self.standing
            return f"by fresh runs it is {now.words}" + (now.risk if now.better else "")
        found = [self._doubt(key) for key in self.standing.gains]
        return "" if "" in found else "; ".join(found)

    @property
    def holds(self) -> bool:
        """Return whether it pays in a key by more than a repeat differs, in both halves."""
        return not self.against

    def _doubt(self, name: str) -> str:
        """Return why a gain in the key ``name`` is none; empty where it is one."""
        gain, same = self.standing.keys[name].value, self.repeat.keys[name]
        noise = max(same.high, 1 / same.low)
        if gain <= noise:
            return (
                f"its gain in {name}, {percent(gain)}, is no more than the default's over itself, "
                f"up to {percent(noise)}"
            )
        if any(half.keys[name].value <= 1 for half in self.halves):
            return f"its gain in {name} is in one half of the fresh runs alone"
        return ""
