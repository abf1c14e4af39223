"""Versions against each other: gains, counts and recordings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from judge_support import (
    counting_of,
    counts,
    exactly,
    pairs,
    program_of,
    result_of,
    throughput_of,
    workload_counts,
)
from report_support import good, older

from pipeline.judge.counts import Counting, RealProgram
from pipeline.judge.request import Margins
from pipeline.judge.statistics import Interval
from pipeline.report.build import against
from pipeline.report.code_model import MapFunction
from pipeline.report.compare import compare_versions
from pipeline.report.compare_counts import CountPair, counted_rows, workload_rows
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.diff import render_diff, verdict
from pipeline.report.explained import none_shown
from pipeline.report.model import ReportModel
from pipeline.report.rows import changed_functions


def judgements(comparison: Comparison) -> dict[str, str]:
    return {row.name: row.judgement for row in comparison.rows}


def test_a_version_is_not_worse_than_itself() -> None:
    comparison = compare_versions(good(), good())
    assert not comparison.worse
    assert not changed_functions(comparison)
    assert judgements(comparison)["instructions per op"] == "same"
    said = render_diff(comparison, good().version, "term")
    assert said.startswith(f"{good().version} is held against itself")
    assert said.count("\n") == 1


def test_two_versions_the_wrong_way_round_are_told() -> None:
    late = good().verify.model_copy(update={"created": "2026-12-31T00:00:00+00:00"})
    later = older().model_copy(update={"verify": late})
    assert any("backward" in note for note in compare_versions(later, good()).notes)
    assert not any("backward" in note for note in compare_versions(older(), good()).notes)


def test_functions_that_changed_lists_are_named() -> None:
    now = good()
    assert now.code is not None
    moved = tuple(
        side.model_copy(
            update={
                "functions": tuple(
                    one.model_copy(update={"listed": "cold"}) if one.name == "hak_free" else one
                    for one in side.functions
                )
            }
        )
        for side in now.code
    )
    notes = compare_versions(good(), now.model_copy(update={"code": moved})).notes
    assert "in other lists than before: hak_free hot.txt → cold.txt" in notes
    assert not any("lists" in note for note in compare_versions(good(), good()).notes)


def test_functions_that_stand_in_another_order_are_named() -> None:
    now = good()
    assert now.code is not None
    plain, tuned = now.code
    listed = [one for one in tuned.functions if one.part != "cold"]
    every = [one.model_copy(update={"listed": "hot"}) for one in listed]
    last = every[0].model_copy(update={"address": every[-1].address + 0x1000})

    def of(*functions: MapFunction) -> ReportModel:
        code = (plain, tuned.model_copy(update={"functions": functions}))
        return now.model_copy(update={"code": code})

    notes = compare_versions(of(*every), of(*every[1:], last)).notes
    assert f"in another order in hot.txt: {last.name}" in notes
    fewer = compare_versions(of(*every), of(*every[1:])).notes
    assert not any("another order" in one for one in fewer)


def test_a_library_is_the_same_as_itself_whatever_two_judgements_measured() -> None:
    model = good()
    blurred = replace(model.verify.throughput.overall, low=0.9, high=1.2)
    throughput = model.verify.throughput.model_copy(update={"overall": blurred})
    verify = model.verify.model_copy(update={"throughput": throughput})
    comparison = compare_versions(model.model_copy(update={"verify": verify}), model)
    assert set(judgements(comparison).values()) == {"same", "info"}
    assert comparison.rows[0].why == "both are the same library"


def test_counts_that_differ_by_no_more_than_they_repeat_are_the_same() -> None:
    """With several threads counts repeat within 1 %: that alone is no regression of 1 %."""
    before, after = counts(4.0), counts(4.0)
    more = exactly(30.0 * 1.0101)
    pair = CountPair("mixed", 1.0, before, after.model_copy(update={"instructions": more}))
    assert counted_rows([pair], "", Margins())[0].judgement == "same"
    assert workload_rows([pair], Margins()) == ()
    much = after.model_copy(update={"instructions": exactly(30.0 * 1.021)})
    assert counted_rows([replace(pair, after=much)], "", Margins())[0].judgement == "worse"


def test_misses_of_a_program_with_other_files_are_not_compared() -> None:
    def of(model: ReportModel, digest: str) -> ReportModel:
        programs = (program_of("git", 1.0, 1.0).model_copy(update={"digest": digest}),)
        judged = model.verify.model_copy(update={"programs": programs})
        return model.model_copy(update={"verify": judged})

    same = compare_versions(of(older(), "a"), of(good(), "a"))
    assert judgements(same)["I-cache misses in a real program"] == "same"
    other = compare_versions(of(older(), "a"), of(good(), "b"))
    assert judgements(other)["I-cache misses in a real program"] == "unknown"
    assert any("not the same programs" in note and "git" in note for note in other.notes)


def test_counts_beyond_their_margin_are_found_in_both_directions() -> None:
    comparison = compare_versions(older(), good())
    assert judgements(comparison) == {
        "gain over the baseline": "same",
        "instructions per op": "worse",
        "I-cache misses per op": "better",
        "I-cache misses in a real program": "same",
        "peak memory": "same",
        "code": "info",
    }
    backward = judgements(compare_versions(good(), older()))
    assert backward["instructions per op"] == "better"
    assert backward["I-cache misses per op"] == "worse"


def test_misses_in_real_programs_are_compared_where_both_have_counted_them() -> None:
    def of(*programs: RealProgram) -> ReportModel:
        judged = good().verify.model_copy(update={"programs": programs})
        return good().model_copy(update={"verify": judged})

    def row(older: ReportModel, newer: ReportModel) -> ComparedRow:
        rows = compare_versions(older, newer, None).rows
        return next(one for one in rows if one.name == "I-cache misses in a real program")

    then = of(program_of("gcc", 8.0, 4.0), program_of("git", 1.0, 1.0)).model_copy(
        update={"version": "then"}
    )
    other = then.verify.tuned.model_copy(update={"sha256": "e" * 64})
    then = then.model_copy(update={"verify": then.verify.model_copy(update={"tuned": other})})
    worse = row(then, of(program_of("gcc", 8.0, 5.0), program_of("redis", 1.0, 9.0)))
    assert (worse.before, worse.after) == pytest.approx((4000, 5000))
    assert worse.judgement == "worse"
    assert worse.why.endswith("; over the 1 of 2 programs that both counted alike")
    unknown = row(then, of(program_of("redis", 1.0, 9.0)))
    assert (unknown.ratio, unknown.judgement) == (None, "unknown")


def test_a_direct_judgement_of_real_programs_is_told_by_the_speed_of_all() -> None:
    found = throughput_of(("git",), git=pairs(1.03), loop=pairs(1.03))
    direct = result_of(found)
    rows = compare_versions(older(), good(), direct).rows
    assert (rows[0].name, rows[0].before) == ("throughput", 1.0)
    assert rows[0].after == pytest.approx(1.03)


def test_gains_over_different_baselines_are_not_compared() -> None:
    other = good().verify.baseline.model_copy(update={"sha256": "0" * 64})
    moved = older().model_copy(
        update={"verify": older().verify.model_copy(update={"baseline": other})}
    )
    row = compare_versions(moved, good()).rows[0]
    assert (row.judgement, row.ratio) == ("unknown", None)
    assert "direct judgement" in row.why


def judged_without(model: ReportModel, name: str) -> ReportModel:
    timed = model.verify.throughput
    kept = tuple(one for one in timed.workloads if one.name != name)
    throughput = timed.model_copy(update={"workloads": kept})
    return model.model_copy(
        update={"verify": model.verify.model_copy(update={"throughput": throughput})}
    )


def faster(model: ReportModel, times: float) -> ReportModel:
    timed = model.verify.throughput
    overall = Interval(value=times, low=times, high=times, confidence=0.95)
    throughput = timed.model_copy(update={"overall": overall})
    return model.model_copy(
        update={"verify": model.verify.model_copy(update={"throughput": throughput})}
    )


def test_a_gain_by_dropping_a_workload_is_none_and_the_report_names_what_was_dropped() -> None:
    newer = faster(judged_without(good(), "larson"), 2.0)
    model = against(newer, older())
    assert model.previous is not None
    gain = model.previous.rows[0]
    assert (gain.judgement, gain.ratio) == ("unknown", None)
    assert "judged by other workloads (without larson)" in gain.why
    assert (model.previous.dropped, model.previous.added) == (("larson",), ())
    said = "judged by other workloads than 0.1.0-old: without larson"
    assert said in model.previous.notes
    found = [one for one in model.findings if one.what == said]
    assert [(one.kind, one.anchor) for one in found] == [("doubt", "previous")]
    added = compare_versions(newer, good())
    assert (added.dropped, added.added) == ((), ("larson",))
    assert any("with larson" in note for note in added.notes)


def test_what_seems_worse_by_other_workloads_keeps_its_judgement() -> None:
    newer = faster(judged_without(good(), "larson"), 0.5)
    row = compare_versions(older(), newer).rows[0]
    assert row.judgement == "worse"
    assert row.why.endswith("by other workloads (without larson)")


def test_the_same_workloads_are_no_finding_nor_are_those_of_a_direct_judgement() -> None:
    assert against(good(), older()).previous == compare_versions(older(), good())
    for one in (
        compare_versions(older(), good()),
        compare_versions(older(), judged_without(good(), "larson"), good().verify),
    ):
        assert (one.dropped, one.added, one.apart) == ((), (), "")


def test_of_two_margins_the_tighter_one_judges_a_gain_and_the_row_says_so() -> None:
    def judged_by(model: ReportModel, margin: float) -> ReportModel:
        verify = model.verify.model_copy(update={"margins": Margins(throughput=margin)})
        return model.model_copy(update={"verify": verify})

    def row(then: float, now: float) -> ComparedRow:
        return compare_versions(judged_by(older(), then), judged_by(good(), now)).rows[0]

    assert [row(0.5, 0.5).judgement, row(1e-6, 1e-6).judgement] == ["same", "unclear"]
    assert [row(1e-6, 0.5).judgement, row(0.5, 1e-6).judgement] == ["unclear", "unclear"]
    assert "of the margins 50.0 % and 1.0 % the tighter one holds" in row(0.5, 0.01).why
    assert "tighter" not in row(0.01, 0.01).why


def test_counts_of_another_source_are_not_compared() -> None:
    blind = Counting(source="static", why="no valgrind", scope="sizes only")
    model = good().model_copy(
        update={"verify": good().verify.model_copy(update={"counting": blind})}
    )
    rows = {row.name: row for row in compare_versions(older(), model).rows}
    assert rows["instructions per op"].judgement == "unknown"
    assert "counted by valgrind then, by static now" in rows["instructions per op"].why


def test_counts_of_another_program_are_not_compared() -> None:
    older_programs = older().model_copy(update={"programs": {"mixed": "aa", "tiny": "bb"}})
    newer = good().model_copy(update={"programs": {"mixed": "cc", "tiny": "bb"}})
    comparison = compare_versions(older_programs, newer)
    assert judgements(comparison)["instructions per op"] == "unknown"
    assert not comparison.worse
    assert comparison.notes[-1].endswith("not compared: mixed")


def test_another_geometry_is_told_where_both_are_known() -> None:
    said = "geometry, then → now: small_depth 16 → 32, class 432 none → pages 1"
    for geometry, told in (((), True), (good().geometry, False), (None, False)):
        before = older().model_copy(update={"geometry": geometry})
        notes = compare_versions(before, good()).notes
        assert any(said in note for note in notes) is told


def playing(model: ReportModel, recording: str, times: int = 1, *, ops: str) -> ReportModel:
    """Return a version whose workloads played a recording, with so many times its peak memory."""
    throughput = model.verify.throughput
    path = f"/tree/build/pipeline/mixed/record/{recording}/shop.trace"
    workloads = tuple(
        one.model_copy(
            update={
                "argv": ("/baseline/bench/replay", "--trace", path, "--ops", ops),
                "tuned_rss_kib": one.tuned_rss_kib * times,
            }
        )
        for one in throughput.workloads
    )
    said = throughput.model_copy(update={"workloads": workloads})
    verify = model.verify.model_copy(update={"throughput": said})
    return model.model_copy(update={"verify": verify})


def test_counts_of_another_recording_say_so() -> None:
    def counted(model: ReportModel, recording: str) -> ReportModel:
        counting = model.verify.counting
        argv = ("/baseline/bench/replay", "--trace", f"/tree/record/{recording}/shop.trace")
        workloads = tuple(one.model_copy(update={"argv": argv}) for one in counting.workloads)
        said = counting.model_copy(update={"workloads": workloads})
        verify = model.verify.model_copy(update={"counting": said})
        return model.model_copy(update={"verify": verify})

    rows = compare_versions(counted(older(), "aaaa"), counted(good(), "bbbb")).rows
    row = next(row for row in rows if row.name == "instructions per op")
    assert row.judgement == "unknown"
    assert row.why.startswith("the recording was made anew")
    compared = against(counted(good(), "bbbb"), counted(older(), "aaaa"))
    assert "rows could not be decided" in none_shown(compared)
    assert "of them undecided" not in none_shown(compared)
    timed = compared.verify.throughput
    vague = Interval(value=1, low=0.8, high=1.2, confidence=0.99)
    workloads = tuple(one.model_copy(update={"ratio": vague}) for one in timed.workloads)
    noisy = timed.model_copy(update={"workloads": workloads})
    verify = compared.verify.model_copy(update={"throughput": noisy})
    many = f"({len(workloads)} of them undecided by themselves)"
    assert many in none_shown(compared.model_copy(update={"verify": verify}))
    assert compared.previous is not None
    assert "`--measure` judges them directly" in render_diff(compared.previous, "new", "term")
    assert "--measure" not in render_diff(
        compare_versions(older(), good(), good().verify), "new", "term"
    )


def test_a_direct_judgement_tells_of_the_load_beside_it() -> None:
    """A review named only the load of HEAD's own build."""
    found = good().verify
    around = found.environment.model_copy(
        update={"load_before": 28.4, "load_after": 9.0, "cores": 2}
    )
    busy = found.model_copy(update={"environment": around})
    said = "the machine was busy while both were judged (load 28 before, 9 after, on 2 CPUs)"
    assert said in compare_versions(older(), good(), busy).notes
    quiet = found.model_copy(
        update={"environment": around.model_copy(update={"load_before": 1.0, "load_after": 4.0})}
    )
    assert not any("busy" in note for note in compare_versions(older(), good(), quiet).notes)


