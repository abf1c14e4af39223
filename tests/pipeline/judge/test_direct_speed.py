"""A new library directly against the current one: speed over all workloads, and nothing else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from judge_support import pairs, request_of
from toys_support import make_toys, quiet, timed_alone

from pipeline.judge.direct_speed import DirectSpeed, direct_speed, over_all
from pipeline.judge.keys import throughput_key
from pipeline.judge.summarise import summarise
from pipeline.judge.verdict import Verdict


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toys(tmp_path_factory.mktemp("toys"))


def test_a_slower_library_is_shown_to_be_slower(built: Path, tmp_path: Path) -> None:
    asked = dataclasses.replace(timed_alone(built, tmp_path, "fast", "slow"), time_budget_s=20.0)
    found = direct_speed(asked, "1.0-aa11", "ab", quiet)
    assert found.key.verdict is Verdict.NO_GO
    assert found.key.ratio is not None and found.key.ratio.high < 0.99
    assert (found.version, found.library) == ("1.0-aa11", "ab")
    assert found.pairs >= 10 and found.seconds > 0
    assert DirectSpeed.model_validate_json(found.model_dump_json()) == found


def test_a_faster_library_is_not_called_slower(built: Path, tmp_path: Path) -> None:
    asked = dataclasses.replace(timed_alone(built, tmp_path, "slow", "fast"), time_budget_s=20.0)
    assert direct_speed(asked, "1.0-aa11", "ab", quiet).key.verdict is Verdict.GO


def test_a_loss_of_one_workload_does_not_end_the_runs(built: Path, tmp_path: Path) -> None:
    asked = timed_alone(built, tmp_path, "fast", "slow")
    tight = tuple(dataclasses.replace(one, allowance=0.001) for one in asked.benches)
    lifted = over_all(dataclasses.replace(asked, benches=tight))
    assert [one.allowance for one in lifted.benches] == [1.0]


def test_whatever_a_workload_loses_alone_is_no_verdict() -> None:
    """One that lost more than 99.9 % was a loser still."""
    alike = {f"w{number}": pairs(1.0) for number in range(4)}
    asked = over_all(request_of(["lost", *alike]))
    lost = dataclasses.replace(asked.benches[0], weight=1e-6)
    asked = dataclasses.replace(asked, benches=(lost, *asked.benches[1:]))
    samples = {"lost": pairs(0.0005), **alike}
    found = summarise(asked, samples, 1.0, 1, 1.0)
    assert throughput_key(found, asked.margins).verdict is Verdict.NEUTRAL
