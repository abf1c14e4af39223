"""Which build of the chain is judged and published: the simplest that is not worse than the best.

The rule, also in docs/ablation.md. A build must be shown to be not worse on both keys:

* few misses: its I1 misses are known and exceed the fewest of all by the margin at most;
* fast: the lower end of its throughput, against the full build's in paired runs, lies above
  1 - margin times the best of all. Too little seen is not the same as not worse.

Of those the simplest is taken. The baseline takes no part: it is what all are compared with. Where
none is left, it is the full build, the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.statistics import Interval

FEW_MISSES = 0.02
"""By how much a build may exceed the fewest misses. Counts without conflicts of sets repeat within
0.1 % in the tasks of the training, and code that only moves changes them by no more: so what is
beyond is the build's own (docs/experiments.md)."""


@dataclass(frozen=True)
class Standing:
    """What is known of a build. ``misses`` are I1 misses of a task, None if unknown.

    ``speed`` is its throughput as a ratio to the full build's; None where it was not measured.
    """

    name: str
    misses: float | None
    speed: Interval | None


@dataclass(frozen=True)
class Choice:
    """The chosen build, and for each build whether it is shown to be not worse on each key."""

    chosen: str
    few_misses: tuple[bool, ...]
    fast: tuple[bool, ...]
    reason: str


def choose(chain: Sequence[Standing], icache_margin: float, throughput_margin: float) -> Choice:
    """Return the choice from ``chain``: the baseline first, the full build last.

    Margins are fractions, above 0 and below 1. Raises ValueError for a chain without a full build.
    """
    if len(chain) < 2:
        raise ValueError("a chain needs a baseline and a full build at least")
    few = few_misses([one.misses for one in chain], icache_margin)
    fast = _fast(chain, throughput_margin)
    good = [one.name for one, a, b in zip(chain, few, fast, strict=True) if a and b]
    simplest = next((name for name in good if name != chain[0].name), chain[-1].name)
    return Choice(simplest, few, fast, _reason(chain, simplest, good))


def few_misses(misses: Sequence[float | None], margin: float) -> tuple[bool, ...]:
    """Tell for each build whether its misses exceed the fewest by ``margin`` at most."""
    known = [one for one in misses if one is not None]
    border = min(known, default=0.0) * (1 + margin)
    return tuple(one is not None and one <= border for one in misses)


def _fast(chain: Sequence[Standing], margin: float) -> tuple[bool, ...]:
    """Tell for each build whether it is shown to be not slower than the best.

    The full build is the unit of all speeds. Another one is better than it only where that is
    shown; then it is the one to be compared with.
    """
    shown = [one.speed.value for one in chain[:-1] if one.speed and one.speed.low > 1]
    border = (1 - margin) * max([1.0, *shown])
    others = (one.speed is not None and one.speed.low > border for one in chain[:-1])
    return (*others, border < 1)


def _reason(chain: Sequence[Standing], simplest: str, good: Sequence[str]) -> str:
    full = chain[-1].name
    if not good:
        return f"no build is shown to be the best in speed and in misses; {full} has all steps"
    if simplest == full:
        return f"no simpler build is shown to be as good as {full} in speed and in misses"
    also = " (so is the baseline)" if chain[0].name in good else ""
    return f"{simplest} is the simplest build shown to be not worse than the best{also}"
