"""A change of a program that is larger than all that the library does in it is a doubt."""

from __future__ import annotations

import pytest
from judge_support import pairs, program_of, result_of, throughput_of

from pipeline.report.beyond import beyond_the_library


@pytest.mark.parametrize(
    ("ratio", "beyond"), [(1.05, True), (1.008, False), (1.0, False), (0.993, False), (0.95, True)]
)
def test_only_a_change_beyond_the_share_is_told(ratio: float, beyond: bool) -> None:
    timed = throughput_of(("python3",), python3=pairs(ratio, noise=0.1))
    counted = [program_of("python3", 4.0, 3.0)]  # the library has 1 % of its instructions
    found = list(beyond_the_library(result_of(timed, programs=counted)))
    assert [one.what.split(":")[0] for one in found] == (["python3"] if beyond else [])
    assert all("executes 1.0 % of its instructions" in one.detail for one in found)


@pytest.mark.parametrize("name", ["kv (own)", "redis-server (kv)"])
def test_a_counted_command_of_the_profile_is_the_workload_that_is_timed(name: str) -> None:
    timed = throughput_of(("kv",), kv=pairs(1.05, noise=0.1))
    counted = program_of(name, 4.0, 3.0).model_copy(update={"own": True})
    found = list(beyond_the_library(result_of(timed, programs=[counted])))
    assert [one.what.split(":")[0] for one in found] == ["kv"]


def test_what_was_not_counted_has_no_share() -> None:
    timed = throughput_of(("python3",), python3=pairs(1.5), loop=pairs(1.5))
    assert not list(beyond_the_library(result_of(timed, programs=[program_of("gcc", 4.0, 3.0)])))
