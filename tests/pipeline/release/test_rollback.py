"""Rolling back holds until it is lifted, and says what it leaves behind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner
from rollback_support import BAD, OLD, Killed, kill, make, tree_of_two, type_, version

from pipeline.cli import cli
from pipeline.core import lock
from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError, VersionError
from pipeline.core.paths import Tree
from pipeline.release.current import current
from pipeline.release.install import carry_out
from pipeline.release.install_plan import plan_install
from pipeline.release.installed import Place
from pipeline.release.marking import lift, reject, set_aside
from pipeline.release.marks import Marks, read_marks
from pipeline.stages.publish import publish as publishing


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return tree_of_two(tmp_path, monkeypatch)


def test_a_rollback_is_remembered_until_it_is_lifted(tree: Tree) -> None:
    said = type_("rollback")
    assert current(tree.dist("p")) == version(tree, OLD)
    assert f"{BAD} is set aside" in said and "unpin" in said
    mark = read_marks(tree.dist("p")).aside[0]
    library = digest_file(version(tree, BAD).library)
    assert mark.means(library, "") and mark.means("", f"inputs of {BAD}")
    assert not mark.means("", f"inputs of {OLD}")
    assert "set aside" in type_("list")
    assert f"{BAD} may come back" in type_("unpin")
    assert read_marks(tree.dist("p")).aside == ()
    assert "no version of profile 'p' is set aside" in type_("unpin")


def test_to_publish_what_is_current_anyway_lifts_no_rollback(tree: Tree) -> None:
    """`build --from publish` of the older version did, and the bad one came back."""
    type_("rollback")
    shop, model = MagicMock(), MagicMock(published=True, previous=None, direct=None)
    shop.options.mode = "default"
    assert publishing._move_current(shop, version(tree, OLD), model) is None
    assert [one.version for one in read_marks(tree.dist("p")).aside] == [BAD]
    new = make(tree, "1.0-cc33", "2026-01-03")
    assert publishing._move_current(shop, new, model) is None
    assert current(tree.dist("p")) == new
    assert read_marks(tree.dist("p")).aside == ()


def test_unpin_promises_nothing_of_what_is_rejected(tree: Tree) -> None:
    type_("rollback")
    type_("reject", BAD, "--reason", "redis grows")
    said = type_("unpin")
    assert f"{BAD} is no longer rolled back, but rejected (redis grows)" in said
    assert f"`.venv/bin/pipeline reject -p p {BAD} --undo`" in said
    assert "may come back" not in said
    assert read_marks(tree.dist("p")).aside == ()


@pytest.mark.usefixtures("tree")
def test_unpin_names_the_profile_of_which_something_was_rolled_back() -> None:
    type_("rollback")
    said = CliRunner().invoke(cli, ["unpin"]).output
    assert "no version of profile 'mixed' is set aside" in said
    assert "`.venv/bin/pipeline unpin -p p`" in said


@pytest.mark.parametrize(
    "words", [("rollback",), ("unpin",), ("reject", BAD, "--reason", "redis grows")]
)
def test_the_way_back_does_not_wait_for_a_running_build(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    real = lock.tree_lock
    with real(tree.state, wait=False, say=print):
        monkeypatch.setattr(lock, "tree_lock", lambda at, **_: real(at, wait=False, say=print))
        type_(*words)
    assert current(tree.dist("p")) == version(tree, BAD if words == ("unpin",) else OLD)


def test_a_rollback_that_was_killed_can_be_taken_back(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.release.current.point_current", kill)
        with pytest.raises(Killed):
            type_("rollback")
    assert current(tree.dist("p")) == version(tree, BAD)
    type_("rollback", "--to", BAD)
    assert read_marks(tree.dist("p")).aside == ()


def test_to_a_newer_version_it_goes_forward(tree: Tree) -> None:
    assert type_("rollback").startswith(f"current is now {OLD}\n")
    said = type_("rollback", "--to", BAD)
    assert said.startswith(f"went forward to {BAD}: it is current now\n")
    assert current(tree.dist("p")) == version(tree, BAD)
    assert type_("rollback", "--to", OLD).startswith(f"current is now {OLD}\n")


def test_what_is_gone_back_to_is_no_longer_set_aside(tree: Tree) -> None:
    type_("rollback")
    type_("rollback", "--to", BAD)
    assert [one.version for one in read_marks(tree.dist("p")).aside] == [OLD]


@pytest.mark.parametrize("words", [("rollback",), ("reject", BAD, "--reason", "redis grows")])
def test_prefixes_that_still_have_what_is_refused_are_named(
    tree: Tree, tmp_path: Path, words: tuple[str, ...]
) -> None:
    prefix, other = tmp_path / "prefix", tmp_path / "other"
    type_("install", BAD, "--prefix", str(prefix))
    type_("install", OLD, "--prefix", str(other))
    said = type_(*words)
    cure = f"`.venv/bin/pipeline install --profile p --prefix {prefix}`"
    assert f"{BAD} is still installed in {prefix}; {cure} replaces it" in said
    assert str(other) not in said and current(tree.dist("p")) == version(tree, OLD)


def test_where_no_version_is_current_what_is_installed_is_to_be_removed(
    tree: Tree, tmp_path: Path
) -> None:
    type_("install", BAD, "--prefix", str(tmp_path / "prefix"))
    reject(version(tree, OLD), "old")
    said = type_("reject", BAD, "--reason", "bad")
    cure = f"`.venv/bin/pipeline uninstall --prefix {tmp_path / 'prefix'}`"
    assert f"{BAD} is still installed in {tmp_path / 'prefix'}; {cure} removes it" in said


def test_a_damaged_version_is_passed_over(tree: Tree) -> None:
    make(tree, "1.0-cc33", "2025-12-31")
    version(tree, OLD).library.write_text("damaged", encoding="utf-8")
    said = type_("rollback")
    assert f"{OLD} is damaged, so it is passed over: lib/libhakmem.so (changed)" in said
    assert current(tree.dist("p")) == version(tree, "1.0-cc33")


def test_where_all_older_versions_are_damaged_that_is_said(tree: Tree) -> None:
    version(tree, OLD).library.write_text("damaged", encoding="utf-8")
    with pytest.raises(ArtifactError, match=f"{OLD} is damaged"):
        type_("rollback")
    assert current(tree.dist("p")) == version(tree, BAD)


def test_the_oldest_version_says_how_to_go_to_another(tree: Tree) -> None:
    type_("rollback")
    with pytest.raises(
        VersionError, match="is the oldest version: there is none to go back to"
    ) as refused:
        type_("rollback")
    assert "--to VERSION" in refused.value.hint
    assert current(tree.dist("p")) == version(tree, OLD)


def test_behind_a_rejection_there_is_nothing_left_to_go_back_from(tree: Tree) -> None:
    type_("reject", BAD, "--reason", "redis grows")
    with pytest.raises(VersionError, match="is the oldest version") as refused:
        type_("rollback")
    assert f"`.venv/bin/pipeline reject -p p {BAD} --undo`" in refused.value.hint
    assert "newer" in refused.value.hint and "rejected" in refused.value.hint
    assert current(tree.dist("p")) == version(tree, OLD)


def test_damaged_marks_are_named(tree: Tree) -> None:
    set_aside(version(tree, BAD), version(tree, OLD))
    (tree.dist("p") / "marks.json").write_text("{", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"marks\.json cannot be read"):
        lift(tree.dist("p"))


def test_what_is_installed_is_told_to_be_older_or_newer(tree: Tree, tmp_path: Path) -> None:
    place = Place(tmp_path / "prefix")
    old, bad = version(tree, OLD), version(tree, BAD)
    assert place.replaced_by(old, Marks()) == ""
    carry_out(plan_install(old, place, force=False), old)
    assert place.replaced_by(bad, Marks()) == f"{OLD} is installed there, which is older than {BAD}"
    carry_out(plan_install(bad, place, force=False), bad)
    assert place.replaced_by(old, Marks()) == f"{BAD} is installed there, which is newer than {OLD}"
    assert f"newer than {OLD}" in type_("install", OLD, "--prefix", str(place.prefix), "--dry-run")


@pytest.mark.usefixtures("tree")
def test_what_is_installed_is_told_in_its_order_and_once_it_is_done(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    said = type_("install", OLD, "--prefix", str(prefix)).splitlines()
    told = [line.rpartition("/")[2] for line in said if line.startswith("install ")]
    assert told == ["manifest.json", "libhakmem.so"]
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "lib").write_text("a file in the way", encoding="utf-8")
    result = CliRunner().invoke(cli, ["install", OLD, "-p", "p", "--prefix", str(blocked)])
    assert result.exception is not None
    assert "libhakmem.so" not in result.output


def test_a_version_that_was_pruned_is_named_where_none_is_older(tree: Tree) -> None:
    type_("rollback")
    for name, is_published in (("1.0-gone", True), ("1.0-judged", False)):
        folder = tree.reports("p") / name
        folder.mkdir(parents=True)
        said = {"published": is_published, "verify": {"created": "2025-12-31"}}
        (folder / "report.json").write_text(json.dumps(said), encoding="utf-8")
    shutil.rmtree(version(tree, BAD).folder)
    with pytest.raises(VersionError, match=f"{OLD} is the oldest version") as refused:
        type_("rollback")
    assert refused.value.hint.startswith("1.0-gone was removed: `.venv/bin/pipeline bundle import")
    assert "Or leave LD_PRELOAD out" in refused.value.hint
