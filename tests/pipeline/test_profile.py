"""Profiles: every rule, and that each error names file, key and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import TINY

from pipeline.core.errors import ProfileError
from pipeline.core.paths import Tree
from pipeline.profile.load import load_profile, parse_profile, profile_names
from pipeline.profile.values import parse_count
from pipeline.profile.workload import Program


def parse(tmp_path: Path, text: str) -> str:
    """Return the message of the error that a profile text leads to."""
    path = tmp_path / "tiny.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        parse_profile(path)
    assert str(path) in caught.value.message
    return caught.value.message


def test_tiny_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    profile = parse_profile(path)
    assert [w.name for w in profile.training] == ["mixed-sizes", "shell"]
    assert [w.name for w in profile.verifying] == ["random-mixed", "sort-played", "health-sort"]


def test_profiles_of_this_repository_are_valid() -> None:
    names = profile_names(Tree.here())
    assert "mixed" in names
    for name in names:
        assert load_profile(Tree.here(), name).name == name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight = 2", "wieght = 2", r'workload "mixed-sizes", wieght: unknown key'),
        ("weight = 2", "weight = 0", r'"mixed-sizes", weight: is 0; .*greater than 0'),
        ("weight = 2", "", r'"mixed-sizes", weight: is missing'),
        ('role = "train"', 'role = "trian"', r"role: is 'trian'; .*'train' or 'verify'"),
        ('kind = "command"', 'kind = "comand"', r"'program', 'command'"),
        (
            "training/mixed_sizes",
            "bench/mixed_sizes",
            r"role 'train' takes programs from training/",
        ),
        ("bench/random_mixed", "training/random_mixed", r"role 'verify' takes .* from bench/"),
        ('ops = "100k"', 'ops = "100 thousand"', r'ops: is .*such as 5000, "200k" or "20M"'),
        ('ops = "100k"', "ops = 0", r"ops: is 0; must be a count above 0"),
        ('ops = "100k"', 'sizes = [64, 16]\nops = "100k"', r"the smallest size comes first"),
        ("schema_version = 1", "schema_version = 2", r"schema_version: is 2; .* 1"),
        ('name = "tiny"', 'name = "other"', r"name: is 'other'; must be 'tiny', like the file"),
        (
            'must_be_hot = ["hak_malloc", "hak_free"]',
            "must_be_hot = []",
            r"must_be_hot: .*at least 1",
        ),
        ('name = "shell"', 'name = "mixed-sizes"', r"two workloads are named mixed-sizes"),
        (
            "chain = false",
            "pairs = 4",
            r"gate, pairs: is 4; .*greater than or equal to 10",
        ),
        ("chain = false", "pairs = 11", r"gate, pairs: is 11; .*multiple of 2"),
        ("chain = false", "icache_margin = 5", r"icache_margin: is 5; .*less than 1"),
        ('sort | tail -n 1"]\nweight = 1', 'sort | tail -n 1"]', r"needs a weight"),
        ('sha256sum"]', 'sha256sum"]\nthreads = 1', r"for commands that are timed"),
        ('sha256sum"]', 'sha256sum"]\nallowance = 0.1', r"for commands that are timed"),
        ("schema_version = 1", "schema_version = ", r"not valid TOML: .*line 2"),
        pytest.param(
            "schema_version = 1",
            f"schema_version = {'[' * 100_000}",
            r"not valid TOML: it is nested too deeply",
            id="nested",
        ),
    ],
)
def test_each_mistake_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in TINY
    assert re.search(message, parse(tmp_path, TINY.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("text", "line"),
    [('a = "x', 1), ("a = 1\nb = [1,\n2,\n", 3), ("a = 1\n[[workload", 2), ("", 1)],
)
def test_a_file_that_ends_too_early_is_named_with_its_last_line(
    text: str, line: int, tmp_path: Path
) -> None:
    message = parse(tmp_path, text)
    if text:
        assert f"at line {line}, the end of the file" in message
    else:
        assert "schema_version: is missing" in message


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(ProfileError, match="it is not UTF-8"):
        parse_profile(path)


def test_same_workload_must_not_train_and_verify(tmp_path: Path) -> None:
    again = TINY.replace(
        '["sh", "-c", "seq 5000 | sort -r | sha256sum"]',
        '["sh", "-c", "seq 2000 | sort | tail -n 1"]',
    )
    assert "both trains and verifies: shell, health-sort" in parse(tmp_path, again)


@pytest.mark.parametrize("role", ["train", "verify"])
def test_both_roles_are_needed(role: str, tmp_path: Path) -> None:
    blocks = TINY.split("[[workload]]")
    text = "[[workload]]".join(b for b in blocks if f'role = "{role}"' not in b)
    assert "needs role = " in parse(tmp_path, text)


def test_many_mistakes_are_shown_up_to_five(tmp_path: Path) -> None:
    message = parse(tmp_path, TINY + "".join(f"x{n} = 1\n" for n in range(9)))
    assert len(re.findall("unknown key", message)) == 5
    assert message.endswith("and 4 more")


@pytest.mark.parametrize(
    ("text", "count"), [(5, 5), ("5", 5), ("200k", 200_000), ("2M", 2_000_000)]
)
def test_counts(text: object, count: int) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize("text", ["", "k", "1.5M", "-3", True, 0, "10G"])
def test_no_counts(text: object) -> None:
    with pytest.raises(ValueError, match="count above 0"):
        parse_count(text)


def test_sizes_become_variables() -> None:
    program = Program.model_validate(
        {
            "kind": "program",
            "name": "x",
            "role": "verify",
            "program": "bench/x",
            "ops": "1k",
            "quick_ops": 10,
            "sizes": (16, 1024),
            "weight": 1,
            "args": ("--slots", "4"),
        }
    )
    assert program.environment() == {"HAKMEM_BENCH_MIN_SIZE": "16", "HAKMEM_BENCH_MAX_SIZE": "1024"}
    assert program.arguments(10) == ("--slots", "4", "--ops", "10")


def test_unknown_profile_proposes_a_near_one() -> None:
    with pytest.raises(ProfileError, match=r"unknown profile 'mixd'; known: .*mixed") as caught:
        load_profile(Tree.here(), "mixd")
    assert caught.value.hint == "did you mean --profile mixed?"


@pytest.mark.parametrize(("name", "shown"), [("zzz", "zzz"), ("../zzz", "NAME")])
def test_a_profile_that_resembles_none_gets_the_command_that_makes_it(
    name: str, shown: str
) -> None:
    with pytest.raises(ProfileError, match="unknown profile") as caught:
        load_profile(Tree.here(), name)
    assert f"`.venv/bin/pipeline init {shown} -- YOUR PROGRAM` makes a new" in caught.value.hint
