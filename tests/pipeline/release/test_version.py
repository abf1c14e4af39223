"""Which versions are published, and which one is meant."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError, SpaceError, UsageError, VersionError
from pipeline.core.paths import Tree
from pipeline.release.current import current, point_current
from pipeline.release.mending import how_to_mend
from pipeline.release.published import published, require_published
from pipeline.release.version import Version
from pipeline.release.wish import resolve


def make(tree: Tree, name: str, created: str) -> Version:
    folder = tree.dist("p") / name
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libhakmem.so").write_text(name, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps({"created": created}), encoding="utf-8")
    files = ("lib/libhakmem.so", "manifest.json")
    sums = "".join(f"{digest_file(folder / file)}  {file}\n" for file in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return Version(folder)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path)
    for name, created in (("1.0-aa11", "2026-01-01"), ("1.0-ab22", "2026-01-02")):
        make(tree, name, created)
    point_current(Version(tree.dist("p") / "1.0-aa11"))
    return tree


def test_newest_is_first_and_the_link_is_no_version(tree: Tree) -> None:
    assert [v.name for v in published(tree.dist("p"))] == ["1.0-ab22", "1.0-aa11"]
    assert current(tree.dist("p")) == Version(tree.dist("p") / "1.0-aa11")


@pytest.mark.parametrize(
    ("wish", "name"),
    [(None, "1.0-aa11"), ("current", "1.0-aa11"), ("1.0-ab", "1.0-ab22"), ("1.0-ab22", "1.0-ab22"),
     ("ab22", "1.0-ab22")],
)  # fmt: skip
def test_wishes(wish: str | None, name: str, tree: Tree) -> None:
    assert resolve(tree, "p", wish).name == name


def test_a_path_will_do(tree: Tree) -> None:
    folder = tree.dist("p") / "1.0-ab22"
    assert resolve(tree, "other", str(folder)).folder == folder
    assert resolve(tree, "other", str(tree.dist("p") / "current")).name == "1.0-aa11"


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ("1.0-a", r"1\.0-a fits 2 versions of profile 'p': 1\.0-ab22, 1\.0-aa11"),
        ("1.0", r"1\.0 lacks the digest, .*; versions of .* begin so: 1\.0-ab22, 1\.0-aa11"),
        ("2.0", "no published version 2.0"),
        ("ab2", "no published version ab2"),
        ("dist/p/curent", "there is no file or folder dist/p/curent"),
    ],
)
def test_wishes_that_name_no_version(wish: str, words: str, tree: Tree) -> None:
    with pytest.raises(VersionError, match=words):
        resolve(tree, "p", wish)


def test_a_version_that_is_a_digit_off_is_named(tree: Tree) -> None:
    with pytest.raises(VersionError) as caught:
        resolve(tree, "p", "1.0-ab23")
    assert str(caught.value.hint).startswith("did you mean 1.0-ab22?")


def test_a_profile_in_place_of_a_version_is_told(tree: Tree) -> None:
    with pytest.raises(VersionError, match="p is a profile, not a version") as caught:
        resolve(tree, "p", "p")
    assert caught.value.hint == "did you mean -p p?"


def test_last_is_a_word_of_reports_alone(tree: Tree) -> None:
    with pytest.raises(VersionError, match="for `report`, `diff` and `review` alone") as caught:
        resolve(tree, "p", "last")
    assert "`.venv/bin/pipeline list -p p` shows it" in str(caught.value.hint)


def test_a_copy_of_a_version_is_mended_by_its_own_profile(tree: Tree, tmp_path: Path) -> None:
    copy = Version(shutil.copytree(tree.dist("p") / "1.0-ab22", tmp_path / "elsewhere" / "copy"))
    (copy.folder / "manifest.json").write_text('{"profile": "shop"}', encoding="utf-8")
    assert "list -p shop`" in how_to_mend(copy) and "--profile shop`" in how_to_mend(copy)


def test_an_empty_name_is_no_version(tree: Tree) -> None:
    with pytest.raises(UsageError, match="the name of the version is empty"):
        resolve(tree, "p", "")


def test_a_version_of_another_profile_is_told_with_its_profile(tree: Tree) -> None:
    with pytest.raises(VersionError, match=r"1\.0-ab is no version of profile 'other'") as error:
        resolve(tree, "other", "1.0-ab")
    assert error.value.hint == "another profile has it: give -p p"


def test_nothing_published_says_how_to_begin(tmp_path: Path) -> None:
    for ask in (
        lambda: resolve(Tree(tmp_path), "p"),
        lambda: require_published(tmp_path / "dist/p", "p"),
    ):
        with pytest.raises(VersionError, match="nothing is published") as error:
            ask()
        assert "build --profile p" in error.value.hint


@pytest.mark.parametrize("name", ["dist", "dist/p"])
def test_a_file_in_the_way_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("in the way", encoding="utf-8")
    with pytest.raises(SpaceError, match=f"{name} is a file") as error:
        require_published(tmp_path / "dist" / "p", "p")
    assert "remove or rename it" in error.value.hint


def test_damage_is_named_file_by_file(tree: Tree) -> None:
    version = resolve(tree, "p", "1.0-ab22")
    assert version.damaged_files() == version.unlisted_files() == []
    version.library.write_text("spoilt", encoding="utf-8")
    (version.folder / "extra").write_text("x", encoding="utf-8")
    assert version.damaged_files() == ["lib/libhakmem.so"]
    assert version.unlisted_files() == ["extra"]
    (version.folder / "SHA256SUMS").write_text("abc\n", encoding="utf-8")
    assert version.damage() == "SHA256SUMS (changed)"
    (version.folder / "SHA256SUMS").unlink()
    assert version.damaged_files() == ["SHA256SUMS"]


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{", b"[" * 100_000], ids=range(5))
def test_a_bad_manifest_is_an_error_with_its_path(content: bytes, tree: Tree) -> None:
    version = Version(tree.dist("p") / "1.0-ab22")
    (version.folder / "manifest.json").write_bytes(content)
    with pytest.raises(ArtifactError, match=r"1\.0-ab22/manifest\.json"):
        _ = version.manifest
    assert len(published(tree.dist("p"))) == 2


@pytest.mark.parametrize("name", ["dist", "dist/p"])
@pytest.mark.parametrize("leads_to", ["/no/such/folder", "itself"])
def test_a_link_to_no_folder_in_place_of_versions_is_named(
    tmp_path: Path, name: str, leads_to: str
) -> None:
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(place if leads_to == "itself" else leads_to)
    with pytest.raises(SpaceError, match=f"{name} is a link that leads to no folder"):
        require_published(tmp_path / "dist" / "p", "p")
