"""How much longer a judgement would have to go on, and what else may decide it.

One question has one number: it stands here alone.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from typing import TYPE_CHECKING

from pipeline.judge.gained import fewer_misses
from pipeline.judge.known import SelfJudgement
from pipeline.judge.selfcheck import LOSS
from pipeline.judge.statistics import half_width
from pipeline.judge.verdict import Verdict

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult
    from pipeline.judge.samples import Throughput

SURPLUS = 1.5
"""What comes may be noisier than what was seen."""

MOST_S = 3600.0
"""If it would take longer, the advice is that the machine is the trouble."""

UNKNOWN = 4.0
"""Times as long, where nothing tells how much longer: half the width of all intervals."""

USUAL_S = 50.0
"""About as long as a build without --quick times its runs: usually 60 s, or a little less."""

LITTLE_S = 120.0
"""A quick build that needs no more is judged again for so long: a full one takes longer."""


class Cure(Enum):
    """What may decide a build that is undecided."""

    A_LITTLE = auto()  # more time for a quick build
    FULL = auto()
    LONGER = auto()
    QUIET = auto()  # a quiet machine: it is too noisy for any time that people would wait
    NONE = auto()  # the change lies on a border


def cure(result: VerifyResult) -> Cure:
    """Return what may decide: a full run, unless a quick one had as much time, or needs little."""
    if result.mode == "quick" and result.throughput.seconds < USUAL_S:
        known = seconds_known(result)
        little = known is not None and SURPLUS * known <= LITTLE_S
        return Cure.A_LITTLE if little else Cure.FULL
    if _on_border(result):
        return Cure.NONE
    return Cure.QUIET if SURPLUS * max(seconds_apart(result)) > MOST_S else Cure.LONGER


def _on_border(result: VerifyResult) -> bool:
    """Return whether throughput is undecided because the change is as large as the margin."""
    undecided = result.keys.throughput.verdict is Verdict.INCONCLUSIVE
    return undecided and _seconds_in_all(result) is None


def unseen(result: VerifyResult) -> bool:
    """Return whether the judge missed a change that it is known to have been given."""
    return any(not one.passed for one in result.self_judgements)


def seconds_apart(result: VerifyResult) -> tuple[float, float]:
    """Return how long the build would have to be timed, and how long the judge's own check."""
    seen = _until_seen(result)
    return 0.0 if seen and _is_harmless(result) else _seconds_needed(result), seen


def minutes_beside(result: VerifyResult) -> int:
    """Return how long a judgement takes beside its timed runs, each as long as it took."""
    check = result.self_check
    timed = [check.same_build.throughput, check.slowdown.throughput] if check else []
    spent = sum(one.seconds for one in (result.throughput, *timed))
    return math.ceil(max(0.0, result.seconds - spent) / 60)


def _is_harmless(result: VerifyResult) -> bool:
    """Return whether the build itself is decided: a gain in misses, and no loss of throughput."""
    return fewer_misses(result) and result.keys.throughput.not_worse


def _seconds_needed(result: VerifyResult) -> float:
    """Return about how long timed runs would have to go on, from their begin."""
    known = seconds_known(result)
    return UNKNOWN * result.throughput.seconds if known is None else known


def seconds_known(result: VerifyResult) -> float | None:
    """Return the seconds that the noise tells; None: a workload or the self-check is in doubt."""
    needed = _seconds_in_all(result)
    return None if needed is None or needed <= result.throughput.seconds else needed


def _seconds_in_all(result: VerifyResult) -> float | None:
    """Return about how long the interval would take to decide; None: it lies on a border."""
    if fewer_misses(result):
        return _until_harmless(result)
    return result.throughput.seconds_to_decide


def _until_seen(result: VerifyResult) -> float:
    """Return the seconds until the judge would see the loss that it missed; 0 if it did see it."""
    known = [one for one in result.self_judgements if isinstance(one, SelfJudgement)]
    missed = [one.throughput for one in known if not one.passed]
    gap = math.log1p(-result.margins.throughput) + math.log1p(LOSS)
    return max((_seconds_to(one, gap) for one in missed), default=0.0)


def _seconds_to(throughput: Throughput, gap: float) -> float:
    """Return how long until half the interval is ``gap``; it narrows with the root of time."""
    half = half_width(throughput.overall)
    return throughput.seconds * max(1.0, (half / gap) ** 2)


def _until_harmless(result: VerifyResult) -> float | None:
    """Return the seconds until a loss is excluded: with an I-cache key of GO that is enough."""
    throughput = result.throughput
    overall = throughput.overall
    gap = math.log(overall.value) - math.log1p(-result.margins.throughput)
    if gap <= 0:
        return throughput.seconds_to_decide
    return _seconds_to(throughput, gap)
