"""In which order pairs run: interleaved, balanced, and each pair at another stack placement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from pipeline.judge.model import Side

MAX_PADDING = 4096
"""Bytes of environment that vary: one page, so every alignment of the stack comes up.

Mytkowicz et al. 2009 (Producing Wrong Data Without Doing Anything Obviously Wrong): the size of
the environment alone moved run times by several per cent.
"""


@dataclass(frozen=True)
class PlannedPair:
    """One pair to run: who goes first, and how many bytes the environment is padded by."""

    round: int
    workload: str
    first: Side
    padding: int

    @property
    def order(self) -> tuple[Side, Side]:
        """Return both sides in the order in which they run."""
        return ("baseline", "tuned") if self.first == "baseline" else ("tuned", "baseline")


def plan(workloads: Sequence[str], rounds: range, seed: int) -> Iterator[PlannedPair]:
    """Yield every pair of ``rounds``.

    All workloads come once per round, so that slow drift of the machine falls on all alike; per
    workload the order is A B B A, so that it falls on both sides alike.
    """
    for number in rounds:
        for workload in workloads:
            starts_tuned = _dice(seed, workload, "start") % 2
            first: Side = "tuned" if (number + starts_tuned) % 2 else "baseline"
            yield PlannedPair(
                round=number,
                workload=workload,
                first=first,
                padding=_dice(seed, workload, str(number)) % MAX_PADDING,
            )


def _dice(seed: int, *words: str) -> int:
    """Return a number that is the same on every machine for the same seed and words."""
    text = "\0".join([str(seed), *words])
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")
