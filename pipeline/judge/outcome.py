"""What is shown of a quantity, as a value and as a word: better, alike, worse, or undecided."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from pipeline.judge.keys import brief_figure, compare, holds, shown
from pipeline.judge.memory_key import judge_memory
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.samples import WorkloadThroughput
from pipeline.judge.statistics import Interval, is_wide
from pipeline.judge.verdict import Verdict

NOISY = 0.25
"""An interval that reaches further than this to each side of its middle is called noise."""


class Outcome(Enum):
    """What is shown. A little: the whole interval lies on one side, but not beyond the margin."""

    BETTER = auto()
    LITTLE_BETTER = auto()
    ALIKE = auto()
    LITTLE_WORSE = auto()
    WORSE = auto()
    UNDECIDED = auto()
    NOISE = auto()


OPEN = (Outcome.UNDECIDED, Outcome.NOISE)
_OF_VERDICT = {
    Verdict.GO: Outcome.BETTER,
    Verdict.NEUTRAL: Outcome.ALIKE,
    Verdict.NO_GO: Outcome.WORSE,
    Verdict.INCONCLUSIVE: Outcome.UNDECIDED,
}
_SPEED = {Outcome.BETTER: "faster", Outcome.ALIKE: "as fast", Outcome.WORSE: "slower"}
_MEMORY = {Outcome.BETTER: "leaner", Outcome.ALIKE: "as lean", Outcome.WORSE: "fatter"}
_FULL = {Outcome.LITTLE_BETTER: Outcome.BETTER, Outcome.LITTLE_WORSE: Outcome.WORSE}
UNDECIDED = "undecided"
TOO_NOISY = "too noisy to tell"


def speed_outcome(key: Key) -> Outcome:
    """Return what is shown of the speed."""
    return _outcome(key, more_is_better=True)


def memory_outcome(key: Key) -> Outcome:
    """Return what is shown of the memory."""
    return _outcome(key, more_is_better=False)


def _outcome(key: Key, *, more_is_better: bool) -> Outcome:
    if is_noise(key):
        return Outcome.NOISE
    rises = _rises_a_little(key)
    if rises is None:
        return _OF_VERDICT[key.verdict]
    return Outcome.LITTLE_BETTER if rises is more_is_better else Outcome.LITTLE_WORSE


def _rises_a_little(key: Key) -> bool | None:
    """Return whether a change that is shown, but not by the margin, is a rise; None for none.

    Memory is NEUTRAL where it is shown not to rise: so it may have fallen beyond the margin.
    """
    if key.ratio is None or is_noise(key):
        return None
    if key.verdict is Verdict.NEUTRAL:
        return False if key.ratio.low < 1 - key.margin and key.ratio.high < 1 else None
    if key.verdict is not Verdict.INCONCLUSIVE:
        return None
    if 1 < key.ratio.low <= 1 + key.margin:
        return True
    return False if 1 - key.margin <= key.ratio.high < 1 else None


def is_noise(key: Key) -> bool:
    """Return whether nothing is decided, by an interval that is too wide to say anything."""
    if key.verdict is not Verdict.INCONCLUSIVE or key.ratio is None:
        return False
    return is_wide(key.ratio, NOISY)


def loses_in_one(key: Key) -> bool:
    """Return whether a NO-GO is that of a single workload: then the reason has its figures."""
    return (
        key.verdict is Verdict.NO_GO and key.ratio is not None and key.ratio.high >= 1 - key.margin
    )


def part_of(key: Key, ratio: Interval) -> Key:
    """Return the key as if one interval alone decided it."""
    return key.model_copy(update={"verdict": compare(ratio, key.margin), "ratio": ratio})


def how_fast(workload: WorkloadThroughput, result: VerifyResult) -> Outcome:
    """Return what is shown of one workload's speed: of the same interval, as the headline says."""
    ratio = shown(workload, result.throughput)
    if not (result.throughput.alone or holds(ratio, result.throughput)):
        return Outcome.UNDECIDED
    return speed_outcome(part_of(result.keys.throughput, ratio))


