"""The command: what goes together, a dry run that writes nothing, and a real run of seconds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Sandbox
from learn_support import EMPTYING, GROWING

from pipeline.cli import cli
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.processor import machine
from pipeline.geometry.load import load_geometry

STATS = ("--stats", str(GROWING), "--stats", str(EMPTYING))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "either --pid PID or --stats FILE"),
        ((*STATS, "--pid", "1"), "either --pid PID or --stats FILE"),
        ((*STATS, "--keep", "x"), "--keep goes with --pid"),
        ((*STATS, "--dry-run", "--write"), "--write goes without --dry-run"),
    ],
)
def test_what_does_not_go_together_is_refused(words: tuple[str, ...], says: str) -> None:
    result = CliRunner().invoke(cli, ["learn", *words])
    assert result.exit_code == ExitCode.USAGE
    assert says in result.output


def test_a_dry_run_says_the_proposals_with_their_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cli.main(["learn", "-p", "mixed", "--cpu", "any", *STATS, "--dry-run"], standalone_mode=False)
    said = "".join(capsys.readouterr())
    assert "samples: 12; processes: 2" in said
    assert "proposal: warm_slabs=4: 4,204 runs of pages were retired" in said


def test_figures_of_a_process_at_rest_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Proposals were made of a process that nobody had asked anything, without a word."""
    first = GROWING.read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "rest.jsonl").write_text(f"{first}\n" * 3, encoding="utf-8")
    for stats, told in ((("--stats", str(tmp_path / "rest.jsonl")), True), (STATS, False)):
        words = ["learn", "-p", "mixed", "--cpu", "any", *stats, "--dry-run"]
        cli.main(words, standalone_mode=False)
        assert ("perhaps nobody asked the process" in "".join(capsys.readouterr())) is told


def test_options_that_are_not_at_their_default_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = [json.loads(one) for one in GROWING.read_text(encoding="utf-8").splitlines()]
    told = [json.dumps({**one, "options": {"purge_delay": "100"}}) for one in lines]
    (tmp_path / "other.jsonl").write_text("\n".join(told), encoding="utf-8")
    words = ["learn", "-p", "mixed", "--cpu", "any", "--stats", str(tmp_path / "other.jsonl")]
    cli.main([*words, "--dry-run"], standalone_mode=False)
    said = " ".join("".join(capsys.readouterr()).split())
    assert "HAKMEM_PURGE_DELAY was 100, and the default is 500" in said
    assert "default_purge_delay" not in said


@pytest.mark.e2e
def test_a_real_run_writes_only_what_the_judge_lets_pass(built: Sandbox, tmp_path: Path) -> None:
    shutil.copytree(built.root, tmp_path / "tree", symlinks=True)
    sandbox = Sandbox(tmp_path / "tree")
    tree, here = Tree(sandbox.root), machine().name
    before = load_geometry(tree, "tiny", here)
    words = ("learn", "--profile", "tiny", *STATS, "--budget", "30s")
    code, said = sandbox.run(*words)
    assert code == 0, said
    assert "warm_slabs=4: " in said
    assert load_geometry(tree, "tiny", here) == before, "without --write nothing is written"
    code, said = sandbox.run(*words, "--write")
    assert code == 0, said
    assert tree.geometry("tiny", here).exists() == ("\nwritten: " in said), said
    assert "result: nothing pays" in said or "\nwritten: " in said
    load_geometry(tree, "tiny", here)  # refuses what is not legal
