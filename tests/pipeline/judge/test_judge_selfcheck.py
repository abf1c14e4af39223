"""The judge's check of itself: doses, right answers, and what a wrong one means for publishing."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from judge_support import (
    in_turn,
    pairs,
    program_counts,
    program_of,
    request_of,
    result_of,
    run_sample,
    throughput_of,
)

from pipeline.core.errors import ArtifactError
from pipeline.judge import bloat, selfcheck
from pipeline.judge.campaign import Runner
from pipeline.judge.counting.told import Told
from pipeline.judge.counts import ProgramCounts
from pipeline.judge.icache import icache_key
from pipeline.judge.known import CountedJudgement, SelfCheck, SelfJudgement
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import may_publish
from pipeline.judge.request import BenchCommand, Margins
from pipeline.judge.samples import PairSample
from pipeline.judge.schedule import Block, PlannedPair
from pipeline.judge.selfcheck import VARIABLE, calibrate, check, slowed_by
from pipeline.judge.tasks import Task
from pipeline.judge.verdict import Verdict

BENCH = BenchCommand(name="toy", argv=("/bench/toy",))


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""


def machine(per_round: float, noise: float = 0.01) -> Runner:
    """Return a machine on which each round makes an operation longer by ``per_round``."""
    rng = np.random.default_rng(1)

    def run_pair(bench: BenchCommand, planned: PlannedPair) -> PairSample:
        def rate(side: str) -> float:
            rounds = int(bench.side_env[side][VARIABLE])  # type: ignore[index]
            return 1e7 / (1 + per_round * rounds) * math.exp(rng.normal(0, noise))

        return PairSample(
            round=planned.round,
            first=planned.first,
            padding=planned.padding,
            together=True,
            baseline=run_sample(rate("baseline")),
            tuned=run_sample(rate("tuned")),
        )

    return in_turn(run_pair)


@pytest.mark.parametrize("per_round", [1e-3, 1e-5, 3e-8])
def test_the_dose_costs_two_per_cent(per_round: float) -> None:
    dose = calibrate(BENCH, machine(per_round), quiet)
    assert dose is not None
    assert dose.rounds * per_round == pytest.approx(0.02, rel=0.05)
    assert dose.probe_loss >= 1


def test_a_probe_that_doubles_the_time_sets_the_dose_at_once() -> None:
    pairs: list[int] = []
    noisy = machine(3e-4)

    def counted(bench: BenchCommand, block: Block) -> Sequence[PairSample]:
        pairs.extend(int(bench.side_env["tuned"][VARIABLE]) for _ in block)
        return noisy(bench, block)

    dose = calibrate(BENCH, counted, quiet)
    assert dose is not None
    assert pairs == [dose.probe_rounds] * selfcheck.PROBE_PAIRS


def test_a_workload_that_cannot_be_slowed_has_no_dose() -> None:
    assert calibrate(BENCH, machine(0.0), quiet) is None


def test_nothing_to_slow_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(selfcheck, "_runner", lambda *_: machine(0.0))
    with pytest.raises(ArtifactError, match="no workload becomes slower"):
        selfcheck.known_slowdown(request_of(["a"]), tmp_path / "slowed.so", quiet)


def test_both_sides_have_environments_of_equal_size() -> None:
    env = slowed_by(BENCH, 77).side_env
    assert len(env["baseline"][VARIABLE]) == len(env["tuned"][VARIABLE])
    assert (int(env["baseline"][VARIABLE]), int(env["tuned"][VARIABLE])) == (0, 77)


def test_the_slowdown_is_found_and_the_same_build_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a simulated machine where a round costs 1e-5 of an operation."""

    def simulated(*_: object) -> Runner:
        noisy = machine(1e-5)
        return lambda bench, block: noisy(bench if bench.side_env else slowed_by(bench, 0), block)

    monkeypatch.setattr(selfcheck, "_runner", simulated)
    request = dataclasses.replace(
        request_of(["a", "b"]), slowed=tmp_path / "slowed.so", self_check_s=0.2
    )
    found = check(request, (), quiet)
    assert found is not None
    assert found.slowdown.verdict is Verdict.NO_GO
    assert found.slowdown.passed
    assert [dose.workload for dose in found.slowdown.doses] == ["a", "b"]
    assert found.same_build.passed
    assert not found.same_build.wrong
    assert SelfCheck.model_validate_json(found.model_dump_json()) == found


def test_without_a_library_to_slow_down_nothing_is_checked() -> None:
    assert check(request_of(["a"]), (), quiet) is None


