"""What a build that was not published is told to do next."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from judge_support import (
    health_of,
    pairs,
    program_of,
    result_of,
    throughput_of,
)

from pipeline.commands.duration import Duration
from pipeline.core.budget import LEAST_S
from pipeline.core.errors import GateError
from pipeline.core.paths import Tree
from pipeline.judge.advice import advice, next_step
from pipeline.judge.how_long import MOST_S, SURPLUS
from pipeline.judge.keys import percent, throughput_key
from pipeline.judge.known import SelfCheck, SelfJudgement
from pipeline.judge.model import VerifyResult
from pipeline.judge.more_time import BORDER, to_decide
from pipeline.judge.publishing import may_publish
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.release.current import point_current
from pipeline.release.version import MANIFEST, Version
from pipeline.report import terminal
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.model import ReportModel, Source
from pipeline.report.repeat import judged_again
from pipeline.report.what_next import next_command
from pipeline.stages.build.workshop import Options
from pipeline.stages.publish import gate

AGAIN = "`.venv/bin/pipeline build --profile shop --verify-time"


def judged(ratio: float, noise: float, misses: float, seconds: float = 60.0) -> VerifyResult:
    """Return a judgement of ten pairs in ``seconds``; 4.0 misses are those of the baseline."""
    throughput = throughput_of(mixed=pairs(ratio, noise=noise))
    longer = seconds / throughput.seconds
    needed = throughput.seconds_to_decide
    throughput = throughput.model_copy(
        update={
            "seconds": seconds,
            "seconds_to_decide": None if needed is None else needed * longer,
        }
    )
    return result_of(
        throughput=throughput,
        programs=[program_of("python3", 4.0, misses)],
    )


def minutes(said: str) -> int:
    """Return the minutes that the sentence asks for."""
    return int(said.removeprefix(AGAIN).strip().partition("m")[0])


def test_a_loss_that_is_not_excluded_asks_for_as_long_as_it_takes() -> None:
    found = judged(1.0, noise=10.0, misses=3.0)
    assert found.keys.throughput.verdict is Verdict.INCONCLUSIVE
    assert not may_publish(found, False)[0]
    said = advice(found, "shop")
    assert said.startswith(AGAIN)
    assert 2 <= minutes(said) <= 60
    assert said.endswith("Other stages are kept")


def test_a_quick_build_that_had_its_time_is_told_that_a_full_one_trains_anew() -> None:
    quick = judged(1.0, noise=10.0, misses=3.0).model_copy(update={"mode": "quick"})
    said = advice(quick, "shop")
    assert said.startswith(AGAIN)
    assert "--quick" not in said
    assert said.endswith("its other stages are made first")


def test_the_time_of_the_checks_is_told_with_that_of_the_runs() -> None:
    """Both halves of the self-check may take as long again; the sentence names who needs it."""
    harmless = judged(1.007, noise=12.0, misses=3.0)
    said = advice(harmless, "shop")
    own = minutes(said)
    assert f"up to {3 * own} minutes in all ({own} of the build's runs, {2 * own} of the" in said
    assert "enough to exclude a loss" in said
    assert "enough to decide throughput" in advice(judged(1.007, 12.0, misses=4.0), "shop")
    unseen = missing_the_slowdown(judged(1.0, noise=1.0, misses=3.0), noise=8.0)
    assert "enough for its check of itself" in advice(unseen, "shop")


def test_more_noise_takes_longer() -> None:
    few, many = (minutes(advice(judged(1.0, noise, 3.0), "shop")) for noise in (8.0, 16.0))
    assert few < many


def test_a_gain_elsewhere_asks_for_less() -> None:
    """With fewer misses it is enough that no loss is left; else a gain has to be shown."""
    harmless = minutes(advice(judged(1.007, noise=12.0, misses=3.0), "shop"))
    shown = minutes(advice(judged(1.007, noise=12.0, misses=4.0), "shop"))
    assert harmless < shown


def test_a_machine_that_is_too_noisy_is_named() -> None:
    said = advice(judged(1.0, noise=10.0, misses=3.0, seconds=3000.0), "shop")
    assert said.startswith("too noisy to decide within an hour (load 1 on 2 CPUs)")
    assert "--from verify" in said


def test_a_quick_run_that_took_as_long_as_a_full_one_asks_for_time() -> None:
    short, long = (judged(1.0, 20.0, 3.0, seconds) for seconds in (20.0, 60.0))
    said = [advice(one.model_copy(update={"mode": "quick"}), "shop") for one in (short, long)]
    assert "without --quick, does more" in said[0]
    assert said[1].startswith(AGAIN)


@pytest.mark.parametrize(("had", "needed", "asked"), [(20.0, 52.0, 78), (15.0, 16.0, LEAST_S)])
def test_a_quick_run_that_needs_little_more_gets_just_that(
    had: float, needed: float, asked: int
) -> None:
    """Some tens of seconds would decide it: then no full build is proposed."""
    found = judged(1.0, 2.0, 4.0, seconds=had)
    overall = Interval(value=1.003, low=0.988, high=1.0184, confidence=0.95)
    throughput = found.throughput.model_copy(
        update={"overall": overall, "pairs_to_decide": 260, "seconds_to_decide": needed}
    )
    key = found.keys.throughput.model_copy(update={"verdict": Verdict.INCONCLUSIVE})
    keys = found.keys.model_copy(update={"throughput": key})
    update = {"mode": "quick", "throughput": throughput, "keys": keys}
    said = advice(found.model_copy(update=update), "shop")
    assert f"--profile shop --quick --verify-time {asked:.0f}s" in said
    assert Duration().convert(f"{asked:.0f}s", None, None) == asked
    assert "without --quick" not in said


@pytest.mark.parametrize("seconds", [MOST_S / SURPLUS * 0.99, MOST_S / SURPLUS * 1.01])
def test_the_advice_alone_says_how_long_it_takes(seconds: float) -> None:
    """A reason that named pairs, or an hour, contradicted the time that the advice asks for."""
    found = judged(1.0, noise=10.0, misses=4.0)
    throughput = found.throughput.model_copy(
        update={"pairs_to_decide": 10_000_000, "seconds_to_decide": seconds}
    )
    key = throughput_key(throughput, found.margins)
    keys = found.keys.model_copy(update={"throughput": key})
    said = advice(found.model_copy(update={"throughput": throughput, "keys": keys}), "shop")
    wide = "the interval is wide, more than 1.0 % to each side"
    assert key.reason.endswith(f"over 10 pairs, not decided within 10 s: {wide}")
    assert ("within an hour" in said) == (SURPLUS * seconds > MOST_S)


def test_a_change_on_the_border_asks_for_no_more_time() -> None:
    """More pairs would not help, says the reason; the advice once asked for them."""
    found = judged(1.01, noise=2.0, misses=4.0)
    said = advice(found, "shop")
    assert "more pairs would not help" in found.keys.throughput.reason
    assert "--verify-time" not in said
    assert "the version that is current stays" in said
    asked = found.throughput.model_copy(
        update={"overall": judged(1.0, 10.0, 4.0).throughput.overall}
    )
    assert "more pairs" not in throughput_key(asked, found.margins).reason


def test_a_wide_interval_is_not_on_the_border() -> None:
    """Its middle happened to meet the margin, and the build was told that time would not help."""
    found = judged(1.01, noise=20.0, misses=4.0)
    reason = found.keys.throughput.reason
    assert "the interval is wide" in reason and "border" not in reason
    overall = found.throughput.overall
    assert reason.startswith(f"anywhere between {percent(overall.low)} and {percent(overall.high)}")
    assert percent(overall.value) not in reason  # it is no result
    said = advice(found, "shop")
    assert said.startswith("too noisy to decide within an hour")
    assert "as large as the margin" not in said


def test_a_busy_machine_is_named_beside_the_next_step() -> None:
    found = judged(1.0, noise=10.0, misses=3.0)
    busy = found.environment.model_copy(update={"load_before": 11.2})
    said = advice(found.model_copy(update={"environment": busy}), "shop")
    again = "`.venv/bin/pipeline build --profile shop --from verify` may be enough"
    assert said.endswith(f". The machine was busy (load 11 on 2 CPUs): when it is quiet, {again}")


def test_a_load_that_is_named_already_is_not_named_again() -> None:
    found = judged(1.0, noise=10.0, misses=3.0, seconds=3000.0)
    busy = found.environment.model_copy(update={"load_before": 11.2, "load_after": 11.2})
    said = advice(found.model_copy(update={"environment": busy}), "shop")
    assert said.startswith("too noisy to decide within an hour (load 11 on 2 CPUs)")
    assert said.count("load 11") == 1


def missing_the_slowdown(found: VerifyResult, noise: float) -> VerifyResult:
    """Return ``found`` with a check in which the known slowdown was not seen."""
    throughput = throughput_of(mixed=pairs(0.985, noise=noise)).model_copy(update={"seconds": 60})
    judged = SelfJudgement(
        name="known slowdown",
        verdict=Verdict.INCONCLUSIVE,
        expected=(Verdict.NO_GO,),
        alarming=(Verdict.GO, Verdict.NEUTRAL),
        reason="not decided",
        throughput=throughput,
    )
    right = {
        "name": "same build",
        "verdict": Verdict.NEUTRAL,
        "expected": (Verdict.NEUTRAL,),
        "alarming": (),
    }
    check = SelfCheck(same_build=judged.model_copy(update=right), slowdown=judged)
    return found.model_copy(update={"self_check": check})


def test_a_judge_that_misses_a_known_loss_needs_as_long_as_that_takes() -> None:
    found = judged(1.0, noise=1.0, misses=3.0)
    assert may_publish(found, False)[0]
    weak = missing_the_slowdown(found, noise=8.0)
    assert not may_publish(weak, False)[0]
    assert 2 <= minutes(advice(weak, "shop")) < 60
    assert "too noisy" in advice(missing_the_slowdown(found, noise=60.0), "shop")


def test_the_report_has_the_same_next_step_and_no_word_about_itself() -> None:
    """Where the advice only points to the report, the report says nothing."""
    found = judged(1.0, noise=10.0, misses=3.0)
    assert next_step(found, "shop") == advice(found, "shop")
    assert next_step(judged(0.9, noise=1.0, misses=3.0), "shop") == ""
    failed = result_of(health=health_of("failed"))
    assert next_step(failed, "shop") == advice(failed, "shop")


def test_a_loss_that_may_be_real_has_a_way_on() -> None:
    found = judged(1.0, noise=10.0, misses=3.0)
    one = found.throughput.workloads[0]
    lower = replace(one.ratio, value=0.9, low=0.8)
    lossy = one.model_copy(update={"name": "vague", "ratio": lower})
    parts = found.throughput.model_copy(update={"workloads": (*found.throughput.workloads, lossy)})
    said = advice(found.model_copy(update={"throughput": parts}), "shop")
    assert ". If vague does lose as much as it seems to, no time helps" in said
    assert "--profile shop --allow-regression vague`" in said


def test_a_loss_in_mere_noise_is_judged_again_before_it_is_accepted() -> None:
    """larson once had -7.7 % [-23.78 %, +70.49 %]: nobody can accept what nobody has seen."""
    found = judged(1.0, noise=10.0, misses=3.0)
    one = found.throughput.workloads[0]
    anything = replace(one.ratio, value=0.923, low=0.7622, high=1.7049)
    vague = one.model_copy(update={"name": "larson", "ratio": anything})
    parts = found.throughput.model_copy(update={"workloads": (*found.throughput.workloads, vague)})
    said = advice(found.model_copy(update={"throughput": parts}), "shop")
    again = said.index(". larson is too noisy to tell: when the machine is quiet, `")
    assert "--from verify` judges again" in said[again:]
    assert again < said.index("If larson does lose") < said.index("--allow-regression larson`")


def test_what_is_worse_is_left_to_the_report() -> None:
    worse = judged(0.9, noise=1.0, misses=3.0)
    assert not may_publish(worse, True)[0]
    assert advice(worse, "shop") == "the report names what became worse, and by how much"


def test_a_health_check_that_failed_or_did_not_run_is_told_apart() -> None:
    failed, skipped = (result_of(health=health_of(one)) for one in ("failed", "skipped"))
    assert not may_publish(failed, True)[0] and not may_publish(skipped, True)[0]
    said = advice(failed, "shop")
    assert "compare `python-plain.log` with `python-preloaded.log` in build/pipeline/shop/" in said
    assert "shop.toml needs a health check that runs here" in advice(skipped, "shop")


def test_nothing_gained_may_be_accepted() -> None:
    found = judged(1.0, noise=1.0, misses=4.0)
    assert "--profile shop --allow-neutral` publishes it" in advice(found, "shop")
    assert may_publish(found, True)[0]


@pytest.mark.parametrize("noise", [16.0, 20.0])
def test_a_quick_run_is_told_to_run_in_full(noise: float) -> None:
    found = judged(1.0, noise, 3.0, seconds=20.0).model_copy(update={"mode": "quick"})
    assert "`.venv/bin/pipeline build --profile shop`, without --quick" in advice(found, "shop")


def test_the_workload_that_most_of_the_noise_comes_from_is_named() -> None:
    timed = throughput_of(("server",), server=pairs(1.0, noise=40.0), loop=pairs(1.0, noise=1.0))
    two = tuple(one.model_copy(update={"threads": 2}) for one in timed.workloads)
    timed = timed.model_copy(update={"workloads": two})
    said = advice(result_of(timed, programs=[program_of("python3", 4.0, 4.0)]), "shop")
    assert "Most of the noise is that of server: " in said and "`threads = 1`" in said
    even = throughput_of(("server",), server=pairs(1.0, noise=40.0), loop=pairs(1.0, noise=40.0))
    said = advice(result_of(even, programs=[program_of("python3", 4.0, 4.0)]), "shop")
    assert "of the noise" not in said


def test_the_minutes_in_all_are_those_of_counting_too() -> None:
    found = judged(1.0, noise=10.0, misses=3.0).model_copy(update={"seconds": 60.0 + 150.0})
    said = advice(found, "shop")
    assert f"up to {3 * minutes(said) + 3} minutes in all" in said and "3 of counting" in said


def test_a_check_that_took_longer_than_the_build_is_no_counting() -> None:
    found = missing_the_slowdown(judged(1.0, noise=1.0, misses=3.0, seconds=10.0), noise=8.0)
    said = advice(found.model_copy(update={"seconds": 10.0 + 2 * 60.0}), "shop")
    assert "0 of counting" in said


def test_a_published_build_names_what_decides_its_speed() -> None:
    undecided = judged(1.0, 8.0, 3.0)
    assert undecided.keys.throughput.verdict is Verdict.INCONCLUSIVE
    said = to_decide(undecided, "shop")
    assert said.startswith(f"its speed is undecided: {AGAIN} ")
    assert re.search(r": up to \d+ minutes in all; other stages are kept$", said)
    short = judged(1.0, 8.0, 3.0, seconds=20.0).model_copy(update={"mode": "quick"})
    quick = to_decide(short, "shop")
    assert "`.venv/bin/pipeline build --profile shop`, without --quick" in quick
    border = undecided.throughput.model_copy(update={"seconds_to_decide": None})
    at_border = to_decide(undecided.model_copy(update={"throughput": border}), "shop")
    assert at_border == f"its speed is undecided: {BORDER}"
    long = undecided.throughput.model_copy(update={"seconds_to_decide": MOST_S})
    never = to_decide(undecided.model_copy(update={"throughput": long}), "shop")
    assert "to decide within an hour" in never and never.endswith("--from verify` judges again")
    assert to_decide(judged(1.1, 1.0, 3.0), "shop") == ""


@pytest.mark.parametrize("published", [True, False])
def test_a_report_names_the_same_build(published: bool) -> None:
    words = " ".join(Options(quick=True, cpu="any", variant="hardened", verify_s=90).words)
    model = ReportModel.model_construct(
        published=published,
        profile="shop",
        variant="hardened",
        verify=judged(1.0, 8.0, 3.0),
        source=Source(commit=None, clean=None, command=f"./bootstrap build {words}"),
        previous=None,
    )
    build = "build --profile shop --variant hardened --cpu any"
    assert f"{build} --verify-time" in next_command(model)
    again = "build --profile shop --variant hardened --verify-time 90s --cpu any --from verify"
    assert judged_again(model) == f".venv/bin/pipeline {again}"


def test_a_report_accepts_the_result_by_a_command_that_judges_nothing_anew() -> None:
    """It left --quick out: a full build, which is trained and judged anew."""
    words = "--profile shop --quick --no-publish --variant hardened"
    model = ReportModel.model_construct(
        published=False,
        profile="shop",
        variant="hardened",
        verify=judged(1.0, noise=1.0, misses=1.0),
        source=Source(commit=None, clean=None, command=f"./bootstrap build {words}"),
        previous=None,
    )
    again = "build --profile shop --variant hardened --quick --allow-neutral` publishes it"
    assert again in next_command(model)


def test_a_build_that_was_refused_is_told_the_command_of_the_same_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It named that of production, for the kind of processor of this machine."""
    monkeypatch.setattr(terminal, "show_verdict", lambda *_, **_more: None)
    monkeypatch.setattr(gate, "passes", lambda *_: (False, ""))
    shop: Any = SimpleNamespace(
        tree=Tree(tmp_path),
        line="shop+hardened",
        options=Options(quick=True, cpu="any", variant="hardened"),
        console=None,
    )
    model = ReportModel.model_construct(
        published=False, reason="", verify=judged(1.0, noise=10.0, misses=3.0), previous=None
    )
    with pytest.raises(GateError) as refused:
        gate.pass_gate(shop, model, cast(Any, None), tmp_path)
    again = "`.venv/bin/pipeline build --profile shop --variant hardened --cpu any --verify-time"
    assert refused.value.hint.startswith(again)


