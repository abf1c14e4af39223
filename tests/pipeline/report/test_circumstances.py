"""What stands beside the figures: uncommitted files, a laxer gate, earlier judgements."""

from __future__ import annotations

from judge_support import pairs, result_of, throughput_of

from pipeline.judge.topic import Topic
from pipeline.report.build import Inputs, report_model
from pipeline.report.circumstances import judged_besides, laxer, told_once, uncommitted
from pipeline.report.history_model import Point
from pipeline.report.model import Finding, Source
from pipeline.report.text import WROTE

RESULT = result_of(throughput_of(loop=pairs(1.03)))
LIBRARY = RESULT.tuned.sha256
LATER = "2026-01-03T00:00:00+00:00"


def point(version: str, library: str, published: bool = False) -> Point:
    unknown = dict.fromkeys(("misses", "misses_of", "instructions", "memory_mib", "text_bytes"))
    return Point.model_validate(
        {
            **unknown,
            "version": version,
            "created": "2026-01-02T03:04:05+00:00",
            "published": published,
            "current": False,
            "mode": "quick",
            "processor": "a",
            "baseline": "b",
            "gain": 1.02,
            "gain_low": 1.01,
            "gain_high": 1.03,
            "library": library,
        }
    )


def test_files_that_are_in_no_commit_are_named() -> None:
    files = ("a.toml", "b.toml", "c.toml", "d.toml", "e.toml")
    source = Source(commit="c0ffee", clean=False, command=None, changed=files)
    (found,) = uncommitted(source, "mixed")
    named, why = found.detail.split("; ")
    assert named == "a.toml, b.toml, c.toml, d.toml and 1 more"
    assert why == "its commit alone does not make this library again, until they are in one"
    assert not list(uncommitted(source.model_copy(update={"clean": True}), "mixed"))
    assert not list(uncommitted(None, "mixed"))
    mine = {"changed": ("training/profiles/mixed.toml",)}
    (found,) = uncommitted(source.model_copy(update=mine), "mixed")
    assert found.kind == "note"


def test_an_allowance_that_was_raised_is_told_and_one_that_was_lowered_is_not() -> None:
    raised = RESULT.model_copy(
        update={
            "throughput": RESULT.throughput.model_copy(
                update={
                    "workloads": tuple(
                        one.model_copy(update={"allowance": 0.12})
                        for one in RESULT.throughput.workloads
                    )
                }
            )
        }
    )
    (found,) = laxer(raised, RESULT, "1.0")
    assert found.detail == "loop 12.0 % (then 5.0 %)"
    assert not list(laxer(RESULT, raised, "1.0"))


def test_earlier_judgements_of_the_same_bytes_are_told_the_newest_first() -> None:
    points = (point("1", LIBRARY), point("2", "other"), point("3", LIBRARY), point("4", LIBRARY))
    found = list(judged_besides(points, LIBRARY, "4", LATER))
    assert [one.detail.split(",")[0] for one in found] == ["3", "1"]
    assert "not published: throughput +2.00 % [+1.00 %, +3.00 %]" in found[0].detail


def test_a_judgement_that_came_after_a_kept_verdict_is_told_as_later() -> None:
    kept = "2026-01-02T03:00:00+00:00"
    (found,) = judged_besides((point("2", LIBRARY),), LIBRARY, "1", kept)
    assert found.what == "the same library was judged again later, 2026-01-02 03:04 UTC"
    (found,) = judged_besides((point("2", LIBRARY),), LIBRARY, "1", LATER)
    assert found.what == "the same library was judged before, 2026-01-02 03:04 UTC"


def test_a_version_that_was_pruned_was_published_when_it_was_judged() -> None:
    pruned = point("1", LIBRARY).model_copy(update={"removed": True})
    (found,) = judged_besides((pruned,), LIBRARY, "2", LATER)
    assert found.detail.startswith("1, published then, removed since: throughput")


def test_all_of_it_stays_in_a_report_that_is_held_against_another_version() -> None:
    older = report_model(
        profile="p", version="1", result=RESULT, allow_neutral=False, inputs=Inputs(receipts={})
    )
    inputs = Inputs(receipts={}, previous=older, judged=(point("0", LIBRARY),))
    newer = report_model(
        profile="p", version="2", result=RESULT, allow_neutral=False, inputs=inputs
    )
    assert newer.previous is not None
    assert any("judged before" in one.what for one in newer.findings)


def test_runs_that_wrote_to_stderr_are_one_finding() -> None:
    """A server that says at its end what it has done gave a finding for each run."""
    wrote = [
        Finding.doubt(f"{name} {WROTE}", "'bye'", "health", Topic.STDERR)
        for name in ("kv", "one", "two")
    ]
    other = Finding.regression("throughput is NO-GO", "-3 %", "keys")
    assert told_once([other, wrote[0]]) == (other, wrote[0])
    kept, one = told_once([wrote[0], other, *wrote[1:]])
    assert kept == other
    assert f"{one.what}: {one.detail}" == f"3 runs {WROTE}: kv 'bye', one 'bye' and 1 more"