def test_a_check_has_four_cases_each_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = {
        "same_counts": CountedJudgement(
            name="same build, I-cache", verdict=NEUTRAL, reason="", expected=(), alarming=(),
            ratio=None,
        ),
        "bloat": CountedJudgement(
            name="known bloat, I-cache", verdict=NO_GO, reason="", expected=(), alarming=(),
            ratio=None,
        ),
    }  # fmt: skip
    monkeypatch.setattr(selfcheck, "same_build", lambda *_: judgement("same build", NEUTRAL))
    monkeypatch.setattr(selfcheck, "known_slowdown", lambda *_: judgement("known slowdown", NO_GO))
    monkeypatch.setattr(selfcheck, "same_counts", lambda *_: counted["same_counts"])
    monkeypatch.setattr(selfcheck, "known_bloat", lambda *_: counted["bloat"])
    found = check(dataclasses.replace(request_of(["a"]), slowed=Path("/slowed.so")), (), quiet)
    assert found is not None
    names = ["same build", "known slowdown", "same build, I-cache", "known bloat, I-cache"]
    assert [one.name for one in found.judgements] == names


def judgement(name: str, verdict: Verdict) -> SelfJudgement:
    same = name == "same build"
    return SelfJudgement(
        name="same build" if same else "known slowdown",
        verdict=verdict,
        expected=(Verdict.NEUTRAL, Verdict.INCONCLUSIVE) if same else (Verdict.NO_GO,),
        alarming=(Verdict.GO, Verdict.NO_GO) if same else (Verdict.GO, Verdict.NEUTRAL),
        reason="so it was measured",
        throughput=throughput_of(mixed=pairs(1.0)),
    )


def checked(ratio: float, same: Verdict, slowed: Verdict) -> VerifyResult:
    both = SelfCheck(
        same_build=judgement("same build", same), slowdown=judgement("known slowdown", slowed)
    )
    return result_of(throughput_of(mixed=pairs(ratio))).model_copy(update={"self_check": both})


GO, NEUTRAL, NO_GO, INCONCLUSIVE = Verdict


@pytest.mark.parametrize(
    ("ratio", "same", "slowed", "published"),
    [
        (1.05, NEUTRAL, NO_GO, True),
        (1.05, INCONCLUSIVE, NO_GO, True),
        (1.0, NEUTRAL, NO_GO, True),
        (1.05, GO, NO_GO, False),
        (1.05, NO_GO, NO_GO, False),
        (1.05, NEUTRAL, NEUTRAL, False),
        (1.05, NEUTRAL, GO, False),
        (1.05, NEUTRAL, INCONCLUSIVE, True),
        (1.0, NEUTRAL, INCONCLUSIVE, False),
    ],
)
def test_what_a_check_means_for_publishing(
    ratio: float, same: Verdict, slowed: Verdict, published: bool
) -> None:
    """The I-cache key is GO throughout; a judge that errs publishes nothing."""
    answer, reason = may_publish(checked(ratio, same, slowed), False)
    assert answer is published
    if not published:
        unseen = slowed is INCONCLUSIVE
        assert ("the judge's check of itself failed" if unseen else "the judge calls") in reason


class FakeCounter:
    """Counts a library whose misses rise by so many for each line of bloat; no process runs."""

    def __init__(self, per_line: dict[str, float], drift: float = 1.0, bend: float = 1.0) -> None:
        """``bend`` above 1: a few lines do less than their share of 64."""
        self.per_line, self.drift, self.bend = per_line, drift, bend
        self.logs = Path("/logs/programs")
        self.asked: list[dict[str, str]] = []

    def count(self, libraries: dict[str, Path], tasks: tuple[Task, ...], _: object) -> list[Told]:
        self.asked += [dict(task.env) for task in tasks]
        return [Told(task, dict.fromkeys(libraries, self.one(task))) for task in tasks]

    def one(self, task: Task) -> ProgramCounts:
        lines = 64 * (int(task.env.get(bloat.VARIABLE, "0")) / 64) ** self.bend
        misses = 10.0 * self.drift + lines * self.per_line[task.name] / 1000
        return program_counts(misses)


def bloated(
    monkeypatch: pytest.MonkeyPatch, counter: FakeCounter, tmp_path: Path
) -> CountedJudgement:
    monkeypatch.setattr(bloat, "whole_counter", lambda *_: counter)
    tasks = tuple(Task(name, name, (), path=Path("/bin/true")) for name in counter.per_line)
    request = dataclasses.replace(request_of(["a"]), tasks=tasks)
    programs = [program_of(name, 1000.0, 1000.0) for name in counter.per_line]
    return bloat.known_bloat(request, tmp_path / "slowed.so", programs, quiet)


def test_bloat_of_a_known_size_is_seen_by_the_icache_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counter = FakeCounter({"often": 200.0, "seldom": 10.0, "never": 0.0})
    found = bloated(monkeypatch, counter, tmp_path)
    assert (found.verdict, found.passed) == (Verdict.NO_GO, True)
    assert {dose.task: dose.lines for dose in found.doses} == {"often": 5, "seldom": 100}
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.10, abs=0.001)
    assert {len(env[bloat.VARIABLE]) for env in counter.asked} == {3}  # environments of one size


