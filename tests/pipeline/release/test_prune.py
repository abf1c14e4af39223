"""`pipeline prune`: old versions go, those that somebody uses stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core import lock
from pipeline.core.errors import ArtifactError, VersionError
from pipeline.core.paths import Tree
from pipeline.release.current import point_current
from pipeline.release.install import carry_out
from pipeline.release.install_plan import plan_install
from pipeline.release.installed import Place
from pipeline.release.marking import reject
from pipeline.release.marks import read_marks
from pipeline.release.prune import LEAVING, disk_bytes, remember_place
from pipeline.release.published import published
from pipeline.release.version import Version

NAMES = [f"1.0-{letter * 2}" for letter in "abcdef"]  # the last one is the newest


def make(tree: Tree, name: str, day: int) -> Version:
    folder = tree.dist("p") / name
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libhakmem.so").write_bytes(b"x" * 10_000)
    manifest = {"created": f"2026-01-{day:02}", "files": {}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "SHA256SUMS").write_text("", encoding="utf-8")
    return Version(folder)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    versions = [make(tree, name, day + 1) for day, name in enumerate(NAMES)]
    point_current(versions[-1])
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def prune(*words: str) -> str:
    result = CliRunner().invoke(cli, ["prune", "-p", "p", *words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def names(tree: Tree) -> list[str]:
    return sorted(one.name for one in published(tree.dist("p")))


def test_the_newest_stay_and_the_bytes_are_told(tree: Tree) -> None:
    size = sum(disk_bytes(tree.dist("p") / name) for name in NAMES[:4])
    assert size >= 40_000
    said = prune("--keep", "2")
    assert names(tree) == NAMES[4:]
    assert f"{size:,} bytes" in said and "4 versions" in said
    assert "freed 0 B" in prune("--keep", "2")


def test_a_dry_run_changes_nothing(tree: Tree) -> None:
    said = prune("--keep", "1", "--dry-run")
    assert names(tree) == NAMES
    assert f"would remove {NAMES[0]}" in said and "would free" in said


def test_a_dry_run_waits_for_nobody(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(*_: object, **_words: object) -> None:
        raise AssertionError("it waits for a lock")

    for name in ("tree_lock", "marks_lock"):
        monkeypatch.setattr(lock, name, waits)
    assert f"would remove {NAMES[0]}" in prune("--keep", "1", "--dry-run")
    assert names(tree) == NAMES


def test_a_dry_run_says_of_each_version_why(tree: Tree) -> None:
    reject(Version(tree.dist("p") / NAMES[3]), "bad")
    said = prune("--keep", "2", "--dry-run")
    assert f"keeps {NAMES[5]}: current points to it" in said
    assert f"keeps {NAMES[4]}: it is one of the 2 newest" in said
    assert f"would remove {NAMES[3]}: it was rejected" in said
    assert f"would remove {NAMES[2]}: it is not one of the 2 newest" in said
    assert "no older version" not in said


def test_what_is_the_same_as_a_rejected_version_does_not_count_as_kept(tree: Tree) -> None:
    """`prune --keep 2` kept it as one of the 2 newest, and a good one went."""
    bad, same = (Version(tree.dist("p") / name) for name in (NAMES[2], NAMES[4]))
    for one in (bad, same):
        manifest = {"created": one.created, "files": {}, "inputs": "the same"}
        (one.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    reject(Version(bad.folder), "bad")
    said = prune("--keep", "2", "--dry-run")
    assert f"would remove {same.name}: it was rejected as {bad.name}\n" in said
    assert f"would remove {bad.name}: it was rejected\n" in said
    assert f"keeps {NAMES[3]}: it is one of the 2 newest" in said


@pytest.mark.usefixtures("tree")
def test_it_says_when_nothing_is_left_to_go_back_to() -> None:
    said = prune("--keep", "1", "--dry-run")
    assert "then no older version would be left" in said
    assert "then no older version is left" in prune("--keep", "1")
    assert "no older version" not in prune("--keep", "1")


def test_what_was_current_before_a_build_that_it_waited_for_stays(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def a_build_ends(*_: object, **_words: object) -> Iterator[None]:
        point_current(make(tree, "1.0-gg", 20))
        yield

    monkeypatch.setattr(lock, "tree_lock", a_build_ends)
    said = prune("--keep", "1")
    assert f"keeps {NAMES[5]}: it was current when the command was given" in said
    assert names(tree) == [NAMES[5], "1.0-gg"]


def test_what_somebody_uses_stays(tree: Tree, tmp_path: Path) -> None:
    dist = tree.dist("p")
    place = Place(tmp_path / "prefix")
    installed = Version(dist / NAMES[0])
    carry_out(plan_install(installed, place, force=False), installed)
    remember_place(dist, place)
    (dist / "stable").symlink_to(NAMES[1])
    CliRunner().invoke(cli, ["rollback", "-p", "p", "--to", NAMES[2]])
    said = prune("--keep", "1")
    assert names(tree) == [*NAMES[:3], NAMES[5]]
    assert f"keeps {NAMES[0]}: it is installed below {place.root}" in said
    assert f"keeps {NAMES[1]}: stable points to it" in said
    assert f"keeps {NAMES[2]}: current points to it" in said


def test_what_a_rollback_has_set_aside_stays(tree: Tree) -> None:
    CliRunner().invoke(cli, ["rollback", "-p", "p", "--to", NAMES[2]])
    make(tree, "1.0-gg", 20)
    assert f"keeps {NAMES[5]}: it is set aside by a rollback" in prune("--keep", "1")
    assert names(tree) == [NAMES[2], NAMES[5], "1.0-gg"]


def test_a_rejected_version_does_not_count_and_stays_rejected(tree: Tree) -> None:
    dist = tree.dist("p")
    reject(Version(dist / NAMES[4]), "bad")
    prune("--keep", "2")
    assert names(tree) == [NAMES[3], NAMES[5]]
    assert [one.version for one in read_marks(dist).rejected] == [NAMES[4]]


@pytest.mark.usefixtures("tree")
def test_install_remembers_its_place(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    done = CliRunner().invoke(cli, ["install", "-p", "p", NAMES[1], "--prefix", str(prefix)])
    assert done.exit_code == 0, done.output
    assert f"keeps {NAMES[1]}: it is installed below {prefix}" in prune("--keep", "1")


def test_what_a_killed_run_has_left_goes(tree: Tree) -> None:
    (tree.dist("p") / f"{LEAVING}1.0-xx" / "lib").mkdir(parents=True)
    prune("--keep", "6")
    assert not list(tree.dist("p").glob(f"{LEAVING}*"))
    assert names(tree) == NAMES


def test_a_damaged_record_of_places_stops_it(tree: Tree) -> None:
    (tree.dist("p") / "installed-at.json").write_text("{", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"installed-at\.json cannot be read"):
        prune("--keep", "1")
    assert names(tree) == NAMES


def test_of_nothing_there_is_nothing_to_prune(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: Tree(tmp_path)))
    Tree(tmp_path).dist("p").mkdir(parents=True)
    with pytest.raises(VersionError):
        prune("--keep", "1")
