"""When a new library is judged directly against the current one, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock, patch

import pytest
from bare_shop import bare_shop, setup_of
from rollback_support import BAD, OLD, make, tree_of_two, version

from pipeline.commands.build_result import conclude
from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError, WorkloadError
from pipeline.core.paths import Tree
from pipeline.judge import direct_speed as judging
from pipeline.judge.direct_speed import DirectSpeed
from pipeline.judge.model import Key
from pipeline.judge.request import JudgeRequest
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.release import check_version
from pipeline.release.current import current
from pipeline.release.version import Version
from pipeline.report import files
from pipeline.report.compared_model import OF_VERDICT, ComparedRow, Comparison
from pipeline.report.model import ReportModel
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof import against_current as stage
from pipeline.stages.proof import pair
from pipeline.stages.publish import publish, succession
from pipeline.stages.publish.succession import judged_directly

NEW = "1.0-cc33"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return tree_of_two(tmp_path, monkeypatch)


def found(verdict: Verdict, value: float) -> DirectSpeed:
    ratio = Interval(value=value, low=value - 0.01, high=value + 0.01, confidence=0.95)
    key = Key(
        verdict=verdict, margin=0.01, measure="x", reason="REASON", ratio=ratio, not_worse=False
    )
    return DirectSpeed(version=BAD, library="", key=key, pairs=40, seconds=21.4)


def timed(name: str, *words: str, weight: float = 1.0, env: str = "1") -> Any:
    """Return of a timed workload what is looked at: what it runs, and its weight."""
    argv = (f"/builds/aa/{name}", *words)
    return SimpleNamespace(name=name, argv=argv, env={"OF": env}, weight=weight)


LARSON = timed("larson", "--ops", "5000", "--threads", "2")
REPLAY = timed("replay", "/builds/aa/record/k1/trace")
BOTH = (LARSON, REPLAY)


def verify_of(baseline: str, tuned: str, workloads: tuple[Any, ...] = BOTH) -> Any:
    """Return of a judgement what is looked at: which libraries it was about, and by what."""
    then, now = (SimpleNamespace(sha256=one) for one in (baseline, tuned))
    throughput = SimpleNamespace(workloads=workloads)
    return SimpleNamespace(baseline=then, tuned=now, throughput=throughput)


class Case:
    """A build of other sources that may follow the current version, and what its judge was asked.

    The current one was judged over the baseline "then".
    """

    def __init__(self, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.older = verify_of("then", digest_file(version(tree, BAD).library))
        self.newer = verify_of("now", "new")
        self.passes = True
        self.shop = MagicMock(tree=tree, line="p")
        self.shop.options.no_publish, self.shop.options.mode = False, "default"
        monkeypatch.setattr(files, "read_report", lambda _: SimpleNamespace(verify=self.older))
        monkeypatch.setattr(succession, "passes", lambda *_: (self.passes, ""))

    def against(self, now: Version) -> DirectSpeed:
        self.asked.append(now.name)
        return found(Verdict.NO_GO, 0.95)

    def ask(self, name: str = NEW) -> DirectSpeed | None:
        release = SimpleNamespace(against=self.against, verdict=MagicMock())
        release.verdict.result.return_value = self.newer
        of = Version(self.shop.tree.dist("p") / name)
        return judged_directly(self.shop, cast("Any", release), of)


@pytest.fixture
def case(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tree, monkeypatch)


ASKED = {
    "the same baseline and workloads": ("then", BOTH, False),
    "another baseline": ("now", BOTH, True),
    "another baseline and other workloads": ("now", (LARSON,), True),
    "a workload is gone": ("then", (LARSON,), True),
    "a workload is new": ("then", (*BOTH, timed("server")), True),
    "a workload has another name": ("then", (LARSON, timed("played", *REPLAY.argv[1:])), True),
    "a recording was made anew": ("then", (LARSON, timed("replay", "/b/record/k2/trace")), True),
    "another command line": ("then", (timed("larson", "--threads", "4"), REPLAY), True),
    "another environment": ("then", (timed("larson", *LARSON.argv[1:], env="2"), REPLAY), True),
    "another weight": ("then", (timed("larson", *LARSON.argv[1:], weight=3.0), REPLAY), True),
    "all weights three times as large": (
        "then",
        tuple(timed(one.name, *one.argv[1:], weight=3.0) for one in BOTH),
        False,
    ),
    "runs as short as those of --quick": (
        "then",
        (timed("larson", "--ops", "50", "--threads", "2"), REPLAY),
        False,
    ),
    "the files of another build": (
        "then",
        (
            SimpleNamespace(**{**vars(LARSON), "argv": ("/builds/bb/larson", *LARSON.argv[1:])}),
            timed("replay", "/builds/bb/record/k1/trace"),
        ),
        False,
    ),
}
"""What may differ from the current version, and whether a build then runs both libraries."""


@pytest.mark.parametrize(("baseline", "workloads", "runs"), ASKED.values(), ids=ASKED)
def test_both_are_run_where_two_judgements_made_apart_cannot_tell(
    case: Case, baseline: str, workloads: tuple[Any, ...], runs: bool
) -> None:
    """`current` moved where the profile's verify workloads had changed, and no one had asked."""
    case.newer = verify_of(baseline, "new", workloads)
    assert (case.ask() is not None) is runs
    assert case.asked == [BAD] * runs


