"""The memory of two versions: where it is compared, and by what it is judged."""

from __future__ import annotations

import pytest
from judge_support import (
    pair,
    result_of,
    throughput_of,
)
from report_support import good, older
from test_report_compare import judgements, playing

from pipeline.report.compare import compare_versions
from pipeline.report.compared_model import ComparedRow
from pipeline.report.model import ReportModel


def test_memory_is_compared_by_the_same_recordings_alone() -> None:
    """Another input takes other memory: that is no regression of the library."""
    before = playing(older(), "aaaa", ops="500000")
    again = compare_versions(before, playing(good(), "aaaa", 2, ops="500000"))
    assert judgements(again)["peak memory"] == "worse"
    anew = compare_versions(before, playing(good(), "bbbb", 2, ops="500000"))
    row = next(row for row in anew.rows if row.name == "peak memory")
    assert row.judgement == "unknown"
    assert row.why.startswith("the recording was made anew")


@pytest.mark.parametrize("changed", ["replay", "/srv/shop.trace"])
def test_memory_of_other_programs_is_not_compared(changed: str) -> None:
    """A user's changed client took 35 % more, and held the new library back as a regression."""

    def of(model: ReportModel, digest: str, times: int = 1) -> ReportModel:
        run = playing(model, "aaaa", times, ops="500000")
        return run.model_copy(update={"programs": {changed: digest}})

    for digest, judgement in (("one", "worse"), ("two", "unknown")):
        found = compare_versions(of(older(), "one"), of(good(), digest, 2))
        assert judgements(found)["peak memory"] == judgement


def test_memory_says_which_workloads_it_is_of() -> None:
    """The mean over some of them is not the one that the report has: the row says so."""

    def row(older: ReportModel, newer: ReportModel) -> ComparedRow:
        return next(one for one in compare_versions(older, newer).rows if one.name == "peak memory")

    assert row(older(), good()).why == "margin ±3.0 %"
    timed = good().verify.throughput
    more = timed.workloads[0].model_copy(update={"name": "another", "tuned_rss_kib": 1.0})
    wider = timed.model_copy(update={"workloads": (*timed.workloads, more)})
    verify = good().verify.model_copy(update={"throughput": wider})
    found = row(older(), good().model_copy(update={"verify": verify}))
    count = len(timed.workloads)
    part = f"over the {count} of {count + 1} workloads that both ran alike"
    assert found.why == f"margin ±3.0 %; {part}"
    assert found.ratio == pytest.approx(1)


def test_memory_of_runs_of_another_length_is_not_compared() -> None:
    before = playing(older(), "aaaa", ops="500000")
    rows = compare_versions(before, playing(good(), "aaaa", ops="2000000")).rows
    row = next(row for row in rows if row.name == "peak memory")
    assert row.judgement == "unknown"
    assert row.why.startswith("the runs were of another length")
    again = compare_versions(before, playing(good(), "aaaa", ops="500000"))
    assert judgements(again)["peak memory"] != "unknown"


def directly(sizes: list[tuple[int, int]]) -> str:
    """Return what a direct judgement says of the memory of runs with these sizes, in turn."""
    pairs = [pair(n, 100.0, 100.0, sizes[n % len(sizes)]) for n in range(20)]
    rows = compare_versions(older(), good(), result_of(throughput_of(mixed=pairs))).rows
    return next(one.why for one in rows if one.name == "peak memory")


def test_a_change_that_is_not_that_of_the_columns_is_explained() -> None:
    """10.81 and 10.92 MiB stood beside +0.25 %, and nothing said why."""
    why = "; both columns are medians of all runs, the change is the median over the pairs"
    assert not directly([(100_000, 101_000), (200_000, 202_000)]).endswith(why)
    apart = [(100_000, 100_000), (100_000, 100_000), (100_500, 101_000), (101_000, 102_000)]
    assert directly([*apart, (102_000, 102_000)]).endswith(why)


def test_memory_is_judged_directly_by_its_key_and_its_limit() -> None:
    def row(ratio: float) -> ComparedRow:
        grown = [pair(n, 100.0, 100.0, (100_000, int(100_000 * ratio))) for n in range(20)]
        direct = result_of(throughput_of(mixed=grown))
        rows = compare_versions(older(), good(), direct).rows
        return next(one for one in rows if one.name == "peak memory")

    assert row(1.02).judgement == "same"
    assert row(1.05).judgement == "worse"
    assert row(1.05).why.startswith("judged directly: peak memory +5.00 %")
    assert row(1.05).low == pytest.approx(1.05)
    assert row(0.9).judgement == "better"
    assert row(1.2).why.startswith("the memory limit is broken")
