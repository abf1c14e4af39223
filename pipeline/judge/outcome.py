"""What is shown of a quantity, as a value and as a word: better, alike, worse, or undecided."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from pipeline.judge.keys import LEANER, compare, holds, judge_memory, shown
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
    """Tell whether a change that is shown, but not by the margin, is a rise; None for none."""
    if key.verdict is not Verdict.INCONCLUSIVE or key.ratio is None or is_noise(key):
        return None
    if 1 < key.ratio.low <= 1 + key.margin:
        return True
    return False if 1 - key.margin <= key.ratio.high < 1 else None


def is_noise(key: Key) -> bool:
    """Tell whether nothing is decided, by an interval that is too wide to say anything."""
    if key.verdict is not Verdict.INCONCLUSIVE or key.ratio is None:
        return False
    return is_wide(key.ratio, NOISY)


def loses_in_one(key: Key) -> bool:
    """Tell whether a NO-GO is that of a single workload: then the reason has its figures."""
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
    """Return in a word or two what is shown of one workload's speed."""
    return _word(how_fast(workload, result), _SPEED, result.keys.throughput.margin)


def memory_of(workload: WorkloadThroughput, result: VerifyResult) -> str | None:
    """Return in a word or two what is shown of one workload's peak memory; None if unknown."""
    outcome, key = how_lean(workload, result), result.keys.memory
    return None if outcome is None else _word(outcome, _MEMORY, key.margin if key else LEANER)


def _word(outcome: Outcome, words: Mapping[Outcome, str], margin: float) -> str:
    if outcome in _FULL:
        return f"{words[_FULL[outcome]]}, {_less(margin)}"
    return words.get(outcome, UNDECIDED)


def _less(margin: float) -> str:
    return f"perhaps by less than {margin * 100:g} %"


def by_less(key: Key, above: str, below: str) -> str | None:
    """Return the word of a change that is shown, but not by the margin; None where there is none.

    ``above`` is the word for a whole interval above 1, ``below`` for one below.
    """
    rises = _rises_a_little(key)
    return None if rises is None else f"{above if rises else below}, {_less(key.margin)}"


def speed_word(key: Key) -> str:
    """Return what is shown of the speed: "faster", or "slower, perhaps by less than 1 %"."""
    outcome = speed_outcome(key)
    if outcome is Outcome.NOISE:
        return TOO_NOISY
    if outcome is Outcome.UNDECIDED:
        return "not shown to be faster or slower"
    return _word(outcome, _SPEED, key.margin)


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
    return _word(outcome, words, key.margin)
