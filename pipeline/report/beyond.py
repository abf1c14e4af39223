"""A program's change larger than all that the library does in it: no code layout gives that.

It can be real: where blocks lie, and how their pages are first touched, act on the whole program.
So it is a doubt, for which a reviewer wants a second build.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.judge.counts import RealProgram
from pipeline.judge.keys import shown
from pipeline.judge.model import VerifyResult
from pipeline.judge.own_task import workload_of
from pipeline.judge.statistics import Interval
from pipeline.report import text
from pipeline.report.model import Finding


def beyond_the_library(result: VerifyResult) -> Iterator[Finding]:
    """Yield each timed program whose whole interval lies beyond the library's share of it."""
    shares = dict(_shares(result.programs))
    for one in result.throughput.workloads:
        ratio = shown(one, result.throughput)
        if one.kind == "program" and _is_beyond(one.name, ratio, shares):
            part = f"{shares[one.name] * 100:.1f} % of its instructions"
            yield Finding.doubt(
                f"{one.name}: the change is larger than the library's part of the program",
                f"{text.spread(ratio)}, and the library executes {part}; so it comes from where "
                "data lies, or by chance: build again",
                "workloads",
            )


def _shares(programs: tuple[RealProgram, ...]) -> Iterator[tuple[str, float]]:
    """Yield each counted workload with the library's share of its instructions, in the baseline.

    A command of the profile that is timed and counted comes last: its share is that of no other.
    """
    for one in programs:
        if one.baseline is not None:
            yield workload_of(one.name), one.baseline.instructions / one.baseline.total_instructions


def _is_beyond(name: str, ratio: Interval, shares: Mapping[str, float]) -> bool:
    share = shares.get(name)
    return share is not None and (ratio.low > 1 / (1 - share) or ratio.high < 1 - share)
