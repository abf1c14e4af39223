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
    """Return in one paragraph how fast and lean the tuned build is, and for which programs.

    Each real program is named: faster, as fast, slower, or not shown. Where something is shown it
    has its own interval, which holds together with those of all other workloads. Of our loops those
    are named that are shown to differ.
    """
    keys = result.keys
    parts = [_speed(keys.throughput, result.margins.throughput)]
    if keys.memory is not None:
        parts.append(_part(MEMORY, keys.memory))
    sentences = [
        f"Against the baseline: {'; '.join(parts)}.",
        *_programs(result),
        *_loops(result),
        _counted(result),
    ]
    return " ".join(filter(None, sentences))


def brief(result: VerifyResult) -> str:
    """Return the three figures in one short sentence: speed, memory and misses."""
    keys = result.keys

    def figure(key: Key) -> str:
        return f" ({(key.ratio.value - 1) * 100:+.1f} %)" if key.ratio else ""

    speed = _speed_word(keys.throughput, result.margins.throughput)
    parts = [f"{speed}{figure(keys.throughput)}"]
    if keys.memory is not None:
        parts.append(f"{MEMORY[keys.memory.verdict]}{figure(keys.memory)}")
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


def _speed(key: Key, margin: float) -> str:
    return f"{_speed_word(key, margin)}{_change(key)}"


def _speed_word(key: Key, margin: float) -> str:
    """Return what is shown of speed; a gain is told, too, that is shown, but not by the margin."""
    low = key.ratio.low if key.ratio else 0.0
    if key.verdict is Verdict.INCONCLUSIVE and 1 < low <= 1 + margin:
        return f"faster, but not shown by {margin * 100:g} %"
    return SPEED[key.verdict]


def _part(words: dict[Verdict, str], key: Key) -> str:
    return f"{words[key.verdict]}{_change(key)}"


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
    if result.throughput.alone:
        sentences = [f"One program was timed, {told}."]
    else:
        together = f"Real programs together {percent(whole.value)} {spread(whole)}."
        sentences = [f"{together} One by one (wider intervals, which hold together): {told}."]
    memory = [_told(word, one, one.rss) for one in found
              if (word := memory_of(one)) and one.rss and word != "as lean"]  # fmt: skip
    alike = sum(memory_of(one) == "as lean" for one in found)
    if alike:
        memory.append(("as lean", f"{alike} of {len(found)}"))
    return [*sentences, f"Their memory: {_grouped(memory)}."] if memory else sentences


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