def test_a_dose_that_falls_short_is_corrected_by_one_more_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counter = FakeCounter({"bent": 200.0, "much": 20.0}, bend=1.4)
    found = bloated(monkeypatch, counter, tmp_path)
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.10, abs=0.02)
    (bent,) = (dose for dose in found.doses if dose.task == "bent")
    assert bent.probe_lines < bloat.PROBED_LINES
    assert bent.probe_rise < bloat.RISE - bloat.NEAR
    assert len(counter.asked) == 3 * len(counter.per_line) + 1  # "much" is near enough at once


def test_a_dose_that_is_near_enough_is_not_counted_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counter = FakeCounter({"often": 200.0, "seldom": 10.0})
    bloated(monkeypatch, counter, tmp_path)
    assert len(counter.asked) == 3 * len(counter.per_line)


def test_programs_that_the_library_serves_most_are_bloated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each program is counted three times and more: those that tell most are enough."""
    counter = FakeCounter({"little": 50.0, "much": 50.0, "most": 50.0})
    misses = {"little": 1.0, "much": 5.0, "most": 9.0}
    monkeypatch.setattr(bloat, "whole_counter", lambda *_: counter)
    tasks = tuple(Task(name, name, (), path=Path("/bin/true")) for name in misses)
    programs = [program_of(name, count, count) for name, count in misses.items()]
    request = dataclasses.replace(request_of(["a"]), tasks=tasks)
    found = bloat.known_bloat(request, tmp_path / "slowed.so", programs, quiet)
    assert {dose.task for dose in found.doses} == {"much", "most"}


def test_a_command_of_the_profile_is_not_counted_for_the_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It may take minutes, and what is checked is the judge."""
    counter = FakeCounter({"ours": 50.0, "own": 50.0})
    monkeypatch.setattr(bloat, "whole_counter", lambda *_: counter)
    tasks = (Task("ours", "ours", ()), Task("own", "own", (), of_profile=True))
    programs = [program_of("ours", 10.0, 10.0), program_of("own", 90.0, 90.0)]
    request = dataclasses.replace(request_of(["a"]), tasks=tasks)
    found = bloat.known_bloat(request, tmp_path / "slowed.so", programs, quiet)
    assert {dose.task for dose in found.doses} == {"ours"}
    same = bloat.same_counts(request, programs, quiet)
    assert "own" not in same.reason


def test_a_key_that_sees_no_bloat_stops_publishing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counter = FakeCounter({"deaf": 10.0})
    monkeypatch.setattr(
        bloat, "icache_key", lambda *_: icache_key([program_of("deaf", 1, 1)], Margins())
    )
    found = bloated(monkeypatch, counter, tmp_path)
    assert found.wrong
    checked = SelfCheck(
        same_build=judgement("same build", Verdict.NEUTRAL),
        slowdown=judgement("known slowdown", Verdict.NO_GO),
        bloat=found,
    )
    published, reason = may_publish(result_of().model_copy(update={"self_check": checked}), True)
    assert not published
    assert "the judge calls 10 % more misses NEUTRAL" in reason


@pytest.mark.parametrize(("speed", "published"), [(1.0, False), (1.05, True)])
@pytest.mark.parametrize("name", ["same_counts", "bloat"])
def test_a_check_of_counts_that_could_not_tell_takes_a_gain_in_speed(
    name: str, speed: float, published: bool
) -> None:
    """As one of time does: fewer misses are no gain where the judge of misses may be blind."""
    blind = CountedJudgement(
        name="known bloat, I-cache" if name == "bloat" else "same build, I-cache",
        verdict=INCONCLUSIVE,
        reason="no real program was counted",
        expected=(NO_GO,) if name == "bloat" else (NEUTRAL,),
        alarming=(),
        ratio=None,
    )
    checked = SelfCheck(
        same_build=judgement("same build", NEUTRAL), slowdown=judgement("known slowdown", NO_GO)
    ).model_copy(update={name: blind})
    result = result_of(throughput_of(mixed=pairs(speed)))
    assert may_publish(result, True)[0]
    assert may_publish(result.model_copy(update={"self_check": checked}), True)[0] is published


def test_misses_that_do_not_repeat_are_a_false_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    for drift, wrong in ((1.0, False), (1.01, False), (1.2, True)):
        counter = FakeCounter({"a": 0.0}, drift)
        monkeypatch.setattr(bloat, "whole_counter", lambda *_, same=counter: same)
        request = dataclasses.replace(request_of(["a"]), tasks=(Task("a", "a", ()),))
        found = bloat.same_counts(request, [program_of("a", 12.0, 10.0)], quiet)
        assert found.wrong is wrong
        assert found.passed is not wrong
