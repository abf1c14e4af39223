"""What is shown to be slower, whatever the keys say: it is not published unless it is accepted."""

from __future__ import annotations

from collections.abc import Collection

from pipeline.judge.keys import holds, share, with_interval, worse_clock
from pipeline.judge.model import VerifyResult
from pipeline.judge.verdict import Verdict

OVERALL, PROGRAMS = "throughput", "real-programs"
"""The names of the whole and of all real programs together; workloads have their own."""


def regressions(result: VerifyResult) -> dict[str, str]:
    """Return what is shown to be slower, by name, each in a sentence.

    The whole, or all real programs together, where the interval lies below equal; a workload,
    where its interval lies below the margin, though it may not have lost as much as its allowance.
    """
    throughput, margin = result.throughput, result.margins.throughput
    found = {}
    together = ((OVERALL, "throughput", throughput.overall),
                (PROGRAMS, "speed of real programs", throughput.programs))  # fmt: skip
    for name, words, ratio in together:
        if ratio is not None and ratio.high < 1:
            found[name] = f"{words} is shown to be lower: {with_interval(ratio)}"
    for one in throughput.workloads:
        clock, ratio = worse_clock(one)
        if ratio.high < 1 - margin and holds(ratio, throughput):
            change = with_interval(ratio)
            found[one.name] = (
                f"{one.name} is shown to lose more than {share(margin)}: {change} by {clock}"
            )
    return found


def asked_about(result: VerifyResult, allow_regression: Collection[str] = ()) -> dict[str, str]:
    """Return the regressions that keep a build back until they are accepted, by name, in words.

    None where a key is NO-GO: that cannot be accepted.
    """
    keys = result.keys
    if Verdict.NO_GO in (keys.throughput.verdict, keys.icache.verdict):
        return {}
    found = regressions(result)
    return {name: said for name, said in found.items() if name not in allow_regression}
