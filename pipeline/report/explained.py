"""What the figures of a report mean, and what they leave open."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.judge.headline import unclear_alone
from pipeline.judge.keys import percent, spread
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.samples import Throughput
from pipeline.judge.statistics import ALPHA
from pipeline.judge.topic import KEYS
from pipeline.report import text
from pipeline.report.facts import UNCOUNTED
from pipeline.report.model import Finding, ReportModel
from pipeline.report.rows import undecided

FEW_NAMES = 6


def measured_and_found(key: Key) -> str:
    """Return what a key measures, then its reason, without what stands above: figure and ends."""
    start, found, rest = key.reason.partition(percent(key.ratio.value) if key.ratio else "unknown")
    named = set(start.split()) <= set(key.measure.replace(",", "").split())
    if found and named:
        left = rest.removeprefix(f" {spread(key.ratio)}").lstrip(", ") if key.ratio else found
        return f"{key.measure}{' ' if left.startswith('(') else ': '}{left}"
    return f"{text.sentence(key.measure)} {text.sentence(key.reason)}"


def said_elsewhere(finding: Finding, model: ReportModel) -> bool:
    """Say whether the verdict's sentence or a key gives this detail already, in its own place."""
    return finding.topic is not None and finding.topic in (*KEYS, *model.quotes)


def what_counts(model: ReportModel) -> str:
    """Return what the counts of functions are, and what they are not."""
    if model.code is None or model.code[1].counted_by == UNCOUNTED:
        return ""
    return (
        f"The count: {model.code[1].counted_by}, over all workloads of the training by their "
        "weights. It is of the function alone, without those it calls, and neither time nor "
        "instructions. What was inlined counts with the function that holds it"
    )


def confidence(timed: Throughput) -> str:
    """Return at what level the intervals are, and why that is not the same in all reports."""
    whole = timed.overall.confidence
    single = min(one.ratio.confidence for one in timed.workloads)
    at = f"an interval of speed is at {text.percent(whole)}"
    if not timed.alone:
        at = (
            f"an interval over several workloads is at {text.percent(whole)}, one of a single "
            f"workload at {text.percent(single, 2)} or more, as all of those hold together"
        )
    often = "once" if timed.looks == 1 else f"{timed.looks} times"
    return (
        f"the judge looked {often}. All its looks together may err in "
        f"{text.percent(ALPHA, 0)} of builds. So {at}"
    )


def none_shown(model: ReportModel) -> str:
    """Return where no regression was shown, and how much nobody could say."""
    timed = [one.name for one in model.verify.throughput.workloads]
    counted = [one.name for one in model.verify.counting.workloads]
    counted += [one.name for one in model.verify.programs if one.status == "counted"]
    said = f"{text.many(len(timed), 'timed workload')}{_named(timed)}{_open(model.verify)}"
    said = f"{said} and {len(counted)} counted{_named(counted)}"
    if model.previous is None:
        return f"in {said}"
    undecided_ = len(undecided(model.previous))
    against = f"in {said}, nor against {model.previous.version}"
    if not undecided_:
        return against
    return f"{against}, where {undecided_} of {len(model.previous.rows)} rows could not be decided"


def _open(result: VerifyResult) -> str:
    """Say in brackets how many single workloads nobody can speak of; "" for none."""
    unclear = unclear_alone(result)
    whom = "itself" if unclear == 1 else "themselves"
    return f" ({unclear} of them undecided by {whom})" if unclear else ""


def _named(names: Sequence[str]) -> str:
    """Return a few names in brackets; many stand in the tables below."""
    return f" ({', '.join(names)})" if 0 < len(names) <= FEW_NAMES else ""


def counted_with(model: ReportModel) -> list[str]:
    """Return the variables that only counted runs have."""
    pairs = {pair for one in model.verify.counting.workloads for pair in one.env.items()}
    return [f"{name}={value}" for name, value in sorted(pairs)]