def test_a_direct_judgement_takes_the_place_of_the_records() -> None:
    comparison = compare_versions(older(), good(), good().verify)
    assert comparison.measured
    rows = {row.name: row for row in comparison.rows}
    assert rows["throughput"].judgement == "better"
    assert rows["throughput"].low == pytest.approx(1.03, abs=1e-3)
    assert rows["throughput"].why.startswith("judged directly: +3.09 %")
    assert rows["I-cache misses per op"].ratio == 0.75
    assert rows["peak memory"].ratio == pytest.approx(1)
    assert rows["peak memory"].why.startswith("judged directly: peak memory +0.00 %")


def both_ways(**update: Any) -> list[Comparison]:
    """Return the comparison of records and the direct one, of judgements with these fields."""
    before, after = (
        one.model_copy(update={"verify": one.verify.model_copy(update=update)})
        for one in (older(), good())
    )
    return [compare_versions(before, after, one) for one in (None, after.verify)]


def test_misses_that_no_workload_has_are_not_compared() -> None:
    """In none does the code outgrow the cache: they stood among what was not decided."""
    rare = counting_of(workload_counts("mixed", counts(0.002), counts(0.002)))
    for comparison in both_ways(counting=rare):
        names = judgements(comparison)
        assert "I-cache misses per op" not in names
        assert "instructions per op" in names
        assert "not decided" not in verdict(comparison)


