"""What is shown to be slower, whatever the keys say: it is not published unless it is accepted."""

from __future__ import annotations

from pipeline.judge.keys import holds, percent, share, spread, worse_clock
from pipeline.judge.model import VerifyResult

OVERALL = "throughput"
"""The name of the whole among regressions; workloads have their own."""


def regressions(result: VerifyResult) -> dict[str, str]:
    """Return what is shown to be slower, by name, each in a sentence.

    The whole, where its interval lies below equal; a workload, where its interval lies below the
    margin, though it may not have lost as much as its allowance.
    """
    throughput, margin = result.throughput, result.margins.throughput
    found = {}
    if throughput.overall.high < 1:
        change = f"{percent(throughput.overall.value)} {spread(throughput.overall)}"
        found[OVERALL] = f"throughput is shown to be lower: {change}"
    for one in throughput.workloads:
        clock, ratio = worse_clock(one)
        if ratio.high < 1 - margin and holds(ratio, throughput):
            change = f"{percent(ratio.value)} {spread(ratio)}"
            found[one.name] = (
                f"{one.name} is shown to lose more than {share(margin)}: {change} in {clock}"
            )
    return found
