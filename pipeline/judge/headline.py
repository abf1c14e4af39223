"""The verdict in words that need no manual: faster, leaner, and for which programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.judge.keys import compare, holds, percent, spread
from pipeline.judge.model import Key, VerifyResult, WorkloadThroughput
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
MOST_NAMES = 4


def headline(result: VerifyResult) -> str:
    """Return in one sentence how fast and lean the tuned build is, and for which workloads.

    A workload is named where its own interval, which holds together with those of all others, lies
    beyond the margin.
    """
    keys = result.keys
    parts = [_part(SPEED, keys.throughput)]
    if keys.memory is not None:
        parts.append(_part(MEMORY, keys.memory))
    said = f"Against the baseline: {'; '.join(parts)}"
    names = _names(result)
    return f"{said}. {names}" if names else f"{said}. No workload is shown to differ by itself."


def _part(words: dict[Verdict, str], key: Key) -> str:
    change = f" ({percent(key.ratio.value)} {spread(key.ratio)})" if key.ratio else ""
    return f"{words[key.verdict]}{change}"


def _names(result: VerifyResult) -> str:
    margin, workloads = result.margins.throughput, result.throughput.workloads

    def shown(verdict: Verdict, sort: Callable[[WorkloadThroughput], float]) -> str:
        sure = [one for one in workloads if holds(one.ratio, result.throughput)]
        found = [one for one in sure if compare(one.ratio, margin) is verdict]
        return _listed(sorted(found, key=sort))

    faster = shown(Verdict.GO, lambda one: -one.ratio.value)
    slower = shown(Verdict.NO_GO, lambda one: one.ratio.value)
    sentences = [f"Faster: {faster}." if faster else "", f"Slower: {slower}." if slower else ""]
    return " ".join(filter(None, sentences))


def _listed(workloads: Sequence[WorkloadThroughput]) -> str:
    named = [f"{one.name} {percent(one.ratio.value)}" for one in workloads[:MOST_NAMES]]
    more = len(workloads) - len(named)
    return ", ".join([*named, f"and {more} more"] if more else named)
