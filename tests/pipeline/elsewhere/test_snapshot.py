"""The sources of a tree as one value: all that a build reads, wherever they are unpacked."""

from __future__ import annotations

import os
from pathlib import Path

from conftest import COPIED

from pipeline.core.paths import BUILT_FROM
from pipeline.elsewhere.snapshot import take, unpack


def tree_at(folder: Path) -> Path:
    for name, text in {
        "VERSION": "1.2.3\n",
        "allocator/a.c": "one",
        "layouts/mixed/cold.txt": "cold\n",
        "pipeline/__pycache__/a.pyc": "a cache",
        "build/pipeline/x": "made",
        "docs/a.md": "a page",
        "mine.trace": "a recording",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "layouts/other").mkdir()
    (folder / "layouts/other/cold.txt").symlink_to("../mixed/cold.txt")
    (folder / "bench").mkdir()
    (folder / "bench/run").write_text("#!/bin/sh\n")
    (folder / "bench/run").chmod(0o755)
    return folder


def test_it_has_what_sandboxes_build_from() -> None:
    assert sorted(BUILT_FROM) == sorted(COPIED)


def test_what_is_unpacked_is_what_was_taken(tmp_path: Path) -> None:
    tree = tree_at(tmp_path / "tree")
    outside = tmp_path / "outside.trace"
    outside.write_text("of another place")
    snapshot = take(tree, [tree / "mine.trace", outside])
    folder = unpack(snapshot, tmp_path / "place")
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert files == {
        *("VERSION", "allocator/a.c", "bench/run", "mine.trace"),
        *("layouts/mixed/cold.txt", "layouts/other/cold.txt"),
    }
    assert (folder / "layouts/other/cold.txt").read_text() == "cold\n"
    assert os.access(folder / "bench/run", os.X_OK)
    assert not os.access(folder / "VERSION", os.X_OK)
    assert take(folder, [folder / "mine.trace"]).digest == snapshot.digest


def test_the_same_snapshot_finds_what_was_built_and_another_begins_anew(tmp_path: Path) -> None:
    place = tmp_path / "place"
    first = unpack(take(tree_at(tmp_path / "tree")), place)
    (first / "build").mkdir()
    assert unpack(take(tmp_path / "tree"), place) == first
    assert (first / "build").is_dir()
    (tmp_path / "tree/allocator/a.c").write_text("two")
    second = unpack(take(tmp_path / "tree"), place)
    assert second != first
    assert not first.exists()
