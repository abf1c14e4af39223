"""What is read from BOLT's words: how good a profile is, and its estimates."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.core.errors import DataError
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.core.store import Store
from pipeline.profile.load import load_profile
from pipeline.stages.bolt.optimize import _profile_quality, dyno_stats
from pipeline.stages.bolt.train import LOADER, started, summary
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.toolchain.find import Toolchain
from pipeline.toolchain.loader_log import tell_loaded

PROFILED = (
    "BOLT-INFO: 47 out of 131 functions in the binary (35.9%) have non-empty execution profile\n"
)
QUALITY = "BOLT-INFO: profile quality metrics (...): function CFG discontinuity {}%; call graph\n"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    console = BuildConsole(Console(file=io.StringIO()))
    profile = load_profile(Tree.here(), "mixed")
    return Workshop(Tree(tmp_path), profile, Toolchain(()), Store(tmp_path), console, Options())


def test_continuous_profile_is_good(shop: Workshop) -> None:
    said = PROFILED + QUALITY.format("0.00")
    assert _profile_quality(shop, said, exact=True) == "function CFG discontinuity 0.00%"


def test_lost_edges_are_refused_with_the_cure(shop: Workshop) -> None:
    with pytest.raises(DataError, match=r"discontinuous \(3\.70 %\)") as caught:
        _profile_quality(shop, PROFILED + QUALITY.format("3.70"), exact=True)
    assert "asm volatile" in caught.value.hint


def test_samples_may_miss_edges(shop: Workshop) -> None:
    assert "3.70" in _profile_quality(shop, PROFILED + QUALITY.format("3.70"), exact=False)


def test_older_bolt_does_not_measure_it(shop: Workshop) -> None:
    assert "unknown" in _profile_quality(shop, PROFILED, exact=True)


@pytest.mark.parametrize("said", ["", PROFILED.replace("47 out", "0 out")])
def test_empty_profile_is_refused(said: str, shop: Workshop) -> None:
    with pytest.raises(DataError, match="no function with a profile"):
        _profile_quality(shop, said, exact=True)


def test_estimates_before_and_after() -> None:
    said = """
             1231573 : executed forward branches
              134538 : taken branches

             1231069 : executed forward branches (-0.0%)
              134538 : taken branches (=)
                   7 : mentioned once
"""
    assert dyno_stats(said) == {
        "executed forward branches": [1231573, 1231069],
        "taken branches": [134538, 134538],
    }


def test_workloads_whose_processes_have_no_counts_are_named() -> None:
    """They were counted alone, and nobody knew that the server was among them."""
    lost = {"processes": 4, "lost": 3, "without": ["kvd", "sh"]}
    rows = {"shop": lost, "sort": {"processes": 2, "lost": 0}}
    said = summary({"branches": 1234, "workloads": rows})
    assert said == (
        "1,234 branches from 6 processes; without counts: kvd, sh of workload shop "
        "(killed, or ended by _exit, as sh and Go do)"
    )


def test_the_linker_tells_which_program_a_process_ran_last(tmp_path: Path) -> None:
    library = shutil.copy(_libm(), tmp_path / "libcounted.so")
    script = "mktemp -u; env -u LD_PRELOAD sort VERSION; exec sleep 0"
    run(
        ["sh", "-c", script],
        env={"LD_PRELOAD": str(library), **tell_loaded(tmp_path / LOADER)},
        timeout_s=60,
    )
    assert sorted(started(tmp_path / LOADER, Path(library)).values()) == ["mktemp", "sleep"]


def _libm() -> Path:
    """Return a library that any program can be preloaded with."""
    lines = run(["ldconfig", "-p"], env={"PATH": "/sbin:/usr/sbin"}).stdout.splitlines()
    return next(Path(line.split(" => ")[1]) for line in lines if "libm.so.6 " in line)


def test_without_lost_processes_none_is_named() -> None:
    none = {"branches": 5, "workloads": {"sort": {"processes": 2, "lost": 0}}}
    assert summary(none) == "5 branches from 2 processes"
