"""`pipeline install` and `uninstall`: two at once below one prefix take turns."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from rollback_support import tree_of_two, type_

from pipeline.cli import cli
from pipeline.core.lock import folder_lock
from pipeline.release import install
from pipeline.release.install_plan import Plan
from pipeline.release.version import Version


def is_locked(folder: Path) -> bool:
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False


def test_files_are_put_and_removed_under_the_lock_of_the_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree_of_two(tmp_path / "tree", monkeypatch)
    prefix, seen = tmp_path / "prefix", []
    carry_out = install.carry_out

    def watched(plan: Plan, found: Version | None, say: Callable[[str], object]) -> None:
        seen.append(is_locked(prefix))
        carry_out(plan, found, say)

    monkeypatch.setattr(install, "carry_out", watched)
    type_("install", "-p", "p", "--prefix", str(prefix))
    assert (prefix / "lib/libhakmem.so").is_file()
    CliRunner().invoke(cli, ["uninstall", "--prefix", str(prefix)])
    assert seen == [True, True]
    assert not is_locked(prefix)
    assert list(prefix.iterdir()) == []


def test_a_dry_run_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree_of_two(tmp_path / "tree", monkeypatch)
    type_("install", "-p", "p", "--prefix", str(tmp_path / "prefix"), "--dry-run")
    assert not (tmp_path / "prefix").exists()


def test_who_waits_for_the_folder_says_so(tmp_path: Path) -> None:
    opened, said = os.open(tmp_path, os.O_RDONLY), []
    fcntl.flock(opened, fcntl.LOCK_EX)

    def let_go(words: str) -> None:
        said.append(words)
        os.close(opened)

    with folder_lock(tmp_path, let_go):
        assert is_locked(tmp_path)
    assert said == [f"another run installs or removes files below {tmp_path}; waiting for it"]


def test_a_folder_that_is_not_there_has_no_lock(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "none", print):
        assert not (tmp_path / "none").exists()
