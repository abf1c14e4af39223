"""The words and figures of a review: its headline, its table, what the builds are made of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import report_support
from review_support import BASE, HEAD, keep, review, seal

from pipeline.commands import diff
from pipeline.core.paths import Tree
from pipeline.geometry.model import Difference
from pipeline.judge.topic import Topic
from pipeline.report.compare import compare_versions
from pipeline.report.compare_keys import OF_PAIRS
from pipeline.report.compared_model import ComparedRow, Comparison, Judgement
from pipeline.report.files import read_report, write_reports
from pipeline.report.model import Finding as Doubt
from pipeline.report.model import Source
from pipeline.review.model import SAME_PLAIN, Lists, Review
from pipeline.review.render import OWN_TITLE, markdown

pytest_plugins = ("review_trees",)


def test_what_is_said_of_the_own_baseline_stands_apart(base: Path) -> None:
    """Two lines on throughput, one beside BASE and one beside the baseline, looked alike."""
    _, said = review(base, "--no-measure")
    before, _, own = said.partition(OWN_TITLE)
    assert f"is worse than in {BASE}" in before
    assert "**warning**" not in before
    assert "**warning**" in own


def test_figures_that_were_measured_now_are_told_from_those_of_the_reports(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "The table is of this run, BASE against this change"
    assert told not in review(base, "--no-measure")[1]
    monkeypatch.setattr(diff, "judged", lambda *_, **__: report_support.judged())
    assert told in review(base)[1]


def test_what_is_said_beside_another_version_is_left_out(tree: Tree, base: Path) -> None:
    """A finding beside the version before stood below "its own baseline"."""
    good = report_support.good()
    assert good.previous is not None
    before = good.previous.version
    beside = [
        Doubt.regression(f"memory is worse than in {name}", "", "", topic)
        for name, topic in ((before, Topic.VERSIONS), ("the baseline", None))
    ]
    keep(tree, good.model_copy(update={"findings": tuple(beside)}), HEAD, published=False)
    _, said = review(base, "--no-measure")
    assert "memory is worse than in the baseline" in said
    assert f"memory is worse than in {before}" not in said


@pytest.mark.parametrize(("quotes", "times"), [((Topic.THROUGHPUT,), 1), ((), 2)])
def test_why_a_build_is_not_published_is_told_once(
    quotes: tuple[Topic, ...], times: int, tree: Tree, base: Path
) -> None:
    """A report from before the field tells it twice: nobody knows that it is the same."""
    doubt = Doubt.doubt("throughput is INCONCLUSIVE", "so said", "keys", Topic.THROUGHPUT)
    open_ = {"findings": (doubt,), "reason": "not shown: so said", "quotes": quotes}
    head = report_support.good().model_copy(update={**open_, "published": False})
    keep(tree, head, HEAD, published=False)
    assert review(base, "--no-measure")[1].count("so said") == times


def test_a_comment_says_what_the_builds_are_made_of(tree: Tree, base: Path) -> None:
    good = report_support.good()
    source = Source(commit="0123456789abcdef", clean=False, command=None, changed=("VERSION",))
    depth = Difference(what="small_depth", before="32", after="8", why="", worth="")
    keep(Tree(base.parents[3]), good.model_copy(update={"geometry": ()}), BASE, published=False)
    changed = good.model_copy(update={"source": source, "geometry": (depth,)})
    keep(tree, changed, HEAD, published=False)
    _, said = review(base.parents[3], "--no-measure")
    assert f"BASE is version {BASE}, of commit 0123abcd.\n- This change" in said
    assert f"version {HEAD}, of commit 0123456789ab with files not committed." in said
    assert "Geometry, then → now: small_depth 32 → 8." in said


def test_a_comment_names_the_kind_of_processor_as_reports_do(tree: Tree, base: Path) -> None:
    """It had "AMD EPYC", which several kinds are sold as."""
    good = report_support.good()
    known = good.verify.environment.model_copy(update={"processor": "amd-zen3"})
    verify = good.verify.model_copy(update={"environment": known})
    keep(tree, good.model_copy(update={"verify": verify}), HEAD, published=False)
    comment = review(base, "--no-measure")[1]
    assert ", on amd-zen3." in comment and "Example CPU" not in comment


@pytest.mark.usefixtures("tree")
def test_the_commit_of_a_side_may_stand_in_its_manifest_alone(base: Path) -> None:
    write_reports(base, read_report(base).model_copy(update={"source": None}))
    text = json.dumps({"git": {"commit": "fedcba9876543210"}})
    (base / "manifest.json").write_text(text, encoding="utf-8")
    seal(base)
    said = review(base, "--no-measure")[1]
    assert f"BASE is version {BASE}, of commit fedcba987654.\n- This change is" in said


def model_of(row: ComparedRow, *more: ComparedRow) -> Review:
    """A review of two builds that differ in these rows."""
    comparison = Comparison(
        version=BASE, created="", measured=True, rows=(row,), workloads=more, functions=(),
        code=None, notes=(),
    )  # fmt: skip
    head = report_support.good().model_copy(update={"version": HEAD, "contract": ()})
    return Review(BASE, "default", head, comparison, "mixed.toml", Lists("hot", "cold", {}, {}))


def row(name: str, judgement: Judgement, *changes: float) -> ComparedRow:
    ratio, low, high = (*changes, None, None)[:3]
    return ComparedRow(
        name=name, unit="", before=1, after=1, ratio=ratio, low=low, high=high,
        judgement=judgement, why="why",
    )  # fmt: skip


def test_the_headline_has_the_interval_of_what_is_undecided() -> None:
    said = model_of(row("throughput", "unclear", 0.99, 0.9851, 1.0065)).sentence
    assert said == (
        f"{HEAD} is not shown to be worse than {BASE}; throughput undecided: -1.49 % to +0.65 %."
    )


def test_the_headline_says_where_all_that_was_judged_is_the_same() -> None:
    known = (row("throughput", "same", 1.0), row("text size", "info", 1.01))
    assert model_of(*known).sentence == f"{HEAD} is level with {BASE} in all that was judged."
    open_ = model_of(*known, row("misses", "unknown", 1.0)).sentence
    assert open_ == f"{HEAD} is not shown to be worse than {BASE}."


def test_the_headline_of_a_bad_review_has_figures() -> None:
    worse = (row("throughput", "worse", 0.87, 0.861, 0.881), row("instructions", "worse", 1.89))
    more = [row(f"workload {number}", "worse", 1.5) for number in range(8)]
    assert model_of(*worse).sentence == (
        f"{HEAD} is worse than {BASE}: throughput -13.00 % [-13.90 %, -11.90 %], "
        "instructions +89.00 %."
    )
    assert model_of(*worse, *more).sentence.endswith("instructions +89.00 %; 8 more below.")


def test_what_is_on_record_says_what_it_rests_on(base: Path) -> None:
    said = review(base, "--no-measure")[1]
    model = compare_versions(read_report(base), report_support.bad())
    assert all(one.why in said for one in model.rows if one.judgement != "info")
    assert "- by record, peak memory: margin" in said


def test_notes_of_a_comparison_stand_in_the_review() -> None:
    model = model_of(row("throughput", "same", 1.0))
    noted = replace(model, comparison=model.comparison.model_copy(update={"notes": ("odd",)}))
    assert "- note: odd" in markdown(noted)


def test_a_review_says_its_margins_and_what_would_decide_what_is_open() -> None:
    """Who reads "same" must see within what; a full build measures what a quick one left open."""
    longer = "`HAKMEM_REVIEW_FULL=1 .ci/review BASE` measures longer"
    margins = "Margins: speed ±1.0 %, I-cache misses ±5.0 %, peak memory +10.0 %"
    cases: tuple[tuple[Judgement, str, bool], ...] = (
        ("unclear", "quick", True),
        ("unclear", "default", False),
        ("same", "quick", False),
    )
    for judgement, mode, offered in cases:
        model = model_of(row("throughput", judgement, 1.0))
        verify = model.head.verify.model_copy(update={"mode": mode})
        said = markdown(replace(model, head=model.head.model_copy(update={"verify": verify})))
        assert margins in said
        assert (longer in said) is offered


def test_a_training_with_threads_is_not_promised_to_be_alike(base: Path) -> None:
    """Two builds of a server with threads differed by 4 % in the size of their code."""
    told = "Where a program of the training has threads, they may differ more"
    assert told in review(base, "--no-measure")[1]


def test_a_change_that_is_not_that_of_its_columns_is_explained() -> None:
    """10.07 and 10.09 MiB stood beside +0.00 %."""
    memory = row("peak memory", "same", 1.0)
    apart = memory.model_copy(update={"before": 10.07, "after": 10.09})
    told = f"- peak memory: {OF_PAIRS}\n"
    assert told not in markdown(model_of(memory))
    model = model_of(apart)
    assert told in markdown(
        replace(model, comparison=model.comparison.model_copy(update={"measured": True}))
    )


def test_a_base_that_was_judged_last_is_no_mistake(base: Path) -> None:
    """`.ci/review` builds BASE after the change, and its comment advised `diff OLDER NEWER`."""
    found = read_report(base)
    verify = found.verify.model_copy(update={"created": "2999-01-01T00:00:00+00:00"})
    write_reports(base, found.model_copy(update={"verify": verify}))
    seal(base)
    assert "backward" not in review(base, "--no-measure")[1]


def test_plain_builds_of_the_same_bytes_are_said_to_be(tree: Tree, base: Path) -> None:
    assert SAME_PLAIN in review(base, "--no-measure")[1]
    good = report_support.good()
    other = good.verify.baseline.model_copy(update={"sha256": "0"})
    verify = good.verify.model_copy(update={"baseline": other})
    keep(tree, good.model_copy(update={"verify": verify}), HEAD, published=False)
    assert SAME_PLAIN not in review(base, "--no-measure")[1]


def test_the_table_has_intervals(base: Path) -> None:
    said = review(base, "--no-measure")[1]
    assert "| | BASE | this change | change | interval | is |" in said
    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("| ")][1:]
    assert all(len(row) == 6 for row in rows)
    assert any(re.fullmatch(r"\[[+-].+ %, [+-].+ %\]", row[4]) for row in rows)
