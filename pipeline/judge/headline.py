"""The verdict in words that need no manual: faster, leaner, and for which programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from pipeline.judge.icache import uncounted
from pipeline.judge.keys import compare, percent, shown, with_interval
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.outcome import (
    OPEN,
    Outcome,
    how_fast,
    how_lean,
    in_brief,
    memory_word,
    part_of,
    short_memory_of,
    short_speed_of,
    speed_outcome,
    speed_word,
)
from pipeline.judge.request import Kind
from pipeline.judge.samples import WorkloadThroughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

COUNTED = "are counted by simulation and are not time"
ONLY_LOOPS = (
    "No whole program was timed: loops and replays do little but allocate, programs change less."
)
MOST_NAMES = 4
"""Of our own loops: all real programs are named."""


def headline(result: VerifyResult) -> str:
    """Return in one paragraph how fast and lean the tuned build is, and for which programs."""
    return " ".join(sentences(result))


def sentences(result: VerifyResult) -> list[str]:
    """Return the same sentence by sentence.

    Each real program is named: faster, as fast, slower, or undecided. Of our loops those are named
    that are shown to differ. What is shown has its own interval, which holds together with those of
    all other workloads.
    """
    keys = result.keys
    parts = [_speeds(result, partial(_figures, result))]
    if keys.memory is not None:
        parts.append(f"{memory_word(keys.memory)}{_change(keys.memory)}")
    against = f"Against the baseline, the plain build of these same sources: {'; '.join(parts)}."
    return [against, *_programs(result), *_loops(result), *remarks(result)]


def remarks(result: VerifyResult) -> list[str]:
    """Return how far its figures reach: which programs they are of, and what a miss is worth."""
    loops_alone = ONLY_LOOPS if result.throughput.programs is None else ""
    said = (loops_alone, _counted(result), *_uncounted(result), _misses_in_time(result))
    return list(filter(None, said))


def short_remarks(result: VerifyResult) -> list[str]:
    """Return the same for readers who have the figures before them."""
    no_time = "" if _changed_misses(result) is None else f"I-cache misses {COUNTED}."
    return list(filter(None, (_counted(result), *_uncounted(result), no_time)))


def brief(result: VerifyResult) -> str:
    """Return the figures in one short sentence: speed, of what, then memory and misses.

    A change that is not decided has its interval alone: its middle says nothing.
    """
    keys = result.keys
    timed = "" if result.throughput.programs else ", no whole program timed"
    failed = [one.name for one in result.health.failed]
    parts = [f"health check failed: {', '.join(failed)}"] if failed else []
    parts.append(f"{_speeds(result, partial(_brief_figure, keys.throughput))}{timed}")
    if keys.memory is not None:
        change = f" ({in_brief(keys.memory, keys.memory.ratio)})" if keys.memory.ratio else ""
        parts.append(f"{memory_word(keys.memory, 'the plain build')}{change}")
    misses = keys.icache.ratio
    fewer = f"{(misses.value - 1) * 100:+.0f} %" if misses else "unknown"
    return "; ".join([*parts, f"I-cache misses {fewer}"])


def _speeds(result: VerifyResult, figure: Callable[[Interval, Kind], str]) -> str:
    """Return how fast programs are, then how fast loops and replays are: one tells little of both.

    The key also looks at each workload; where one of them changes its verdict, that is said.
    """
    timed, key = result.throughput, result.keys.throughput
    parts: list[tuple[Kind, Interval]] = [("loop", timed.overall)]
    if timed.programs is not None:
        parts = [("program", timed.programs)]
        parts += [("loop", timed.loops)] if timed.loops is not None else []

    def told(kind: Kind, ratio: Interval) -> str:
        word = speed_word(part_of(key, ratio))
        return f"{_subject(result, kind)} {word} ({figure(ratio, kind)})"

    said = ", ".join(told(kind, ratio) for kind, ratio in parts)
    if _is_decided_together(key, timed.overall, [ratio for _, ratio in parts]):
        word = speed_word(part_of(key, timed.overall))
        said = f"{word} ({figure(timed.overall, 'loop')}) {_together(result, parts, figure, said)}"
    if key.verdict is compare(timed.overall, key.margin):
        return said
    loses = "loses" if key.verdict is Verdict.NO_GO else "seems to lose"
    return f"{said}, but a workload {loses} too much"


def _is_decided_together(key: Key, overall: Interval, ratios: Sequence[Interval]) -> bool:
    """Return whether all workloads show what neither programs nor loops show by themselves."""
    parts = [part_of(key, ratio) for ratio in ratios]
    found = speed_outcome(part_of(key, overall))
    apart = all(part.verdict is Verdict.INCONCLUSIVE for part in parts)
    return apart and found not in (*OPEN, *map(speed_outcome, parts))


def _together(
    result: VerifyResult,
    parts: Sequence[tuple[Kind, Interval]],
    figure: Callable[[Interval, Kind], str],
    said: str,
) -> str:
    """Return over what all is decided, and why no part is: ``said`` where one shows a little."""
    many = len(result.throughput.workloads)
    both = many == len(parts)
    whole = f"over {'both' if both else f'all {many}'} workloads together"
    key = result.keys.throughput
    if any(speed_outcome(part_of(key, ratio)) not in OPEN for _, ratio in parts):
        return f"{whole}: {said}"
    each = "each" if both else "each kind"
    alone = [f"{_subject(result, kind)} ({figure(ratio, kind)})" for kind, ratio in parts]
    return f"{whole}, but {each} alone has too few runs to show it: {', '.join(alone)}"


def _subject(result: VerifyResult, kind: Kind) -> str:
    """Return what a figure of speed is about; a single program has its name."""
    if kind == "loop":
        return "loops and replays"
    names = [one.name for one in result.throughput.workloads if one.kind == kind]
    return f"program {names[0]}" if len(names) == 1 else "programs"


def _figures(result: VerifyResult, ratio: Interval, kind: Kind) -> str:
    """Return a change with its interval; of programs by both clocks, where both are measured."""
    said = with_interval(ratio)
    return f"{said}{_by_wall(result)}" if kind == "program" else said


def _brief_figure(key: Key, ratio: Interval, _: Kind) -> str:
    return in_brief(part_of(key, ratio), ratio)


def _counted(result: VerifyResult) -> str:
    """Return which programs misses were counted in, where the profile verifies none of them."""
    counted = [one for one in result.programs if one.status == "counted"]
    if not counted or any(one.own is not False for one in counted):
        return ""
    names = ", ".join(one.name for one in counted)
    return f"Misses were counted in {names}: no verify command of this profile runs any of these."


def _uncounted(result: VerifyResult) -> list[str]:
    """Return which programs the I-cache key had to leave out; where it has none, it says so."""
    if result.keys.icache.ratio is None:
        return []
    left_out = uncounted(result.programs).items()
    return [f"Misses were not counted in {name}: {why.rstrip('.')}." for name, why in left_out]


def _changed_misses(result: VerifyResult) -> Interval | None:
    """Return the ratio of the misses; None where nobody counted them, or they are as many."""
    misses = result.keys.icache
    return None if misses.verdict is Verdict.NEUTRAL else misses.ratio


def _misses_in_time(result: VerifyResult) -> str:
    """Return what is known of the worth of a change of misses: a count of misses is no time."""
    misses, speed = _changed_misses(result), result.throughput.programs
    if misses is None:
        return ""
    counted = f"I-cache misses ({percent(misses.value)}) {COUNTED}"
    if speed is None:
        return f"{counted}; what they are worth in time was not measured in this build."
    return (
        f"{counted}; in this build the speed of {_subject(result, 'program')} changed by "
        f"{with_interval(speed)}, by all causes together."
    )


def unclear_alone(result: VerifyResult) -> int:
    """Return of how many workloads nothing is shown of their speed."""
    return sum(how_fast(one, result) in OPEN for one in result.throughput.workloads)


def _change(key: Key) -> str:
    return f" ({with_interval(key.ratio)})" if key.ratio else ""


def _programs(result: VerifyResult) -> list[str]:
    """Return what is shown of each real program, and of its memory.

    A single one has been named already: as the mean of all programs, or as the single workload.
    """
    if result.throughput.programs is None or result.throughput.alone:
        return []
    found = [one for one in result.throughput.workloads if one.kind == "program"]
    told = _grouped(_speed_told(one, result) for one in found)
    several = len(found) > 1
    sentences = [f"Programs one by one (wider intervals, which hold together): {told}."] * several
    memory = list(_memory_told(found, result))
    alike = sum(how_lean(one, result) is Outcome.ALIKE for one in found)
    if alike and several:
        memory.append(("as lean", f"{alike} of {len(found)}"))
    return [*sentences, f"Memory of these programs: {_grouped(memory)}."] if memory else sentences


def _speed_told(workload: WorkloadThroughput, result: VerifyResult) -> tuple[str, str]:
    ratio = shown(workload, result.throughput)
    return short_speed_of(workload, result), _told(how_fast(workload, result), workload, ratio)


def _memory_told(
    workloads: Sequence[WorkloadThroughput], result: VerifyResult
) -> Iterator[tuple[str, str]]:
    """Yield what is shown of the memory of those that are not as lean."""
    for one in workloads:
        outcome, word = how_lean(one, result), short_memory_of(one, result)
        if outcome and word and one.rss and outcome is not Outcome.ALIKE:
            yield word, _told(outcome, one, one.rss)


def _by_wall(result: VerifyResult) -> str:
    """Return the speed of programs by the time that a user waits, where it is measured, too."""
    wall = result.throughput.programs_wall
    return f" by CPU time, {with_interval(wall)} by wall time" if wall else ""


def _told(outcome: Outcome, workload: WorkloadThroughput, ratio: Interval) -> str:
    """Return the workload's name, with its figure where something is shown."""
    return workload.name if outcome in OPEN else f"{workload.name} {with_interval(ratio)}"


