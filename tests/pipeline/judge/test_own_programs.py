"""The I-cache key and programs of the profile itself: which are counted, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from conftest import shipped
from judge_support import pairs, program_of, result_of, throughput_of
from pydantic import ValidationError

from pipeline.core.paths import Tree
from pipeline.judge.advice import advice
from pipeline.judge.counts import RealProgram
from pipeline.judge.decided import decided_by
from pipeline.judge.gained import gains
from pipeline.judge.headline import headline, remarks
from pipeline.judge.icache import counts_own, icache_key, uncounted
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import may_publish
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
    assert ("counted in gcc: no verify command of this profile runs any of these" in words) is said


def of_profile(name: str, misses: tuple[float, float | None], *, own: bool | None) -> RealProgram:
    """Return a program with so many thousand misses of which a record tells whose it is."""
    return program_of(name, *misses).model_copy(update={"own": own})


def elsewhere(speed: float = 1.0, noise: float = 1.0) -> VerifyResult:
    """Return a build with fewer misses in a program that the profile does not run."""
    timed = throughput_of(mixed=pairs(speed, noise=noise))
    return result_of(timed, programs=[of_profile("gcc", (4.0, 3.0), own=False)])


FEWER = (4.0, 3.0)


@pytest.mark.parametrize(
    ("owns", "said"),
    [([False, False], False), ([False, True], True), ([None, False], None), ([], False)],
)
def test_a_result_tells_whether_a_program_of_the_profile_was_counted(
    owns: list[bool | None], said: bool | None
) -> None:
    programs = [of_profile(f"p{n}", FEWER, own=own) for n, own in enumerate(owns)]
    uncountable = of_profile("app (own)", (4.0, None), own=True)
    assert counts_own([*programs, uncountable]) is said


@pytest.mark.parametrize(
    ("speed", "noise", "other"),
    [(1.0, 1.0, "--allow-neutral` publishes it"), (1.015, 4.0, "; as to speed, `.venv/bin/")],
)
def test_fewer_misses_in_other_programs_alone_publish_nothing(
    speed: float, noise: float, other: str
) -> None:
    """A profile of one program was published for what gcc and three others have gained."""
    result = elsewhere(speed, noise)
    keys = result.keys
    assert (keys.icache.verdict, keys.throughput.not_worse) == (Verdict.GO, True)
    assert may_publish(result, False) == (
        False,
        "I-cache is GO, which is no gain here: misses were counted in gcc, and no verify command "
        "of this profile runs any of these; counted = true in a verify command counts its "
        "program, too (--allow-neutral would accept this)",
    )
    published, reason = may_publish(result, True)
    assert published
    assert reason.startswith("no gain is shown in this profile's programs, none is worse")
    assert gains(result) == ()
    assert "no gain: fewer I-cache misses, but in no program of its own" in decided_by(result)
    said = advice(result, "shop")
    assert "put `counted = true` into a verify command of training/profiles/shop.toml" in said
    assert other in said


def test_fewer_misses_publish_where_one_counted_program_is_the_profiles_own() -> None:
    programs = [of_profile("gcc", FEWER, own=False), of_profile("app (own)", FEWER, own=True)]
    result = result_of(throughput_of(mixed=pairs(1.0)), programs=programs)
    published, reason = may_publish(result, False)
    assert published and reason.startswith("I-cache is GO: I-cache misses of the library inside")
    assert gains(result) == ("fewer I-cache misses",)


def test_another_gain_publishes_and_misses_elsewhere_are_told_beside_it() -> None:
    faster = elsewhere(1.05)
    published, reason = may_publish(faster, False)
    assert published and reason.startswith("throughput is GO")
    assert "I-cache is GO, which is no gain here" in reason
    assert gains(faster) == ("speed",)


def test_more_misses_in_other_programs_stop_a_build_all_the_same() -> None:
    more = [of_profile("gcc", (4.0, 5.0), own=False)]
    published, reason = may_publish(result_of(programs=more), True)
    assert not published and "I-cache is NO-GO" in reason


def test_a_program_of_the_profile_that_could_not_be_counted_is_named_with_its_reason() -> None:
    """To say `counted = true` would send somebody to do what is done."""
    why = {"status": "failed", "detail": "not done after 300 s"}
    failed = of_profile("app (own)", (4.0, None), own=True).model_copy(update=why)
    programs = [of_profile("gcc", FEWER, own=False), failed]
    result = result_of(throughput_of(mixed=pairs(1.0)), programs=programs)
    published, reason = may_publish(result, False)
    assert not published and "app (own) could not be counted: not done after 300 s" in reason
    said = advice(result, "shop")
    assert "app (own) could not be counted: mend that in training/profiles/shop.toml" in said
    assert "counted = true" not in reason + said


def test_a_record_keeps_the_fact_and_an_older_one_is_read_as_before() -> None:
    result = elsewhere()
    kept = result.model_dump_json()
    assert VerifyResult.model_validate_json(kept) == result
    assert not may_publish(VerifyResult.model_validate_json(kept), False)[0]
    fields = json.loads(kept)
    del fields["own_counted"]
    older = VerifyResult.model_validate(fields)
    assert older.own_counted is None
    assert may_publish(older, False)[0] and gains(older) == ("fewer I-cache misses",)


OWN = {
    "c6-heavy": set(),
    "c7-large": set(),
    "compiler": {"gcc"},
    "interpreter": {"python3"},
    "key-value": {"redis", "redis-server (health-redis)"},
    "mixed": {"gcc", "python3", "redis", "sqlite3"},
    "server": {"python3"},
}


@pytest.mark.parametrize("name", shipped())
def test_which_counted_programs_are_those_of_a_committed_profile(name: str) -> None:
    """By its verify commands: what only trains, or is only played back, is not shown anything."""
    tasks = tasks_of(load_profile(Tree.here(), name), ROOT)
    assert {task.name for task in tasks if task.own} == OWN[name]


def test_training_a_program_does_not_make_it_one_that_is_judged() -> None:
    profile = profile_with()
    trained = Command.model_validate(
        {"kind": "command", "name": "t", "role": "train", "argv": ["python3", "x"], "weight": 1}
    )
    both = profile.model_copy(update={"workload": (*profile.workload, trained)})
    assert not any(task.own for task in tasks_of(both, ROOT))
