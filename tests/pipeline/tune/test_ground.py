"""The training workloads as commands, and how the time of a block is shared out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import ProfileError
from pipeline.judge.request import BenchCommand
from pipeline.profile.workload import Command, Program
from pipeline.tune.ground import Block, Places, block_of, commands, remembered_block

PLACES = Places(
    ours=lambda name: Path("/ours") / name,
    others=lambda name: Path("/usr/bin") / name,
    root=Path("/tree"),
    path="/usr/bin:/bin",
)


def program(name: str = "training/tree", role: str = "train", *args: str) -> Program:
    return Program.model_validate(
        {
            "kind": "program", "name": "p", "role": role, "program": name, "args": args,
            "ops": "2M", "quick_ops": "20k", "weight": 3, "sizes": [16, 64],
        }
    )  # fmt: skip


def command(**more: object) -> Command:
    fields = {"kind": "command", "name": "c", "role": "train", "argv": ["sort", "-r"], "weight": 1}
    return Command.model_validate(fields | more)


def test_programs_run_briefly_and_are_measured_as_a_whole() -> None:
    (found,) = commands([program()], PLACES, {"p": 1})
    assert found.argv == (
        "/ours/bench/command", "--threads", "1", "--in", str(PLACES.root),
        "/ours/training/tree", "--ops", "20000",
    )  # fmt: skip
    assert found.env["HAKMEM_BENCH_MIN_SIZE"] == "16"
    assert found.weight == 3


def test_a_replayed_trace_measures_itself() -> None:
    (found,) = commands([program("bench/replay", "train", "--trace", "/t")], PLACES, {"p": 1})
    assert found.argv == ("/ours/bench/replay", "--trace", "/t", "--ops", "20000")


def test_commands_start_in_the_tree_or_in_a_folder_of_their_own() -> None:
    inside, alone = commands([command(), command(scratch=True, env={"A": "b"})], PLACES, {})
    assert inside.argv == ("/ours/bench/command", "--in", "/tree", "/usr/bin/sort", "-r")
    assert alone.argv[:3] == ("/ours/bench/command", "/bin/sh", "-c")
    assert alone.argv[-2:] == ("/usr/bin/sort", "-r")
    assert alone.env == {"PATH": "/usr/bin:/bin", "A": "b"}


def test_workloads_that_judge_are_never_seen() -> None:
    with pytest.raises(ProfileError, match="tuning must not see it"):
        commands([program("bench/larson", "verify")], PLACES, {})


def bench(name: str, weight: float = 1.0) -> BenchCommand:
    return BenchCommand(name, ("/x",), weight=weight)


def test_a_block_takes_its_time_and_cheap_and_heavy_workloads_get_more_pairs() -> None:
    benches = [bench("cheap"), bench("dear"), bench("heavy", 4.0)]
    block = block_of(benches, {"cheap": 0.05, "dear": 0.8, "heavy": 0.2}, 8.0)
    assert block.left_out == ()
    assert 4.0 < block.seconds <= 8.0
    assert block.pairs["heavy"] > block.pairs["cheap"] > block.pairs["dear"]
    assert all(pairs % 2 == 0 and 2 <= pairs <= 20 for pairs in block.pairs.values())


def test_what_is_too_dear_for_a_block_is_left_out_dearest_first() -> None:
    benches = [bench("a"), bench("b"), bench("c")]
    block = block_of(benches, {"a": 0.1, "b": 3.0, "c": 20.0}, 5.0)
    assert block.left_out == ("c",)
    assert set(block.pairs) == {"a", "b"}
    alone = block_of([bench("only")], {"only": 100.0}, 5.0)
    assert alone.pairs == {"only": 2}


def test_a_block_is_remembered_as_long_as_all_else_is_the_same(tmp_path: Path) -> None:
    path, made = tmp_path / "state" / "block.json", []

    def make() -> Block:
        made.append(1)
        return Block(pairs={"a": 2 * len(made)}, left_out=(), seconds=1.0)

    first = remembered_block(path, "x", make)
    assert remembered_block(path, "x", make) == first
    assert remembered_block(path, "y", make).pairs == {"a": 4}
    path.write_text("{", encoding="utf-8")
    assert remembered_block(path, "y", make).pairs == {"a": 6}
