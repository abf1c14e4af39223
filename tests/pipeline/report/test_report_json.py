"""report.json against its schema, and what a report is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from judge_support import (
    counting_of,
    counts,
    workload_counts,
)
from report_support import RECEIPTS, bad, evidence, good, older

from pipeline.core.errors import ArtifactError
from pipeline.evidence.curve import curve_points, swept_workloads
from pipeline.judge.left_out import Subject
from pipeline.judge.request import CacheGeometry
from pipeline.release.contents import write_sums
from pipeline.report.build import Inputs, report_model
from pipeline.report.files import JSON, read_report, render_json, write_reports
from pipeline.report.markdown import render_markdown
from pipeline.report.model import ReportModel
from pipeline.report.schema import schema_page
from pipeline.report.unmeasured import limits

ROOT = Path(__file__).resolve().parents[3]
LIMIT = "judging ends after 60 s of timed runs (--verify-time sets more)"
NEITHER = "the chain of builds and random layouts"
SCHEMA = ROOT / "docs" / "report.schema.json"


def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_published_schema_is_that_of_the_model() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_page()


@pytest.mark.parametrize("model", [good(), bad(), older()])
def test_reports_keep_to_the_schema(model: ReportModel) -> None:
    validator().validate(json.loads(render_json(model)))


def test_schema_refuses_what_is_no_report() -> None:
    report = json.loads(render_json(good()))
    report["schema_version"] = 1
    report["surprise"] = True
    del report["verify"]
    said = " ".join(error.message for error in validator().iter_errors(report))
    assert all(word in said for word in ("surprise", "verify", "3 was expected"))


def test_a_report_is_the_same_when_read_back(tmp_path: Path) -> None:
    write_reports(tmp_path, good())
    assert read_report(tmp_path) == good()


def test_a_report_from_before_findings_had_topics_is_read_and_shown(tmp_path: Path) -> None:
    kept = json.loads(render_json(bad()))
    assert kept.pop("quotes") and any([one.pop("topic") for one in kept["findings"]])
    (tmp_path / JSON).write_text(json.dumps(kept), encoding="utf-8")
    write_sums(tmp_path)
    read = read_report(tmp_path)
    assert read.quotes == () and all(one.topic is None for one in read.findings)
    doubt = next(one for one in read.findings if one.kind == "note")
    assert f"- {doubt.what}: {doubt.detail}" in render_markdown(read)


def test_a_report_that_kept_sentences_of_what_was_left_out_is_read_as_values(
    tmp_path: Path,
) -> None:
    kept = json.loads(render_json(good()))
    kept |= {"schema_version": 2, "evidence": evidence().model_dump(mode="json")}
    kept["verify"] |= {"schema_version": 2, "left_out": [LIMIT, "the judge is not checked: at all"]}
    kept["evidence"] |= {"schema_version": 1, "left_out": [f"{NEITHER}: no time", "as it was"]}
    for field in ("ablation", "layout_null"):
        kept["evidence"][field] = None
    (tmp_path / JSON).write_text(json.dumps(kept), encoding="utf-8")
    write_sums(tmp_path)
    read = read_report(tmp_path)
    assert read.evidence and [one.subject for one in read.evidence.left_out] == [
        *(Subject.ABLATION, Subject.LAYOUT_NULL, Subject.OTHER)
    ]
    assert limits(read) == [LIMIT, "as it was"]
    assert "- The chain of builds, random layouts: no time.\n" in render_markdown(read)
    assert json.loads(render_json(read))["schema_version"] == 3


def test_the_short_table_of_an_older_report_has_the_units_of_today(tmp_path: Path) -> None:
    model = good()
    old = model.summary[0].model_copy(update={"unit": "ms a run", "baseline": 230.0})
    write_reports(tmp_path, model.model_copy(update={"summary": (old, *model.summary[1:])}))
    assert read_report(tmp_path).summary == model.summary


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "has no report.json"),
        ("{", "is no report of schema 3"),
        ('{"schema_version": 1}', "is no report of schema 3"),
    ],
)
def test_bad_reports_are_refused_with_a_reason(
    tmp_path: Path, content: str | None, words: str
) -> None:
    if content is not None:
        (tmp_path / JSON).write_text(content, encoding="utf-8")
    with pytest.raises(ArtifactError, match=words) as caught:
        read_report(tmp_path)
    assert caught.value.hint


@pytest.mark.parametrize("content", [b"{", b'{"\xff"}'])
def test_a_damaged_report_is_not_called_one_of_another_pipeline(
    content: bytes, tmp_path: Path
) -> None:
    write_reports(tmp_path, good())
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    write_sums(tmp_path)
    (tmp_path / JSON).write_bytes(content)
    with pytest.raises(ArtifactError, match=r"is damaged: report\.json \(changed\)"):
        read_report(tmp_path)


def test_a_report_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / JSON).write_bytes(b"\xff")
    with pytest.raises(ArtifactError, match=r"report\.json is not text"):
        read_report(tmp_path)


def test_functions_tell_why_they_moved() -> None:
    why: dict[str, Any] = {row.name: row.why for row in good().functions}
    assert why["hak_malloc"] == "hot.txt, place 1 of 2"
    assert why["hak_fatal"] == "cold.txt"
    assert why["hak_malloc.cold.0"].startswith("blocks of hak_malloc that the training never ran")
    assert why["stays"] == "by heat, behind hot.txt"
    assert why["pop"] == "inlined into hak_malloc"
    assert why["gone"] == "no function of its own any more: inlined, or not needed"


def test_the_border_is_where_listed_hot_code_ends() -> None:
    model = good()
    assert model.code is not None
    assert model.code[0].hot_end is None  # hak_fatal lies among the hot ones
    free = next(one for one in model.code[1].functions if one.name == "hak_free")
    assert model.code[1].hot_end == free.address + free.size


def test_what_bolt_says_is_left_out_where_a_simpler_build_was_chosen() -> None:
    whole = evidence()
    assert whole.ablation is not None
    simple = whole.ablation.model_copy(update={"chosen": "pgo"})
    model = report_model(
        profile="p",
        version="v",
        result=good().verify,
        allow_neutral=False,
        inputs=Inputs(RECEIPTS, evidence=whole.model_copy(update={"ablation": simple})),
    )
    assert good().layout is not None
    assert model.layout is None


def test_a_model_needs_nothing_but_the_judgement() -> None:
    model = report_model(
        profile="p", version="v", result=good().verify, allow_neutral=False, inputs=Inputs({})
    )
    assert (model.code, model.previous, model.training, model.evidence) == (None,) * 4
    assert all((model.code_reason, model.previous_reason, model.evidence_reason))


def test_the_curve_has_one_point_for_each_size() -> None:
    judged = workload_counts("mixed", counts(4.0), counts(3.0))
    caches = [CacheGeometry(size=size, ways=4) for size in (1024, 32 * 1024)]
    swept = [
        judged.model_copy(update={"geometry": cache, "baseline": counts(9.0)}) for cache in caches
    ]
    counting = counting_of(judged).model_copy(update={"curve": tuple(swept)})
    points = curve_points(counting)
    assert [one.geometry.size for one in points] == [1024, 32 * 1024]
    assert [one.baseline for one in points] == [9.0, 4.0]  # 32 KiB is what was judged
    assert swept_workloads(counting) == ("mixed",)
    assert curve_points(counting_of(judged)) == ()


def test_the_curve_is_of_the_workload_that_was_swept() -> None:
    judged = [workload_counts(name, counts(4.0), counts(3.0)) for name in ("swept", "other")]
    small = judged[0].model_copy(update={"geometry": CacheGeometry(size=1024, ways=4)})
    points = curve_points(counting_of(*judged).model_copy(update={"curve": (small,)}))
    assert [one.geometry.size for one in points] == [1024, 32 * 1024]


def test_each_timed_figure_has_its_spread_beside_the_median() -> None:
    model = good()
    workload, times = model.verify.throughput.workloads[0], model.times[0]
    seconds = [1 / one.tuned.ops_per_sec for one in workload.samples]
    assert times.tuned.count == len(seconds)
    assert times.tuned.mean == pytest.approx(sum(seconds) / len(seconds))
    assert times.tuned.median == pytest.approx(sorted(seconds)[len(seconds) // 2], rel=0.01)
    assert times.tuned.sigma is not None and times.tuned.least <= times.tuned.most


def test_the_times_of_the_judges_check_have_their_spread_too() -> None:
    """Each workload that has a median somewhere in the file has its times."""
    model = good()
    check = model.verify.self_check
    assert check is not None
    timed = [("verdict", model.verify.throughput)]
    timed += [(one.name, one.throughput) for one in (check.same_build, check.slowdown)]
    told = [(one.judgement, one.workload) for one in model.times]
    assert told == [(name, row.name) for name, found in timed for row in found.workloads]
