"""A real tuning of seconds: killed after its first measurement, it goes on without losing it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.paths import Tree
from pipeline.core.processor import machine
from pipeline.geometry.load import load_geometry
from pipeline.tune.moves import KINDS
from pipeline.tune.state import Journal

pytestmark = pytest.mark.e2e

TUNE = ("tune", "--profile", "tiny", "--tune-budget")


@pytest.fixture
def sandbox(built: Sandbox, tmp_path: Path) -> Sandbox:
    """A copy of the sandbox that is built, cut as the default."""
    shutil.copytree(built.root, tmp_path / "tree", symlinks=True)
    copy = Sandbox(tmp_path / "tree")
    copy.geometry.unlink()
    return copy


def measured_until_killed(sandbox: Sandbox, results: Path) -> int:
    """Start tunings, kill each as soon as it has measured something; return how much in the end.

    On a busy machine a short budget may end before that: then the next has a longer one.
    """
    for minutes in (1, 10, 100):
        child = sandbox.start(*TUNE, f"{minutes}m")
        while not Journal(results) and child.poll() is None:
            time.sleep(0.05)
        child.kill()
        said, _ = child.communicate()
        if found := len(Journal(results)):
            return found
    pytest.fail(said)


def test_a_tuning_that_is_killed_goes_on_and_says_what_it_found(sandbox: Sandbox) -> None:
    results = sandbox.root / "build/pipeline/tiny/tune/results.jsonl"
    before = measured_until_killed(sandbox, results)
    code, output = sandbox.run(*TUNE, "30s")
    assert code == 0, output
    # On a busy machine the budget may end before anything more is measured.
    assert " blocks by earlier runs)" in output
    assert "result: " in output
    assert len(Journal(results)) >= before
    tree, here = Tree(sandbox.root), machine().name
    load_geometry(tree, "tiny", here)  # refuses what is not legal
    assert not sandbox.geometry.exists(), "what one processor has measured is not for all"
    assert tree.geometry("tiny", here).exists() == ("\nwritten: " in output), output
    for kind in KINDS:  # each was tried, or could not be
        assert f"{kind}: nothing was measured" not in output, output
