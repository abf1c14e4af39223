"""A damaged version that is written anew keeps its place among the others."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from rollback_support import BAD, OLD, tree_of_two
from rollback_support import version as version_of

from pipeline.core.errors import GateError
from pipeline.core.paths import Tree
from pipeline.release.contents import write_sums
from pipeline.release.marking import reject
from pipeline.release.mending import how_to_mend
from pipeline.release.version import Version
from pipeline.stages.publish import refusal
from pipeline.stages.publish.folder import clean_room, date_of, published_on

CREATED, JUDGED = "2026-01-02T10:00:09+00:00", "2026-01-02T10:00:01+00:00"


@pytest.fixture
def version(tmp_path: Path) -> Version:
    (tmp_path / "manifest.json").write_text(json.dumps({"created": CREATED}), encoding="utf-8")
    (tmp_path / "report.json").write_text("{}", encoding="utf-8")
    write_sums(tmp_path)
    return Version(tmp_path)


@pytest.mark.parametrize("name", ["report.json", "SHA256SUMS"])
def test_the_manifest_tells_the_date_where_another_file_is_damaged(
    version: Version, name: str
) -> None:
    (version.folder / name).unlink()
    assert published_on(version, JUDGED) == CREATED


def test_an_import_keeps_the_date_that_its_version_was_published_first(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"created": CREATED}), encoding="utf-8")
    origin = {"verdict_kept": True}
    release = MagicMock(inputs=tmp_path / "profile", rebuilt_from=origin)
    assert date_of(tmp_path / "new", release) == CREATED
    origin["verdict_kept"] = False
    assert date_of(tmp_path / "new", release) > CREATED


@pytest.mark.parametrize("text", ["", "{", '{"created": "2026-09-09T00:00:00+00:00"}'])
def test_the_moment_of_the_verdict_is_the_date_where_the_manifest_is_damaged(
    version: Version, text: str
) -> None:
    (version.folder / "manifest.json").write_text(text, encoding="utf-8")
    assert published_on(version, JUDGED) == JUDGED


def test_a_new_version_has_the_date_of_today(tmp_path: Path) -> None:
    assert published_on(Version(tmp_path / "new"), JUDGED) > JUDGED


def dirty(tmp_path: Path) -> Version:
    """Make a damaged version of a tree with two files that were not committed."""
    folder = tmp_path / "1.0-aa11"
    (folder / "profile").mkdir(parents=True)
    (folder / "profile" / "hot.txt").write_text("malloc\n", encoding="utf-8")
    (folder / "report.md").touch()
    changed = ["layouts/mixed/hot.txt", "allocator/slab/slab.c"]
    git = {"commit": "0123456789abcdef", "clean": False, "changed": changed}
    manifest = {"profile": "mixed", "git": git}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    write_sums(folder)
    (folder / "report.md").unlink()
    return Version(folder)


def test_what_was_not_committed_is_named_with_its_copy_in_the_version(tmp_path: Path) -> None:
    said = how_to_mend(dirty(tmp_path))
    assert (
        "`git checkout 0123456789ab`, then bring back what was not committed "
        "(layouts/mixed/hot.txt: a copy is profile/hot.txt of this version, "
        "allocator/slab/slab.c), then `./bootstrap build --profile mixed`; so does"
    ) in said


def test_a_copy_that_is_damaged_is_not_named(tmp_path: Path) -> None:
    version = dirty(tmp_path)
    (version.folder / "profile" / "hot.txt").write_text("free\n", encoding="utf-8")
    assert "(layouts/mixed/hot.txt, allocator/slab/slab.c)" in how_to_mend(version)


def test_a_rejected_version_stays_that_and_the_build_says_so(tmp_path: Path) -> None:
    version = dirty(tmp_path)
    assert "rejected" not in how_to_mend(version)
    reject(version, "bad")
    assert "it stays rejected, so either ends with exit code 8" in how_to_mend(version)


def test_a_build_mends_a_damaged_version_that_is_the_same_as_a_rejected_one(tree: Tree) -> None:
    rejected, twin = version_of(tree, BAD), version_of(tree, OLD)
    manifest = json.loads((twin.folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["inputs"] = f"inputs of {BAD}"
    (twin.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (twin.folder / "SHA256SUMS").unlink()
    write_sums(twin.folder)
    reject(rejected, "bad")
    shop = MagicMock(tree=tree, line="p")
    with pytest.raises(GateError):
        refusal.refuse_rejected_inputs(shop, None)
    twin.library.write_text("damaged", encoding="utf-8")
    refusal.refuse_rejected_inputs(shop, None)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setattr(refusal, "inputs_of", lambda *_: f"inputs of {BAD}")
    return tree_of_two(tmp_path, monkeypatch)


def test_what_killed_runs_have_left_of_any_version_goes(tmp_path: Path) -> None:
    (tmp_path / ".tmp-1.0-aa11" / "lib").mkdir(parents=True)
    (tmp_path / "1.0-bb22").mkdir()
    room = clean_room(tmp_path / "1.0-cc33")
    assert (room.parent, room.name) == (tmp_path, ".tmp-1.0-cc33")
    assert [one.name for one in tmp_path.iterdir()] == ["1.0-bb22"]