def test_an_import_that_keeps_its_verdict_times_nothing(case: Case) -> None:
    release = SimpleNamespace(against=None, verdict=MagicMock())
    of = Version(case.shop.tree.dist("p") / NEW)
    assert judged_directly(case.shop, cast("Any", release), of) is None


def test_a_library_is_not_judged_against_itself(case: Case) -> None:
    case.newer = verify_of("now", case.older.tuned.sha256)
    assert case.ask() is None and case.ask(BAD) is None and case.asked == []


def test_what_will_not_become_current_is_not_judged_for_that(case: Case) -> None:
    case.passes = False
    assert case.ask() is None
    case.passes, case.shop.options.no_publish = True, True
    assert case.ask() is None
    case.shop.options.no_publish, case.shop.options.mode = False, "quick"
    assert case.ask() is None
    assert case.asked == []


def test_where_no_version_is_current_there_is_nothing_to_judge_against(
    case: Case, tree: Tree
) -> None:
    (tree.dist("p") / "current").unlink()
    assert case.ask() is None and case.asked == []


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text("spoilt")])
def test_a_current_library_that_is_gone_or_damaged_is_not_run(
    case: Case, tree: Tree, harm: Any
) -> None:
    harm(version(tree, BAD).library)
    assert case.ask() is None and case.asked == []


def unreadable(_: Path) -> None:
    raise ArtifactError("no report.json")


