"""What was decided of a version after it was judged stands first in its report."""

from __future__ import annotations

from pathlib import Path

import pytest
import report_support
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.errors import VersionError
from pipeline.core.paths import Tree
from pipeline.release.marks import lift, reject, set_aside
from pipeline.release.version import Version, point_current
from pipeline.report.files import write_reports

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    tree.profiles.mkdir(parents=True)
    profile = (ROOT / "training/profiles/mixed.toml").read_text(encoding="utf-8")
    (tree.profiles / "mixed.toml").write_text(profile, encoding="utf-8")
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def publish(tree: Tree, name: str) -> Version:
    folder = tree.dist("mixed") / name
    write_reports(folder, report_support.good().model_copy(update={"version": name}))
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    return Version(folder)


def first_line(*words: str) -> str:
    result = CliRunner().invoke(cli, ["report", *words], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output.splitlines()[0]


@pytest.mark.parametrize("form", ["term", "md"])
def test_a_rejection_and_a_rollback_are_said_first(tree: Tree, form: str) -> None:
    old, new = publish(tree, "1.0-aa11"), publish(tree, "1.0-bb22")
    point_current(old)
    plain = first_line(new.name, "--format", form)
    assert "hakmem 1.0-bb22" in plain
    set_aside(new, old)
    assert first_line(new.name, "--format", form).startswith("set aside by a rollback on ")
    lift(tree.dist("mixed"))
    reject(new, "redis grows")
    said = first_line(new.name, "--format", form)
    assert said.startswith("REJECTED on ") and said.endswith(": redis grows")
    assert "hakmem 1.0-aa11" in first_line("--format", form)


def test_where_nothing_is_published_the_build_that_was_judged_is_named(tree: Tree) -> None:
    with pytest.raises(VersionError, match="nothing is published") as bare:
        first_line()
    assert "report last" not in bare.value.hint
    folder = tree.reports("mixed") / "1.0-cc33"
    write_reports(folder, report_support.bad())
    (folder.parent / "last").symlink_to(folder.name)
    with pytest.raises(VersionError, match="nothing is published") as judged:
        first_line()
    assert "`.venv/bin/pipeline report last -p mixed` shows the build" in judged.value.hint
