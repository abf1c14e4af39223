"""Which pairs run, in which order: interleaved, balanced, each at another stack placement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from pipeline.core.places import PLACES
from pipeline.judge.request import Side

MAX_PADDING = 4096
"""Bytes of environment that vary: one page, so every alignment of the stack comes up.

Mytkowicz et al. 2009 (Producing Wrong Data Without Doing Anything Obviously Wrong): the size of
the environment alone moved run times by several per cent.
"""

BLOCK = 2
"""Pairs that belong together, in the order A B B A."""

MOST_PAIRS = 20_000
"""Of one workload: at a noise of 10 % the median then is known to 0.1 %, and the file of results is
as long as it may be."""


@dataclass(frozen=True)
class PlannedPair:
    """One pair to run: who goes first, and how many bytes the environment is padded by.

    ``place`` says where the program's code lies, in turn from a random one on.
    """

    round: int
    workload: str
    first: Side
    padding: int
    place: int = 0

    @property
    def order(self) -> tuple[Side, Side]:
        """Return both sides in the order in which they run."""
        return ("baseline", "tuned") if self.first == "baseline" else ("tuned", "baseline")


Block = tuple[PlannedPair, PlannedPair]


def plan(wanted: Mapping[str, range], seed: int) -> Iterator[Block]:
    """Yield the pairs of each workload in blocks of two, A B B A.

    Drift of the machine falls on both sides of a block alike. The blocks of a workload are spread
    evenly over the whole, so that slow drift falls on all workloads alike. The ranges of numbers
    begin and end with an even one.
    """
    places = [
        ((number - numbers.start + 1) / len(numbers), name, number)
        for name, numbers in wanted.items()
        for number in numbers[::BLOCK]
    ]
    for _, name, number in sorted(places, key=lambda place: place[0]):
        starts_tuned = _dice(seed, name, f"start {number}") % 2
        yield (
            _pair(seed, name, number, "tuned" if starts_tuned else "baseline"),
            _pair(seed, name, number + 1, "baseline" if starts_tuned else "tuned"),
        )


def _pair(seed: int, workload: str, number: int, first: Side) -> PlannedPair:
    padding = _dice(seed, workload, str(number)) % MAX_PADDING
    place = (_dice(seed, workload, "place") + number) % PLACES
    return PlannedPair(round=number, workload=workload, first=first, padding=padding, place=place)


def _dice(seed: int, *words: str) -> int:
    """Return a number that is the same on every machine for the same seed and words."""
    text = "\0".join([str(seed), *words])
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


@dataclass(frozen=True)
class Effort:
    """What a workload has cost and told so far.

    ``pairs`` were run, at ``seconds`` each; ``blur`` is its weight times the noise of one pair.
    """

    pairs: int
    seconds: float
    blur: float

    def wanted(self, level: float) -> int:
        """Return the even number of pairs, not below those there are, at a level of effort."""
        ideal = min(MOST_PAIRS, level * self.blur / math.sqrt(self.seconds))
        return max(self.pairs, BLOCK * round(ideal / BLOCK))


def allot(efforts: Mapping[str, Effort], seconds: float) -> dict[str, int]:
    """Return how many pairs each workload should have, when ``seconds`` more may be spent.

    The overall ratio becomes as sharp as it can for the money when pairs are in proportion to
    the blur and to one by the root of the cost (Neyman's allocation).
    """
    low, high = 0.0, 1.0
    while high < 1e12 and _price(efforts, high) <= seconds:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _price(efforts, middle) <= seconds else (low, middle)
    return {name: effort.wanted(low) for name, effort in efforts.items()}


def _price(efforts: Mapping[str, Effort], level: float) -> float:
    return sum((one.wanted(level) - one.pairs) * one.seconds for one in efforts.values())