def test_where_nothing_was_counted_it_is_said_once() -> None:
    none = Counting(source="static", why="valgrind is not installed", scope="nothing")
    for comparison in both_ways(counting=none, programs=()):
        said = render_diff(comparison, "new", "term")
        assert said.count("misses") == 1
        assert "note: instructions and I-cache misses are unknown: neither version" in said
        assert "not decided" not in said


def test_real_programs_that_were_counted_stand_there_without_loops() -> None:
    none = Counting(source="valgrind", why="", scope="nothing")
    for comparison in both_ways(counting=none, programs=(program_of("gcc", 8.0, 4.0),)):
        counted = [name for name in judgements(comparison) if "misses" in name or "op" in name]
        assert counted == ["I-cache misses in a real program"]
        assert not any("neither version was counted" in note for note in comparison.notes)


def test_a_worse_version_is_a_regression_in_the_report() -> None:
    found = [one for one in against(good(), older()).findings if one.anchor == "previous"]
    assert {one.kind for one in found} == {"regression"}
    assert found[0].what == "instructions per op is worse than in 0.1.0-old"


def test_the_first_words_of_a_build_to_review_say_what_got_worse() -> None:
    """`.ci/review` builds with `--no-publish`: the headline told gains alone."""
    model = against(good(), older())
    withheld = model.model_copy(
        update={"published": False, "withheld": True, "allow_regression": ()}
    )
    assert withheld.refused_for == "; worse than 0.1.0-old (instructions per op)"
    assert withheld.model_copy(update={"previous": None}).refused_for == ""


