"""A build is chosen by the training, and judged by something else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.paths import Tree
from pipeline.judge.tasks import JUDGED, TRAINED
from pipeline.profile.load import load_profile
from pipeline.profile.schema import COUNTED_PROGRAMS
from pipeline.profile.workload import Command, Program
from pipeline.stages.build.workshop import Options
from pipeline.stages.proof.ablation import choosing_request
from pipeline.stages.proof.request import judge_request

ROOT = Path(__file__).resolve().parents[3]


def surroundings(tmp_path: Path) -> tuple[Any, Any, Any]:
    """Return shop, setup and baseline as far as a request needs them; nothing is built."""
    tree = Tree(ROOT)
    profile = load_profile(tree, "mixed")
    shop = SimpleNamespace(
        tree=tree,
        profile=profile,
        options=Options(),
        tools=SimpleNamespace(path=lambda name: Path("/usr/bin", name), has=lambda _: False),
        log=lambda stage, name: tmp_path / stage / f"{name}.log",
    )
    present = [w for w in profile.workload if isinstance(w, Program | Command)]
    setup = SimpleNamespace(
        training=tuple(w for w in present if w.role == "train"),
        verifying=tuple(w for w in present if w.role == "verify"),
    )
    library = SimpleNamespace(path=tmp_path / "libhakmem.so")
    plain = SimpleNamespace(
        library=library,
        program=lambda name: tmp_path / name,
        elsewhere=lambda name: (tmp_path / f"{name}-1",),
    )
    return shop, setup, plain


def test_what_chooses_a_build_does_not_judge_it(tmp_path: Path) -> None:
    shop, setup, plain = surroundings(tmp_path)
    choosing = choosing_request(shop, setup, plain, plain.library)
    judging = judge_request(shop, setup, plain, plain.library)
    training = {one.name for one in setup.training}
    assert {bench.name for bench in choosing.benches} <= training
    assert not {bench.name for bench in judging.benches} & training
    assert not {bench.argv for bench in choosing.benches} & {b.argv for b in judging.benches}
    assert choosing.tasks
    assert judging.tasks
    assert not {one.arguments for one in choosing.tasks} & {one.arguments for one in judging.tasks}
    assert not choosing.health


def test_real_programs_are_timed_as_a_whole_and_their_output_is_looked_at(tmp_path: Path) -> None:
    shop, setup, plain = surroundings(tmp_path)
    request = judge_request(shop, setup, plain, plain.library)
    timed = {bench.name: bench for bench in request.benches if bench.kind == "program"}
    assert len(timed) >= 6
    assert set(timed) <= {one.name for one in request.health}
    assert [bench.kind for bench in request.benches[: len(timed)]] == ["program"] * len(timed)
    for bench in timed.values():
        assert bench.argv[:3] == (str(tmp_path / "bench/command"), "--threads", "1")
    health = {one.name for one in request.health} - set(timed)
    assert health  # a command without a weight is looked at, and not timed
    loops = sum(bench.weight for bench in request.benches if bench.kind == "loop")
    programs = sum(bench.weight for bench in timed.values())
    assert programs / (programs + loops) == pytest.approx(0.5, abs=0.05)  # as verdicts.md says


def test_tasks_that_choose_and_tasks_that_judge_share_nothing() -> None:
    choosing, judging = ({(t.program, t.arguments) for t in ones} for ones in (TRAINED, JUDGED))
    assert choosing
    assert judging
    assert not choosing & judging


def test_a_profile_may_name_each_program_that_is_counted_for_the_key() -> None:
    assert sorted(task.name for task in JUDGED) == sorted(COUNTED_PROGRAMS)
