"""Two trainings of one library count alike: no clock, thread or address decides what a build is."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.preload import preload
from pipeline.core.process import run
from pipeline.core.store import Store
from pipeline.profile.workload import Program
from pipeline.stages.build.baseline import Baseline, baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.instrument import instrument
from pipeline.stages.pgo.merge import merge
from pipeline.stages.pgo.train import train

HANDOVER = Program(
    kind="program",
    name="handover",
    role="train",
    program="training/handover",
    args=("--threads", "3"),
    ops=20_000,
    quick_ops=20_000,
    weight=1,
)
# What a program frees goes back to the system later, when it comes by: how many pages have.
FREE_AND_WAIT = """
import ctypes, json, time
def use(blocks):
    return len([bytes(5000) for _ in range(blocks)])
def purged():
    text = ctypes.create_string_buffer(1 << 16)
    ctypes.CDLL(None).hak_stats_json(text, len(text))
    return json.loads(text.value)["events"]["purged_pages"]
use(20_000)
before = purged()
for _ in range(4):
    time.sleep(0.6)
    use(2_000)
print(purged() - before)
"""
ASK = "import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))"


@pytest.fixture(scope="module")
def shop(built: Sandbox) -> Workshop:
    return built.workshop()


@pytest.fixture(scope="module")
def plain(shop: Workshop) -> Baseline:
    return baseline(shop, configure(shop))


def trained(shop: Workshop, plain: Baseline, folder: Path) -> tuple[dict[str, int], str]:
    """Return the factors, and all counts, of a training of its own."""
    setup = configure(shop)
    alone = tuple(one for one in setup.training if isinstance(one, Program))
    setup = replace(setup, training=(HANDOVER, *alone))
    library = instrument(shop, setup)
    fresh = replace(shop, store=Store(folder))
    training = train(fresh, setup, plain, library)
    tool = shop.tools.path("llvm-profdata")
    merged = merge(fresh, training).path
    return training.factors, run([tool, "show", "--all-functions", "--counts", merged]).stdout


def test_two_trainings_count_alike(shop: Workshop, plain: Baseline, tmp_path: Path) -> None:
    first, second = (trained(shop, plain, tmp_path / name) for name in "ab")
    assert "hak_malloc" in first[1]
    assert first == second


def ask(code: str, *preloaded: Path, **env: str) -> int:
    """Return the number that a Python program writes with these libraries."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**preload(*preloaded), **env},
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(done.stdout)


def test_a_trained_program_has_the_true_time(plain: Baseline) -> None:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    answer = ask(ASK, plain.library.path, plain.clock)
    assert before <= answer <= time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def test_a_trained_library_has_a_time_of_its_own(plain: Baseline) -> None:
    assert ask(FREE_AND_WAIT, plain.library.path, HAKMEM_PURGE_DELAY="1000") > 0
    assert ask(FREE_AND_WAIT, plain.library.path, plain.clock, HAKMEM_PURGE_DELAY="1000") == 0
