"""--allow-regression also accepts a possible loss, and none that is shown to be too large."""

from __future__ import annotations

from judge_support import pairs, program_of, result_of, throughput_of

from pipeline.judge.accepted import accepted, accepting
from pipeline.judge.advice import advice
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import may_publish
from pipeline.judge.verdict import Verdict

PERHAPS = result_of(throughput_of(fast=pairs(1.2), slow=pairs(0.94, noise=60.0)))
SURELY = result_of(throughput_of(fast=pairs(1.2), slow=pairs(0.9)))


def test_what_the_advice_says_is_accepted() -> None:
    allowed, reason = may_publish(PERHAPS, False)
    assert not allowed and "not for each workload" in reason
    assert "--quick --allow-regression slow` accepts that" in advice(PERHAPS, "p", ("--quick",))
    allowed, reason = may_publish(PERHAPS, False, ("slow",))
    assert allowed
    assert "--allow-regression slow accepts its -6.00 %" in reason
    assert "perhaps more than it may lose (-5.0 %)" in reason


def brief_of(result: VerifyResult, *names: str) -> list[str]:
    return accepted(accepting(result, names), names)


def test_what_is_accepted_is_told_in_brief_and_a_possible_loss_as_possible() -> None:
    assert brief_of(PERHAPS, "slow") == ["slow, perhaps -6.0 %"]
    assert brief_of(PERHAPS, "fast") == []
    shown = result_of(throughput_of(fast=pairs(1.2), slow=pairs(0.98)))
    assert brief_of(shown, "slow") == ["slow -2.0 %"]
    assert brief_of(SURELY, "slow") == []


def test_the_reason_names_what_is_accepted_whatever_the_key_says() -> None:
    """Of a key that is not GO the reason quotes nothing."""
    level = throughput_of(one=pairs(1.05), slow=pairs(0.947, noise=8.0))
    result = result_of(level, programs=[program_of("gcc", 4.0, 3.0)])
    assert result.keys.throughput.verdict is Verdict.INCONCLUSIVE
    assert accepting(result, ("slow",)).keys.throughput.verdict is Verdict.NEUTRAL
    allowed, reason = may_publish(result, False, ("slow",))
    assert allowed and "throughput is NEUTRAL" in reason
    assert "--allow-regression slow accepts" in reason


def test_another_name_accepts_nothing() -> None:
    assert accepting(PERHAPS, ("fast", "throughput")) is PERHAPS


def test_a_loss_that_is_shown_beyond_the_allowance_is_lifted_by_that_alone() -> None:
    assert SURELY.keys.throughput.verdict is Verdict.NO_GO
    assert accepting(SURELY, ("slow",)) is SURELY
    assert not may_publish(SURELY, False, ("slow",))[0]


def test_the_whole_still_has_to_gain_or_not_to_lose() -> None:
    lost = result_of(throughput_of(one=pairs(0.97, noise=9.0), slow=pairs(0.94, noise=60.0)))
    assert not may_publish(lost, False, ("slow",))[0]


def test_a_neutral_whole_with_a_doubt_is_harmless_without_it() -> None:
    """The doubt alone keeps the key from NEUTRAL, as it would from GO."""
    level = result_of(throughput_of(one=pairs(1.05), slow=pairs(0.947, noise=8.0)))
    assert level.keys.throughput.verdict is Verdict.INCONCLUSIVE
    assert not level.keys.throughput.not_worse
    without = accepting(level, ("slow",)).keys.throughput
    assert (without.verdict, without.not_worse) == (Verdict.NEUTRAL, True)


def test_the_advice_names_all_that_would_have_to_be_accepted() -> None:
    slow = {name: pairs(0.94, noise=60.0) for name in ("slow", "slower")}
    two = result_of(throughput_of(fast=pairs(1.3), **slow))
    words = "--allow-regression slow --allow-regression slower"
    assert f"{words}` accepts that" in advice(two, "p") and "slow and slower do lose" in advice(
        two, "p"
    )
    assert may_publish(two, False, ("slow", "slower"))[0]


def test_what_is_accepted_already_is_not_asked_for_again() -> None:
    lost = result_of(throughput_of(fast=pairs(1.2), slow=pairs(0.98), slower=pairs(0.97)))
    words = ("--quick", "--allow-regression", "slow")
    said = advice(lost, "p", words)
    assert "--quick --allow-regression slow --allow-regression slower` accepts that" in said
