"""Two trees with a build each, and `pipeline review` of one against the other."""

from __future__ import annotations

from pathlib import Path

import pytest
import report_support
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.paths import Tree
from pipeline.layout.check import Finding
from pipeline.release.contents import write_sums
from pipeline.report.files import write_reports
from pipeline.report.model import ReportModel

ROOT = Path(__file__).resolve().parents[3]
BASE = "0.1.0-base"
HEAD = "0.1.0-head"


def seal(folder: Path) -> None:
    """Write the digests of a version's files as they are now."""
    (folder / "SHA256SUMS").unlink(missing_ok=True)
    write_sums(folder)


def keep(
    tree: Tree, model: ReportModel, version: str, *, published: bool, line: str = "mixed"
) -> Path:
    """Keep a report as a build does; its library lies where it was judged, or is published."""
    library = tree.root / f"{version}.so"
    library.parent.mkdir(exist_ok=True)
    library.touch()
    tuned = model.verify.tuned.model_copy(update={"path": str(library), "sha256": version})
    verify = model.verify.model_copy(update={"tuned": tuned})
    named = model.model_copy(update={"version": version, "verify": verify})
    folder = tree.dist(line) / version if published else tree.reports(line) / version
    write_reports(folder, named)
    if published:
        (folder / "lib").mkdir()
        (folder / "lib" / "libhakmem.so").touch()
        (folder / "manifest.json").write_text("{}", encoding="utf-8")
        seal(folder)
    else:
        (folder.parent / "last").unlink(missing_ok=True)
        (folder.parent / "last").symlink_to(version)
    return folder


def make_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Make a tree whose last build was not published, and whose lists have two symbols."""
    tree = Tree(tmp_path / "head")
    lists = tree.layout("mixed")
    lists.mkdir(parents=True)
    (lists / "hot.txt").write_text("# first\nhak_malloc\nhak_free # why\n", encoding="utf-8")
    (lists / "cold.txt").write_text("hak_fatal\n", encoding="utf-8")
    tree.profiles.mkdir(parents=True)
    profile = (ROOT / "training/profiles/mixed.toml").read_text(encoding="utf-8")
    (tree.profiles / "mixed.toml").write_text(profile, encoding="utf-8")
    (tree.root / "VERSION").write_text("0.1.0\n", encoding="utf-8")
    contract = (
        Finding(rule="line", symbol="hak_malloc", text="starts at 0x10", broken=True),
        Finding(rule="cold", symbol="hak_fatal", text="lies in the hot range", broken=True),
        Finding(rule="listed", symbol="pop", text="12 % of all calls", broken=False),
    )
    head = report_support.bad().model_copy(update={"contract": contract})
    keep(tree, head, HEAD, published=False)
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tree


def make_base(tmp_path: Path) -> Path:
    """Publish a version in another tree, and return its folder."""
    return keep(Tree(tmp_path / "main"), report_support.good(), BASE, published=True)


def review(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["review", *map(str, words)], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.return_value, result.output
