"""What the headline of a build that was not published names as the figure that decided."""

from __future__ import annotations

import pytest
from judge_support import health_of, pairs, program_of, result_of, throughput_of

from pipeline.judge.decided import decided_by
from pipeline.judge.keys import suspects_of
from pipeline.judge.known import SelfCheck, SelfJudgement
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import may_publish
from pipeline.judge.samples import PairSample
from pipeline.judge.verdict import Verdict


def told(result: VerifyResult, *accepted: str) -> str:
    assert not may_publish(result, False, accepted)[0]
    return decided_by(result, accepted)


def of(misses: float = 4.0, **samples: list[PairSample]) -> VerifyResult:
    """Return a judgement of a program, git, and loops; 4.0 misses are those of the baseline."""
    return result_of(throughput_of(("git",), **samples), programs=[program_of("gcc", 4.0, misses)])


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (of(git=pairs(1.0), loop=pairs(0.9)), "throughput -5.1 %; loop -10.0 %"),
        (of(git=pairs(1.05), loop=pairs(0.98)), "loop -2.0 %"),
        (of(git=pairs(1.05), loop=pairs(1.0, rss=(8000, 12000))), "memory of loop +50.0 %"),
        (of(git=pairs(1.05), loop=pairs(1.05), misses=5.0), "I-cache misses +25.0 %"),
        (of(git=pairs(1.0), loop=pairs(1.0)), "no gain: throughput +0.0 %"),
        (of(git=pairs(1.0), loop=pairs(0.94, noise=60.0)), "loop perhaps -6.0 %"),
        (result_of(throughput_of(loop=pairs(0.9))), ""),
    ],
)
def test_what_decided_has_its_figure(result: VerifyResult, says: str) -> None:
    assert told(result) == says


def test_a_workload_that_may_be_anything_is_called_noisy() -> None:
    noisy = of(git=pairs(1.0), loop=pairs(0.94, noise=200.0))
    suspect = suspects_of(noisy.throughput)[0].ratio
    assert suspect.low < 0.8 and suspect.high > 1.2
    said = told(noisy)
    assert "loop too noisy to tell (-" in said and " to +" in said
    assert "perhaps" not in said


def test_an_open_change_has_its_interval() -> None:
    said = told(of(git=pairs(1.0, noise=20.0), loop=pairs(1.0, noise=20.0)))
    assert said.startswith("throughput -") and " to +" in said


def test_a_regression_that_was_accepted_decided_nothing() -> None:
    fat = of(git=pairs(1.05), loop=pairs(0.98, rss=(8000, 12000)))
    assert told(fat) == "loop -2.0 %; memory of loop +50.0 %"
    assert told(fat, "loop") == "memory of loop +50.0 %"


def test_a_loss_that_is_shown_is_not_called_possible_as_well() -> None:
    """It is shown to lose more than the margin, and perhaps more than its allowance."""
    result = of(git=pairs(1.12), loop=pairs(0.946, noise=8.0))
    assert result.keys.throughput.verdict is Verdict.INCONCLUSIVE
    assert told(result) == "loop -5.4 %"


def test_a_failed_health_check_stands_in_the_headline_already() -> None:
    result = result_of(throughput_of(loop=pairs(0.9)), health=health_of("failed"))
    assert told(result) == ""


def test_a_judge_that_sees_nothing_is_named() -> None:
    blurred = throughput_of(mixed=pairs(0.98, noise=20.0))
    same, slowed = (
        SelfJudgement.model_validate(
            {
                "name": name,
                "verdict": verdict,
                "expected": (right,),
                "alarming": (),
                "reason": "not decided",
                "throughput": blurred,
            }
        )
        for name, verdict, right in (
            ("same build", Verdict.NEUTRAL, Verdict.NEUTRAL),
            ("known slowdown", Verdict.INCONCLUSIVE, Verdict.NO_GO),
        )
    )
    blind = of(git=pairs(1.0), loop=pairs(1.0), misses=3.0).model_copy(
        update={"self_check": SelfCheck(same_build=same, slowdown=slowed)}
    )
    assert told(blind).startswith("the judge cannot tell the known slowdown: INCONCLUSIVE, -")