def test_a_current_version_without_a_report_is_judged_by_its_library(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report of another schema let `current` move, though its library was at hand."""
    monkeypatch.setattr(files, "read_report", unreadable)
    assert case.ask() is not None and case.asked == [BAD]
    case.newer = verify_of("now", digest_file(version(case.shop.tree, BAD).library))
    assert case.ask() is None


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text("spoilt")])
def test_without_a_report_a_library_that_is_gone_or_damaged_is_not_run(
    case: Case, monkeypatch: pytest.MonkeyPatch, harm: Any
) -> None:
    monkeypatch.setattr(files, "read_report", unreadable)
    harm(version(case.shop.tree, BAD).library)
    assert case.ask() is None and case.asked == []


def compared(direct: DirectSpeed) -> ReportModel:
    """Return a report of which only the speed against the version before is known."""
    verdict = OF_VERDICT[direct.key.verdict]
    row = ComparedRow.model_construct(
        name="throughput", ratio=direct.key.ratio and direct.key.ratio.value, judgement=verdict
    )
    previous = Comparison.model_construct(version=BAD, rows=(row,), workloads=())
    return ReportModel.model_construct(
        published=True, reason="GO", previous=previous, direct=direct, profile="p", version=NEW
    )


def publish_with(
    case: Case,
    monkeypatch: pytest.MonkeyPatch,
    direct: DirectSpeed,
    reported: Callable[[DirectSpeed], ReportModel] = compared,
) -> publish.Published:
    tree = case.shop.tree
    case.shop.store, case.shop.options.redo = SimpleNamespace(used=[]), set()
    monkeypatch.setattr(case, "against", lambda _: direct)
    monkeypatch.setattr(publish, "make_report", lambda *words: reported(words[-1]))
    for name in ("keep_report", "pass_gate"):
        monkeypatch.setattr(publish, name, lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: NEW)
    monkeypatch.setattr(publish, "inputs_of", lambda *_: "others")
    monkeypatch.setattr(publish, "write_version", lambda *_: make(tree, NEW, "2026-01-03"))
    monkeypatch.setattr(check_version, "require_good", lambda *_: None)
    release = MagicMock(against=case.against)
    release.verdict.result.return_value = case.newer
    return publish.publish(case.shop, release)


def said_of(published: publish.Published) -> str:
    console = MagicMock()
    with (
        patch("pipeline.commands.build_result._show"),
        patch("pipeline.commands.build_result._tell_next"),
    ):
        conclude(console, published, 1.0)
    return "\n".join(words[0] for _, words, _ in console.mock_calls)


def test_current_stays_where_it_is_if_the_new_library_is_slower(
    case: Case, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of the sources that slows baseline and library alike became current."""
    done = publish_with(case, monkeypatch, found(Verdict.NO_GO, 0.95))
    assert current(tree.dist("p")) == version(tree, BAD)
    said = said_of(done)
    assert f"speed against {BAD}, judged directly, in 21 s: REASON" in said
    assert f"`current` is still {BAD}: this one is worse than {BAD}: throughput -5.00 %" in said
    assert f"`.venv/bin/pipeline rollback -p p --to {NEW}` makes it current all the same" in said


def test_current_moves_if_it_cannot_be_decided_and_that_is_said(
    case: Case, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = publish_with(case, monkeypatch, found(Verdict.INCONCLUSIVE, 0.995))
    assert current(tree.dist("p")) == version(tree, NEW)
    said = said_of(done)
    assert f"speed against {BAD}, judged directly, in 21 s: REASON" in said
    assert "not shown to be worse; whether it is slower is not decided" in said
    assert OLD not in said


def test_current_stays_where_other_workloads_judged_and_the_runs_show_a_loss(
    case: Case, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.newer = verify_of("then", "new", (LARSON,))
    publish_with(case, monkeypatch, found(Verdict.NO_GO, 0.95))
    assert current(tree.dist("p")) == version(tree, BAD)


@pytest.mark.parametrize(
    ("verdict", "now"), [(Verdict.NO_GO, BAD), (Verdict.INCONCLUSIVE, NEW), (Verdict.GO, NEW)]
)
def test_current_stays_where_its_report_cannot_be_read_and_the_runs_show_a_loss(
    case: Case, tree: Tree, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, now: str
) -> None:
    def without(direct: DirectSpeed) -> ReportModel:
        return compared(direct).model_copy(update={"previous": None})

    monkeypatch.setattr(files, "read_report", unreadable)
    done = publish_with(case, monkeypatch, found(verdict, 0.95), without)
    assert current(tree.dist("p")) == version(tree, now)
    if now == BAD:
        assert done.stays == f"this one is worse than {BAD}: throughput -5.00 %"


class Stage:
    """The stage itself, with a judge that only notes what it was asked."""

    def __init__(self, folder: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests: list[JudgeRequest] = []
        self.error: WorkloadError | None = None
        self.shop = replace(bare_shop(folder), tree=tree)
        self.now = version(tree, BAD)
        monkeypatch.setattr(judging, "direct_speed", self.judge)
        monkeypatch.setattr(pair, "judge_request", self.request)

    def request(self, shop: Workshop, *_: object) -> JudgeRequest:
        from pipeline.judge.request import BenchCommand
        from pipeline.stages.proof.request import budget_s

        assert shop.options.mode == "quick"
        bench = BenchCommand("toy", ("/bin/true",))
        there, new = self.now.library, Path("new")
        return JudgeRequest(new, there, (bench,), Path("logs"), time_budget_s=budget_s(shop))

    def judge(self, request: JudgeRequest, *_: object) -> DirectSpeed:
        if self.error:
            raise self.error
        self.requests.append(request)
        return found(Verdict.NO_GO, 0.95)

    def ask(self, digest: str = "new", **options: Any) -> DirectSpeed | None:
        shop = replace(self.shop, options=replace(self.shop.options, **options))
        library = Library(Path("new"), digest, cast("Any", None))
        plain = Baseline(library, cast("Any", None))
        return stage.against_current(shop, setup_of(()), plain, library, self.now)


@pytest.fixture
def judged(tmp_path: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, tree, monkeypatch)


def test_the_same_two_libraries_are_judged_once(judged: Stage) -> None:
    assert judged.ask() == judged.ask() == found(Verdict.NO_GO, 0.95)
    assert len(judged.requests) == 1
    assert judged.requests[0].baseline == judged.now.library
    judged.ask("another")
    assert len(judged.requests) == 2


@pytest.mark.parametrize("options", [{}, {"thorough": True}, {"verify_s": 900.0}])
def test_it_is_brief_in_every_mode(judged: Stage, options: dict[str, Any]) -> None:
    judged.ask(**options)
    assert judged.requests[0].time_budget_s == judged.shop.profile.gate.quick_budget_s == 2


def test_a_build_does_not_fail_where_the_current_library_does(judged: Stage) -> None:
    judged.error = WorkloadError("random-mixed (baseline) crashed")
    assert judged.ask() is None
    said = cast("StringIO", judged.shop.console.rich.file).getvalue()
    assert (
        f"not judged directly against {BAD}" in said and "random-mixed (baseline) crashed" in said
    )
