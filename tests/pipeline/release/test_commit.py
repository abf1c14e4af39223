"""The commit of a tree, in the manifest."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

from pipeline.core.paths import BUILT_FROM, Tree
from pipeline.core.process import run
from pipeline.release.commit import commit_of, differs_since
from pipeline.stages.publish.sources import built_from

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org")


def test_commit_and_changes_are_told(tmp_path: Path) -> None:
    assert commit_of(tmp_path) is None
    (tmp_path / "a.c").write_text("int a;\n", encoding="utf-8")
    for arguments in (("init", "-q"), ("add", "a.c"), ("commit", "-q", "-m", "first")):
        run([*GIT, *arguments], cwd=tmp_path)
    found = commit_of(tmp_path)
    assert found is not None
    assert len(found["commit"]) == 40
    assert (found["clean"], found["changed"]) == (True, [])
    (tmp_path / "a.c").write_text("int b;\n", encoding="utf-8")
    (tmp_path / "b.c").touch()
    changed = commit_of(tmp_path)
    assert changed is not None
    assert (changed["commit"], changed["clean"]) == (found["commit"], False)
    assert changed["changed"] == ["a.c", "b.c"]


def test_new_files_that_no_build_reads_do_not_count_for_a_build(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    for arguments in (("init", "-q"), ("add", "a.c"), ("commit", "-q", "-m", "first")):
        run([*GIT, *arguments], cwd=tmp_path)
    (tmp_path / "log.txt").touch()
    logged = commit_of(tmp_path, BUILT_FROM)
    assert logged is not None
    assert (logged["clean"], logged["changed"]) == (True, [])
    (tmp_path / "allocator").mkdir()
    (tmp_path / "allocator/new.c").touch()
    (tmp_path / "a.c").write_text("int b;\n", encoding="utf-8")
    built = commit_of(tmp_path, BUILT_FROM)
    assert built is not None
    assert built["changed"] == ["a.c", "allocator/"]


def test_new_files_count_whatever_they_are_called_and_git_is_set_to(tmp_path: Path) -> None:
    (tmp_path / "allocator").mkdir()
    (tmp_path / "allocator/a.c").touch()
    settings = ("config", "status.showUntrackedFiles", "no")
    for arguments in (("init", "-q"), settings, ("add", "."), ("commit", "-q", "-m", "first")):
        run([*GIT, *arguments], cwd=tmp_path)
    (tmp_path / "allocator/a new one.c").touch()
    built = commit_of(tmp_path, BUILT_FROM)
    assert built is not None
    assert not built["clean"]


def test_a_new_profile_counts_for_builds_of_that_profile_alone(tmp_path: Path) -> None:
    (tmp_path / "training/profiles").mkdir(parents=True)
    (tmp_path / "training/profiles/mixed.toml").touch()
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
        run([*GIT, *arguments], cwd=tmp_path)
    for name in ("shop", "other"):
        (tmp_path / f"training/profiles/{name}.toml").touch()
    (tmp_path / "training/profiles/mixed.toml").write_text("# other\n", encoding="utf-8")
    built = commit_of(tmp_path, BUILT_FROM, profile="shop")
    assert built is not None
    assert built["changed"] == ["training/profiles/mixed.toml", "training/profiles/shop.toml"]


def test_it_is_known_whether_some_folders_differ_from_a_commit(tmp_path: Path) -> None:
    for name in ("allocator", "docs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").touch()
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
        run([*GIT, *arguments], cwd=tmp_path)
    (tmp_path / "docs/a.c").write_text("changed", encoding="utf-8")
    assert not differs_since(tmp_path, "HEAD", ["allocator", "layouts"])
    (tmp_path / "allocator/a.c").write_text("changed", encoding="utf-8")
    assert differs_since(tmp_path, "HEAD", ["allocator", "layouts"])
    assert not differs_since(tmp_path, "0123456", ["allocator"]), "nobody knows"


def test_a_folder_inside_of_another_checkout_has_no_commit_of_its_own(tmp_path: Path) -> None:
    run([*GIT, "init", "-q"], cwd=tmp_path)
    (tmp_path / "tree").mkdir()
    assert commit_of(tmp_path / "tree") is None


def edited_tree(root: Path) -> MagicMock:
    """Return a workshop of a tree whose lists and sources are not as committed."""
    files = [root / name for name in ("layouts/p/hot.txt", "allocator/a.c")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
        run([*GIT, *arguments], cwd=root)
    for file in files:
        file.write_text("changed\n", encoding="utf-8")
    shop = MagicMock(tree=Tree(root))
    shop.profile.name = shop.profile.layout.name = "p"
    return shop


def rebuilt(folder: Path, git: object, **differences: str) -> Any:
    """Return a release that was built from a bundle in ``folder``."""
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"git": git}), encoding="utf-8")
    origin = {"differences": differences}
    return cast("Any", SimpleNamespace(inputs=folder / "profile", rebuilt_from=origin))


def test_a_rebuild_has_the_commit_of_its_bundle(tmp_path: Path) -> None:
    shop = edited_tree(tmp_path / "tree")
    git = {"commit": "c" * 40, "clean": False, "changed": ["layouts/p/cold.txt"]}
    assert built_from(shop, rebuilt(tmp_path / "bundle", git)) == git
    own = cast("Any", SimpleNamespace(inputs=None, rebuilt_from=None))
    assert (built_from(shop, own) or {})["changed"] == ["allocator/a.c", "layouts/p/hot.txt"]


def test_a_rebuild_of_other_sources_leaves_out_what_its_bundle_brought(tmp_path: Path) -> None:
    shop = edited_tree(tmp_path / "tree")
    git = {"commit": "c" * 40, "clean": True, "changed": []}
    found = built_from(shop, rebuilt(tmp_path / "bundle", git, sources="others")) or {}
    assert found["commit"] != git["commit"]
    assert (found["clean"], found["changed"]) == (False, ["allocator/a.c"])
