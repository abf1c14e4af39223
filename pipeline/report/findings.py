"""What got worse, and what could not be shown: the first thing that a reviewer has to see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pipeline.judge.counts import Measured
from pipeline.judge.headline import unclear_alone
from pipeline.judge.icache import under_pressure
from pipeline.judge.keys import compare, shown
from pipeline.judge.model import VerifyResult
from pipeline.judge.outcome import UNDECIDED, Outcome, how_fast, speed_of
from pipeline.judge.request import Margins
from pipeline.judge.statistics import TINY, Interval
from pipeline.judge.topic import Topic
from pipeline.judge.usual import wider_margins
from pipeline.judge.verdict import Verdict
from pipeline.layout.check import Finding as ContractFinding
from pipeline.report import text
from pipeline.report.beyond import beyond_the_library
from pipeline.report.compared_model import Comparison
from pipeline.report.model import Finding

UNSEEN = (
    "this system does not let ptrace follow it, so what a process does in its last millisecond, or "
    "more on a busy machine, is not counted"
)

ORDER = ("regression", "doubt", "note")
LARGER = 1.25
"""Executable bytes, tuned / baseline: above it a report says so."""


def findings(
    result: VerifyResult,
    previous: Comparison | None,
    contract: Sequence[ContractFinding] | None,
) -> tuple[Finding, ...]:
    """Return all regressions, then all doubts, then what is for information."""
    found = [
        *_keys(result),
        *_margins(result),
        *_load(result),
        *_workloads(result),
        *beyond_the_library(result),
        *_clocks(result),
        *_medians(result),
        *_ends(result),
        *_counts(result),
        *_instructions(result),
        *_code(result),
        *_guards(result),
        *_self_check(result),
        *_versions(previous),
        *_contract(contract or ()),
    ]
    return in_order(found)


def in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, what asks most of a reader first."""
    return tuple(sorted(found, key=lambda one: ORDER.index(one.kind)))


def refused(result: VerifyResult) -> bool:
    """Return whether something was shown to be bad: not merely left undecided."""
    keys = (result.keys.throughput, result.keys.icache)
    return (
        bool(result.health.failed)
        or not result.rss.holds
        or any(key.verdict is Verdict.NO_GO for key in keys)
    )


def _keys(result: VerifyResult) -> Iterator[Finding]:
    keys = result.keys
    for name, key, topic in (
        ("throughput", keys.throughput, Topic.THROUGHPUT),
        ("I-cache", keys.icache, Topic.ICACHE),
    ):
        anchor = f"key-{topic.value}"
        if key.verdict is Verdict.NO_GO:
            yield Finding.regression(f"{name} is NO-GO", key.reason, anchor, topic)
        if key.verdict is Verdict.INCONCLUSIVE:
            yield Finding.note(f"{name} is INCONCLUSIVE", key.reason, anchor, topic)


def _margins(result: VerifyResult) -> Iterator[Finding]:
    wider = wider_margins(result.margins)
    if wider:
        usual = Margins().workload
        lost = [f"{one.name} {text.change(one.ratio.value)}" for one in result.throughput.workloads
                if 1 - one.allowance <= one.ratio.value < 1 - usual]  # fmt: skip
        seems = f"; by the usual ones too much seems lost by {', '.join(lost)}" if lost else ""
        what = "the profile judges by wider margins than usual"
        yield Finding.doubt(what, wider + seems, "keys", None if lost else Topic.MARGINS)


def _load(result: VerifyResult) -> Iterator[Finding]:
    """Yield that other work ran beside the judgement: intervals are as wide as that makes them."""
    around = result.environment
    if around.busy:
        yield Finding.doubt("the machine was busy", around.loads, "environment")


def _workloads(result: VerifyResult) -> Iterator[Finding]:
    for one in sorted(result.throughput.workloads, key=lambda one: one.ratio.value):
        ratio = shown(one, result.throughput)
        if compare(ratio, result.margins.throughput) is Verdict.NO_GO:
            yield Finding.regression(
                f"{one.name} is slower", text.spread(ratio), "workloads", Topic.WORKLOAD
            )
    unclear = unclear_alone(result)
    if unclear and not result.throughput.alone:  # of a single one the key says it
        verb, whom = ("is", "itself") if unclear == 1 else ("are", "themselves")
        every = len(result.throughput.workloads)
        what = f"{unclear} of {every} workloads {verb} undecided by {whom}"
        why = "a single one has fewer runs, and a wider interval, than all together"
        yield Finding.note(what, why, "workloads")


def _clocks(result: VerifyResult) -> Iterator[Finding]:
    """Yield what is shown to go another way by wall time than by CPU time.

    A single thread has nobody to wait for: its wall time tells of other programs alone.
    """
    timed = result.throughput
    found = [(one.name, one.ratio, one.wall, one.allowance) for one in timed.workloads
             if one.threads != 1]  # fmt: skip
    if timed.programs is not None and sum(one.kind == "program" for one in timed.workloads) > 1:
        whole = timed.programs, timed.programs_wall, result.margins.workload
        found.append(("real programs together", *whole))
    for name, cpu, wall, allowance in found:
        if wall is not None and (what := _other_way(cpu, wall, allowance)):
            waits = f"{text.spread(wall)} by wall time, which is what its user waits"
            yield Finding.doubt(
                f"{name}: {what}", f"{waits}; {text.spread(cpu)} by CPU time", "workloads"
            )