def _grouped(told: Iterable[tuple[str, str]]) -> str:
    """Return "word: one, another; other word: a third", in the order in which words come up."""
    groups: dict[str, list[str]] = {}
    for word, name in told:
        groups.setdefault(word, []).append(name)
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in groups.items())


def _loops(result: VerifyResult) -> list[str]:
    """Return which of our loops are shown to differ, those that gain first."""
    loops = [one for one in result.throughput.workloads if one.kind == "loop"]
    if not loops:
        return []
    beside = result.throughput.programs is not None
    groups: dict[str, list[WorkloadThroughput]] = {}
    for one in sorted(loops, key=lambda one: (one.ratio.value < 1, -abs(one.ratio.value - 1))):
        if how_fast(one, result) not in (Outcome.ALIKE, *OPEN):
            groups.setdefault(short_speed_of(one, result), []).append(one)
    of = "Loops and replays that are " if beside else ""
    said = [f"{_capital(of + word)}: {_listed(found, result)}." for word, found in groups.items()]
    if not said and not (beside and len(loops) == 1):  # a single loop stands there as all of them
        said = [f"No {'loop or replay' if beside else 'workload'} is shown to differ by itself."]
    return said


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _listed(loops: Sequence[WorkloadThroughput], result: VerifyResult) -> str:
    if result.throughput.alone:
        return loops[0].name  # its figures are those of all workloads, which stand before
    named = [f"{one.name} {with_interval(shown(one, result.throughput))}" for one in loops]
    more = [f"and {len(named) - MOST_NAMES} more"] if len(named) > MOST_NAMES else []
    return ", ".join([*named[:MOST_NAMES], *more])
