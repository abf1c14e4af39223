"""``pipeline release``: a version, its notes and its tag; and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UsageError
from pipeline.core.process import run
from pipeline.release.source import carry_out_release, plan_release

CHANGES = """# Changes

## Unreleased

### Added
- Something that a user notices.

## 0.1.0 (2026-01-31)

- The first one.
"""
PROJECT = """[project]
name = "x"
version = "0.1.0" # as in VERSION

[tool.y]
target-version = "py311"
"""


RECIPES = {
    "packaging/rust/Cargo.toml": '[package]\nversion = "0.1.0"\nedition = "2021"\n',
    "packaging/vcpkg/hakmem/vcpkg.json": '{\n  "name": "x",\n  "version": "0.1.0"\n}\n',
}


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return run(["git", "-C", root, *who, *arguments], timeout_s=60).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    (tmp_path / "VERSION").write_text("0.1.0\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    for name, text in RECIPES.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "A")
    git(tmp_path, "config", "user.email", "a@example.org")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_a_release_has_version_notes_and_tag(tree: Path) -> None:
    release = plan_release(tree, "0.2.0")
    assert release.notes == "### Added\n- Something that a user notices."
    carry_out_release(tree, release, "2026-02-03")
    assert (tree / "VERSION").read_text(encoding="utf-8") == "0.2.0\n"
    project = (tree / "pyproject.toml").read_text(encoding="utf-8")
    assert 'version = "0.2.0" # as in VERSION' in project
    assert 'target-version = "py311"' in project
    for name, text in RECIPES.items():
        assert (tree / name).read_text(encoding="utf-8") == text.replace("0.1.0", "0.2.0")
    changes = (tree / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n### Added\n" in changes
    assert git(tree, "status", "--porcelain") == ""
    assert "### Added\n- Something" in git(tree, "cat-file", "tag", "v0.2.0")
    assert git(tree, "rev-parse", "v0.2.0^{commit}") == git(tree, "rev-parse", "HEAD")


def test_after_a_release_there_is_nothing_to_release(tree: Path) -> None:
    carry_out_release(tree, plan_release(tree, "0.2.0"), "2026-02-03")
    with pytest.raises(UsageError, match="nothing under"):
        plan_release(tree, "0.3.0")


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "2", "v1.0.0", "1.0.0-rc1", "01.0.0"])
def test_a_version_that_is_none_or_not_newer_is_refused(tree: Path, version: str) -> None:
    with pytest.raises(UsageError):
        plan_release(tree, version)


def test_what_is_not_committed_is_named(tree: Path) -> None:
    (tree / "more").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="more"):
        plan_release(tree, "0.2.0")


def test_a_tree_without_git_is_refused(tree: Path) -> None:
    (tree / ".git").rename(tree.parent / "elsewhere")
    with pytest.raises(UsageError, match="not a git checkout"):
        plan_release(tree, "0.2.0")