def test_a_build_of_the_current_library_that_another_judgement_passed_has_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was told to judge for longer, and that run then said that there is nothing to do."""
    monkeypatch.setattr(terminal, "show_verdict", lambda *_, **_more: None)
    monkeypatch.setattr(gate, "passes", lambda *_: (False, ""))
    result = judged(1.0, noise=10.0, misses=3.0)
    tree = Tree(tmp_path)
    folder = tree.dist("shop") / "0.2.0-1"
    folder.mkdir(parents=True)
    files = {Version(folder).place: result.tuned.sha256}
    (folder / MANIFEST).write_text(json.dumps({"files": files}), encoding="utf-8")
    point_current(Version(folder))
    shop: Any = SimpleNamespace(tree=tree, line="shop", options=Options(), console=None)
    model = ReportModel.model_construct(published=False, reason="", verify=result, previous=None)
    with pytest.raises(GateError, match="is this very library, ") as refused:
        gate.pass_gate(shop, model, cast(Any, None), tmp_path)
    assert refused.value.hint.startswith("nothing to do")


def test_a_failed_check_of_a_variant_has_its_logs_there_and_its_profile_without_it() -> None:
    said = advice(result_of(health=health_of("failed")), "shop+hardened")
    assert "in build/pipeline/shop+hardened/logs/verify/health" in said
    assert "mend the check in training/profiles/shop.toml" in said


def worse_than_before() -> Comparison:
    """Return a comparison with the current version in which one row is worse."""
    worse = ComparedRow(
        name="code", unit="bytes", before=1, after=2, ratio=2, judgement="worse", why="counted"
    )
    return Comparison.model_construct(version="0.2.0-1", rows=(worse,), workloads=())


def test_what_seems_worse_than_the_current_version_is_settled_before_it_is_timed_longer() -> None:
    model = ReportModel.model_construct(
        published=True,
        profile="shop",
        version="0.2.0-2",
        stays="code is worse",
        verify=judged(1.0, 8.0, 3.0),
        previous=worse_than_before(),
    )
    assert "diff -p shop 0.2.0-1 0.2.0-2 --measure`" in next_command(model)
    assert "reject -p shop 0.2.0-2" in next_command(model)


def test_a_refused_build_that_seems_worse_than_the_current_one_is_held_against_it_first() -> None:
    """What makes the library and its baseline slower alike is no loss by the verdict."""
    model = ReportModel.model_construct(
        published=False,
        profile="shop",
        version="0.2.0-2",
        verify=judged(1.0, 8.0, 3.0),
        previous=worse_than_before(),
    )
    first, then = next_command(model).split("; ", 1)
    assert "diff -p shop 0.2.0-1 0.2.0-2 --measure`" in first
    assert "pipeline build --profile shop" in then
    assert model.refused_for.endswith("; worse than 0.2.0-1 (code)")
    like_before = worse_than_before().model_copy(update={"rows": ()})
    alike = model.model_copy(update={"previous": like_before})
    assert next_command(alike) == then and "worse" not in alike.refused_for
