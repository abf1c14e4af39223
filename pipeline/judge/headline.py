"""The verdict in words that need no manual: faster, leaner, and for which programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.judge.keys import LEANER, compare, holds, percent, shown, spread
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.samples import WorkloadThroughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

SPEED = {
    Verdict.GO: "faster",
    Verdict.NEUTRAL: "as fast",
    Verdict.NO_GO: "slower",
    Verdict.INCONCLUSIVE: "not shown to be faster",
}
MEMORY = {
    Verdict.GO: "leaner",
    Verdict.NEUTRAL: "as lean",
    Verdict.NO_GO: "fatter",
    Verdict.INCONCLUSIVE: "not shown to be leaner",
}
SHOWN = {
    Verdict.GO: "faster",
    Verdict.NEUTRAL: "as fast",
    Verdict.NO_GO: "slower",
    Verdict.INCONCLUSIVE: "not shown",
}
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

    Each real program is named: faster, as fast, slower, or not shown. Where something is shown it
    has its own interval, which holds together with those of all other workloads. Of our loops those
    are named that are shown to differ.
    """
    keys = result.keys
    parts = [f"{_speed_word(keys.throughput)}{_change(keys.throughput)}"]
    if keys.memory is not None:
        parts.append(f"{_memory_word(keys.memory)}{_change(keys.memory)}")
    said = [
        f"Against the baseline: {'; '.join(parts)}.",
        *_programs(result),
        *_loops(result),
        _counted(result),
    ]
    return list(filter(None, said))


def brief(result: VerifyResult) -> str:
    """Return the three figures in one short sentence: speed, memory and misses."""
    keys = result.keys

    def figure(key: Key) -> str:
        return f" ({(key.ratio.value - 1) * 100:+.1f} %)" if key.ratio else ""

    parts = [f"{_speed_word(keys.throughput)}{figure(keys.throughput)}"]
    if keys.memory is not None:
        parts.append(f"{_memory_word(keys.memory)}{figure(keys.memory)}")
    misses = keys.icache.ratio
    change = f"{(misses.value - 1) * 100:+.0f} %" if misses else "unknown"
    return ", ".join([*parts, f"I-cache misses {change}"])


def _counted(result: VerifyResult) -> str:
    """Return which programs misses were counted in, where none of them is the profile's."""
    counted = [one for one in result.programs if one.status == "counted"]
    if not counted or any(one.own is not False for one in counted):
        return ""
    names = ", ".join(one.name for one in counted)
    return f"Misses were counted in {names}: none of them is a command of this profile."


def speed_of(workload: WorkloadThroughput, result: VerifyResult) -> str:
    """Return in a word or two what is shown of one workload's speed."""
    if not result.throughput.alone and not holds(workload.ratio, result.throughput):
        return SHOWN[Verdict.INCONCLUSIVE]
    return SHOWN[compare(shown(workload, result.throughput), result.margins.throughput)]


def memory_of(workload: WorkloadThroughput) -> str | None:
    """Return in a word or two what is shown of one workload's peak memory; None if unknown."""
    ratio = workload.rss
    if ratio is None:
        return None
    if ratio.high <= 1 - LEANER:
        return "leaner"
    if ratio.low > 1 + LEANER:
        return "fatter"
    return "as lean" if ratio.high <= 1 + LEANER else "not shown"


def by_less(key: Key, above: str, below: str) -> str | None:
    """Return the word of a change that is shown, but not by the margin; None where there is none.

    ``above`` is the word for a whole interval above 1, ``below`` for one below.
    """
    if key.verdict is not Verdict.INCONCLUSIVE or key.ratio is None:
        return None
    unshown = f"but not shown by {key.margin * 100:g} %"
    if 1 < key.ratio.low <= 1 + key.margin:
        return f"{above}, {unshown}"
    return f"{below}, {unshown}" if 1 - key.margin <= key.ratio.high < 1 else None


def _speed_word(key: Key) -> str:
    return by_less(key, above="faster", below="slower") or SPEED[key.verdict]


def _memory_word(key: Key) -> str:
    return by_less(key, above="fatter", below="leaner") or MEMORY[key.verdict]


def _change(key: Key) -> str:
    return f" ({percent(key.ratio.value)} {spread(key.ratio)})" if key.ratio else ""


def _programs(result: VerifyResult) -> list[str]:
    whole = result.throughput.programs
    if whole is None:
        return []
    found = [one for one in result.throughput.workloads if one.kind == "program"]
    told = _grouped(
        [_told(speed_of(one, result), one, shown(one, result.throughput)) for one in found]
    )
    by_wall = _by_wall(result)
    if result.throughput.alone:
        sentences = [f"One program was timed, {told}{by_wall}."]
    else:
        together = f"Real programs together {percent(whole.value)} {spread(whole)}{by_wall}."
        sentences = [f"{together} One by one (wider intervals, which hold together): {told}."]
    memory = [_told(word, one, one.rss) for one in found
              if (word := memory_of(one)) and one.rss and word != "as lean"]  # fmt: skip
    alike = sum(memory_of(one) == "as lean" for one in found)
    if alike:
        memory.append(("as lean", f"{alike} of {len(found)}"))
    return [*sentences, f"Their memory: {_grouped(memory)}."] if memory else sentences


def _by_wall(result: VerifyResult) -> str:
    """Return the speed of programs by the time that a user waits, where it is measured, too."""
    wall = result.throughput.programs_wall
    return f" by CPU time, {percent(wall.value)} {spread(wall)} by wall time" if wall else ""


def _told(word: str, workload: WorkloadThroughput, ratio: Interval) -> tuple[str, str]:
    """Return the word and the workload's name, with its figure where something is shown."""
    if word == SHOWN[Verdict.INCONCLUSIVE]:
        return word, workload.name
    return word, f"{workload.name} {percent(ratio.value)} {spread(ratio)}"


def _grouped(told: Sequence[tuple[str, str]]) -> str:
    """Return "word: one, another; other word: a third", in the order in which words come up."""
    groups: dict[str, list[str]] = {}
    for word, name in told:
        groups.setdefault(word, []).append(name)
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in groups.items())


def _loops(result: VerifyResult) -> list[str]:
    loops = [one for one in result.throughput.workloads if one.kind == "loop"]
    if not loops:
        return []
    whole = result.throughput.loops
    known = whole is not None and result.throughput.programs is not None
    head = [f"Loops and replays {percent(whole.value)} {spread(whole)}."] if known and whole else []

    def named(verdict: Verdict, sort: Callable[[WorkloadThroughput], float]) -> str:
        found = [one for one in loops if speed_of(one, result) == SHOWN[verdict]]
        return _listed(sorted(found, key=sort))

    faster = named(Verdict.GO, lambda one: -one.ratio.value)
    slower = named(Verdict.NO_GO, lambda one: one.ratio.value)
    said = [f"Faster: {faster}." if faster else "", f"Slower: {slower}." if slower else ""]
    if not any(said):
        said = [f"No {'loop or replay' if head else 'workload'} is shown to differ by itself."]
    return [*head, *said, "" if result.throughput.programs else ONLY_LOOPS]


def _listed(workloads: Sequence[WorkloadThroughput]) -> str:
    named = [f"{one.name} {percent(one.ratio.value)}" for one in workloads[:MOST_NAMES]]
    more = len(workloads) - len(named)
    return ", ".join([*named, f"and {more} more"] if more else named)
