"""The I-cache key and programs of the profile itself: which are counted, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from judge_support import program_of, result_of
from pydantic import ValidationError

from pipeline.core.paths import Tree
from pipeline.judge.headline import headline, remarks
from pipeline.judge.icache import icache_key, uncounted
from pipeline.judge.request import Margins
from pipeline.judge.verdict import Verdict
from pipeline.profile.load import load_profile
from pipeline.profile.schema import Profile
from pipeline.profile.workload import Command
from pipeline.stages.proof.request import tasks_of

ROOT = Path("/tree")


def profile_with(**fields: object) -> Profile:
    """Return the profile mixed without its programs, with one more command."""
    known = load_profile(Tree.here(), "mixed")
    own = Command.model_validate(
        {"kind": "command", "name": "app", "role": "verify", "argv": ["/bin/echo", "x"], **fields}
    )
    loops = [w for w in known.workload if w.kind == "program"]
    return known.model_copy(update={"workload": (*loops, own)})


def test_programs_that_workloads_run_are_known_as_the_profiles_own() -> None:
    mixed = tasks_of(load_profile(Tree.here(), "mixed"), ROOT)
    assert {task.name for task in mixed if task.own} == {"gcc", "python3", "redis", "sqlite3"}
    assert not any(task.own for task in tasks_of(profile_with(), ROOT))


def test_a_command_that_is_counted_is_a_task_with_its_weight() -> None:
    *ours, own = tasks_of(profile_with(counted=True, weight=3.0, env={"A": "b"}), ROOT)
    assert (own.name, own.weight, own.folder) == ("app (own)", 3.0, ROOT)
    assert own.own and own.of_profile and own.env["A"] == "b"
    assert own.path is not None
    assert not any(task.of_profile for task in ours)


def test_a_command_may_name_the_program_that_is_counted_in_it() -> None:
    *_, own = tasks_of(profile_with(counted="kv", argv=["/bin/echo", "kv"]), ROOT)
    assert (own.name, own.counts, own.program) == ("kv (app)", "kv", "/bin/echo")
    *_, whole = tasks_of(profile_with(counted=True), ROOT)
    assert whole.counts is None


@pytest.mark.parametrize(
    ("counted", "threads", "twice"),
    [("kv", None, True), ("kv", 1, True), (True, None, True), (True, 4, True), (True, 1, False)],
)
def test_a_command_of_several_processes_or_threads_is_counted_twice(
    counted: str | bool, threads: int | None, twice: bool
) -> None:
    *ours, own = tasks_of(profile_with(counted=counted, weight=1.0, threads=threads), ROOT)
    assert own.may_differ == twice
    assert not any(task.may_differ for task in ours)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("/opt/bin/kv", "without its folder: 'kv'"),
        ("", "must be true, or the name of the program"),
        (1, "must be true, or the name of the program"),
    ],
)
def test_what_counted_may_not_be_is_said(wrong: object, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        profile_with(counted=wrong)


def test_the_program_that_is_timed_has_no_folder_either() -> None:
    assert profile_with(weight=3.0, time_of="kv")
    with pytest.raises(ValidationError, match="without its folder: 'kv'"):
        profile_with(weight=3.0, time_of="/opt/bin/kv")


def test_a_command_that_trains_is_not_counted() -> None:
    with pytest.raises(ValidationError, match="counted is for commands of role 'verify'"):
        profile_with(role="train", weight=1, counted=True)


def test_a_command_of_the_profile_counts_by_its_weight() -> None:
    own = program_of("app", 10.0, 11.0).model_copy(update={"weight": 3.0})
    key = icache_key([program_of("gcc", 10.0, 8.0), own], Margins())
    assert key.verdict is Verdict.NEUTRAL
    assert key.ratio is not None
    assert key.ratio.value == pytest.approx((0.8 * 1.1**3) ** (1 / 4))


def test_a_build_tells_what_could_not_be_counted_but_not_what_is_not_installed() -> None:
    why = {"status": "failed", "detail": "kv was killed"}
    failed = program_of("kv in app (own)", 1.0, None).model_copy(update=why)
    programs = [program_of("gcc", 10.0, 8.0), program_of("perl", 1.0, None), failed]
    assert uncounted(programs) == {"kv in app (own)": "kv was killed"}


def test_a_program_that_could_not_be_counted_is_named_in_the_verdict() -> None:
    """It vanished: the key told of the others alone, and so did the headline."""
    why = {"status": "failed", "detail": "its counts do not repeat: misses 30.0 % apart"}
    failed = program_of("kv (app)", 1.0, None).model_copy(update=why)
    result = result_of(programs=[program_of("gcc", 4.0, 3.0), failed])
    assert result.keys.icache.reason.endswith("; not counted: kv (app)")
    said = "Misses were not counted in kv (app): its counts do not repeat: misses 30.0 % apart."
    assert said in headline(result) and said in remarks(result)
    none = result_of(programs=[failed])
    assert "kv (app): its counts do not repeat" in none.keys.icache.reason
    assert not any("not counted in" in one for one in remarks(none))
    all_counted = result_of(programs=[program_of("gcc", 4.0, 3.0)])
    assert "not counted" not in all_counted.keys.icache.reason + headline(all_counted)


@pytest.mark.parametrize(
    ("own", "said"), [(False, True), (True, False), (None, False)], ids=["other", "own", "unknown"]
)
def test_the_headline_says_where_no_program_of_the_profile_was_counted(
    own: Literal[True, False] | None, said: bool
) -> None:
    programs = [program_of("gcc", 4.0, 3.0).model_copy(update={"own": own})]
    words = headline(result_of(programs=programs))
    assert ("counted in gcc: none of them is a command of this profile" in words) is said