@pytest.mark.parametrize("form", ["term", "md"])
def test_diff_says_what_got_worse(form: str) -> None:
    said = render_diff(compare_versions(older(), good()), "0.1.0-abc", form)
    assert "instructions per op" in said
    assert "worse" in said
    assert "+20.00 %" in said


def test_each_reason_stands_once_below_the_table() -> None:
    """As a column it was two letters wide on a terminal of 80."""
    compared = compare_versions(older(), good()).model_copy(update={"workloads": ()})
    rows = [row.model_copy(update={"why": "as always"}) for row in compared.rows]
    odd = rows[0].model_copy(update={"name": "speed", "why": "of two sessions"})
    few, many = (
        render_diff(compared.model_copy(update={"rows": found}), "0.1.0-abc", "term")
        for found in (rows, [*rows, odd])
    )
    assert "\nall: as always\n" in few
    assert "\nspeed: of two sessions\nall others: as always\n" in many
    bare = [*rows, odd.model_copy(update={"why": ""})]
    said = render_diff(compared.model_copy(update={"rows": bare}), "0.1.0-abc", "term")
    assert f"{rows[0].name}, " in said and "all others" not in said


def test_diff_for_programs_is_the_record() -> None:
    comparison = compare_versions(older(), good())
    read = json.loads(render_diff(comparison, "0.1.0-abc", "json"))
    assert Comparison.model_validate(read) == comparison
