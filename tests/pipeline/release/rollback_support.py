"""A tree with two published versions, and the commands that go back to the older one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.digest import digest_file
from pipeline.core.paths import Tree
from pipeline.release.current import point_current
from pipeline.release.version import Version

OLD, BAD = "1.0-aa11", "1.0-bb22"


def make(tree: Tree, name: str, created: str, mode: str = "default") -> Version:
    folder = tree.dist("p") / name
    (folder / "lib").mkdir(parents=True)
    library = folder / "lib" / "libhakmem.so"
    library.write_text(name, encoding="utf-8")
    manifest = {
        "created": created,
        "files": {"lib/libhakmem.so": digest_file(library)},
        "inputs": f"inputs of {name}",
        "verdict": {"mode": mode, "throughput": "GO", "icache": "GO"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    files = ("lib/libhakmem.so", "manifest.json")
    sums = "".join(f"{digest_file(folder / file)}  {file}\n" for file in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return Version(folder)


def tree_of_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    make(tree, OLD, "2026-01-01")
    point_current(make(tree, BAD, "2026-01-02"))
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def version(tree: Tree, name: str) -> Version:
    return Version(tree.dist("p") / name)


class Killed(BaseException):
    """Ends a command as a kill does: nothing catches it."""


def kill(*_: object) -> None:
    """Stand for a step that is not reached."""
    raise Killed


def type_(*arguments: str) -> str:
    """Run a command in this process; whatever it raises passes through."""
    result = CliRunner().invoke(cli, [*arguments, "--profile", "p"], catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output