def _medians(result: VerifyResult) -> Iterator[Finding]:
    """Yield whose two medians changed by what the interval of the pairs excludes.

    Readers divide the two rates of a row. Inside of the interval both figures say the same.
    """
    apart = []
    for one in result.throughput.workloads:
        pairs = shown(one, result.throughput)
        medians = one.tuned_ops_per_sec / one.baseline_ops_per_sec
        if not pairs.low * (1 - TINY) <= medians <= pairs.high * (1 + TINY):
            change = f"{text.change(medians)} between the medians"
            apart.append(f"{one.name} {change}, {text.spread(pairs)} over the pairs")
    if apart:
        what = "the medians of a row say another change than its pairs"
        counts = "the pairs count, as their two runs stood side by side"
        yield Finding.note(what, f"{'; '.join(apart)}; {counts}", "workloads")


def _ends(result: VerifyResult) -> Iterator[Finding]:
    for one in result.throughput.workloads:
        if one.ends_unseen:
            what = f"{one.name}: processor time ends with the last look at a process"
            yield Finding.doubt(what, UNSEEN, "workloads")


def _other_way(cpu: Interval, wall: Interval, allowance: float) -> str:
    """Return in words how wall time differs; "" where it does not, or by no more than noise."""
    apart = cpu.low > wall.high or cpu.high < wall.low
    if apart and (cpu.value - 1) * (wall.value - 1) < 0:
        return "another way by wall time than by CPU time"
    loses = wall.high < 1 and wall.value < 1 - allowance <= cpu.value
    return "slower by wall time alone" if loses else ""


def _counts(result: VerifyResult) -> Iterator[Finding]:
    """Yield misses that rose, only where they press: a ratio of near-zeros says nothing."""
    for one in under_pressure(result.counting):
        if risen := _risen(one.baseline.i1_misses, one.tuned.i1_misses, result.margins.icache):
            yield Finding.regression(f"{one.name}: more I-cache misses", risen, "counts")


def _instructions(result: VerifyResult) -> Iterator[Finding]:
    """Yield where instructions rose, with what time says: only more time is a loss."""
    timed = {one.name: one for one in result.throughput.workloads}
    others = []
    for one in result.counting.workloads:
        before, after = one.baseline.instructions, one.tuned.instructions
        if risen := _risen(before, after, result.margins.throughput):
            workload = timed.get(one.name)
            if workload and how_fast(workload, result) is Outcome.WORSE:
                yield Finding.regression(f"{one.name}: more instructions", risen, "counts")
            else:
                speed = speed_of(workload, result) if workload else UNDECIDED
                others.append(f"{one.name} {text.change(text.quotient(before, after))}, {speed}")
    if others:
        what = "more instructions, and no loss of time shown"
        yield Finding.doubt(what, "; ".join(others), "counts")


def _risen(before: Measured | None, after: Measured | None, margin: float) -> str:
    """Return a count that rose by the margin or more, with its change; "" for any other."""
    grown = text.quotient(before, after)
    if grown is None or grown < 1 + margin:
        return ""
    change = f"{text.measured(before)} → {text.measured(after)} per operation"
    return f"{change} ({text.change(grown)})"


def _code(result: VerifyResult) -> Iterator[Finding]:
    before, after = result.baseline.text_bytes, result.tuned.text_bytes
    if after > LARGER * before:
        detail = f"{before:,} → {after:,} bytes; size is not judged"
        yield Finding.note(f"code is {after / before:.1f} times as large", detail, "counts")


def _guards(result: VerifyResult) -> Iterator[Finding]:
    if not result.rss.holds:
        yield Finding.regression("the memory limit is broken", result.rss.reason, "keys")
    for check in result.health.failed:
        yield Finding.regression(f"{check.name} fails with the library", check.detail, "health")
    for check in result.health.checks:
        if check.stderr:
            what = f"{check.name} {text.WROTE}"
            yield Finding.doubt(what, repr(check.stderr), "health", Topic.STDERR)
    if silent := result.health.silent:
        why = "that it is the same with the library says nothing: let the program print its result"
        yield Finding.doubt(silent, why, "health")
    if all(check.status == "skipped" for check in result.health.checks):
        what = "no real program was run"
        yield Finding.doubt(what, result.health.reason, "health", Topic.HEALTH)


def _self_check(result: VerifyResult) -> Iterator[Finding]:
    for one in result.self_judgements:
        if one.wrong:
            yield Finding.regression(
                f"the judge is wrong about the {one.name}", one.reason, "self-check"
            )
        elif not one.passed:
            topic = Topic.SELF_CHECK if one.ratio is None else None
            what = f"the judge cannot tell the {one.name}"
            yield Finding.doubt(what, one.reason, "self-check", topic)


def _versions(previous: Comparison | None) -> Iterator[Finding]:
    if previous is None:
        return
    if previous.apart and previous.speed_judged is None:
        what = f"judged by other workloads than {previous.version}: {previous.apart}"
        yield Finding.doubt(what, "gains by other workloads cannot be compared", "previous")
    for row in previous.worse:
        change = f"{text.change(row.ratio)}; {row.why}" if row.ratio else row.why
        yield Finding.regression(
            f"{row.name} is worse than in {previous.version}",
            change,
            "previous",
            Topic.VERSIONS,
        )


def _contract(contract: Sequence[ContractFinding]) -> Iterator[Finding]:
    broken = [one.symbol for one in contract if one.broken]
    if broken:
        what = f"the layout contract is broken in {text.many(len(broken), 'place')}"
        yield Finding.doubt(what, ", ".join(dict.fromkeys(broken)), "contract")