def how_lean(workload: WorkloadThroughput, result: VerifyResult) -> Outcome | None:
    """Return what is shown of one workload's peak memory; None if unknown.

    Of a workload that is all that was timed the key says it.
    """
    ratio, key = workload.rss, result.keys.memory
    if result.throughput.alone and key is not None:
        return memory_outcome(key)
    return None if ratio is None else _OF_VERDICT[judge_memory(ratio)]


def speed_of(workload: WorkloadThroughput, result: VerifyResult) -> str:
    """Return what is shown of one workload's speed: "faster", or "faster (by 0.5 to 1.6 %)"."""
    outcome = how_fast(workload, result)
    return f"{_word(outcome, _SPEED)}{_ends(outcome, shown(workload, result.throughput))}"


def memory_of(workload: WorkloadThroughput, result: VerifyResult) -> str | None:
    """Return what is shown of one workload's peak memory in the same way; None if unknown."""
    outcome, key = how_lean(workload, result), result.keys.memory
    if outcome is None:
        return None
    told = key.ratio if result.throughput.alone and key is not None else workload.rss
    return f"{_word(outcome, _MEMORY)}{_ends(outcome, told)}"


def short_speed_of(workload: WorkloadThroughput, result: VerifyResult) -> str:
    """Return the word alone, to stand beside the interval."""
    return _word(how_fast(workload, result), _SPEED)


def short_memory_of(workload: WorkloadThroughput, result: VerifyResult) -> str | None:
    """Return the word alone, to stand beside the interval; None if unknown."""
    outcome = how_lean(workload, result)
    return None if outcome is None else _word(outcome, _MEMORY)


def _word(outcome: Outcome, words: Mapping[Outcome, str]) -> str:
    return words.get(_FULL.get(outcome, outcome), UNDECIDED)


def _ends(outcome: Outcome, ratio: Interval | None) -> str:
    """Return the ends of a change that is shown, but not by the margin; "" of any other."""
    return f" ({by(ratio)})" if outcome in _FULL and ratio is not None else ""


def by(ratio: Interval) -> str:
    """Return by how much a change is one, from its smaller to its larger end."""
    ends = sorted(abs(end - 1) * 100 for end in (ratio.low, ratio.high))
    least, most = (f"{end:.1f}" for end in ends)
    return f"by up to {most} %" if least == "0.0" else f"by {least} to {most} %"


def by_less(key: Key, above: str, below: str) -> str | None:
    """Return the words of a change that is shown, but not by the margin; None where there is none.

    ``above`` is the word for a whole interval above 1, ``below`` for one below.
    """
    rises = _rises_a_little(key)
    if rises is None or key.ratio is None:
        return None
    return f"{above if rises else below} ({by(key.ratio)})"


def speed_word(key: Key) -> str:
    """Return what is shown of the speed, to stand beside its interval."""
    outcome = speed_outcome(key)
    if outcome is Outcome.NOISE:
        return TOO_NOISY
    if outcome is Outcome.UNDECIDED:
        return "not shown to be faster or slower"
    return _word(outcome, _SPEED)


def in_brief(key: Key, ratio: Interval) -> str:
    """Return a change in brief: of one that is shown, but not by the margin, by how much it is."""
    return brief_figure(ratio, key.margin) if _rises_a_little(key) is None else by(ratio)


def memory_word(key: Key, other: str = "") -> str:
    """Return what is shown of the memory, in the same way; than that of ``other``, if given."""
    than, outcome = f" than {other}" if other else "", memory_outcome(key)
    if outcome is Outcome.NOISE:
        return f"memory {TOO_NOISY}"
    if outcome is Outcome.UNDECIDED:
        return f"not shown to be leaner or fatter{than}"
    if outcome is Outcome.ALIKE:
        return f"as lean as {other}" if other else "as lean"
    words = {one: f"{word}{than}" for one, word in _MEMORY.items()}
    return _word(outcome, words)
