"""Rejecting a version is for good, until it is taken back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from rollback_support import BAD, OLD, Killed, kill, make, tree_of_two, type_, version

from pipeline.core.errors import UsageError, VersionError
from pipeline.core.paths import Tree
from pipeline.release.contents import write_sums
from pipeline.release.current import current, point_current, untouched
from pipeline.release.marking import reject, set_aside
from pipeline.release.marks import read_marks
from pipeline.release.version import Version
from pipeline.release.wish import resolve

LIBRARY = "lib/libhakmem.so"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return tree_of_two(tmp_path, monkeypatch)


def test_a_rejected_version_is_refused_for_good(tree: Tree, tmp_path: Path) -> None:
    said = type_("reject", BAD, "--reason", "redis grows by 8 %")
    assert f"{BAD} is rejected: redis grows by 8 %" in said
    assert f"`.venv/bin/pipeline reject -p p {BAD} --undo` takes that back" in said
    assert f"current is now {OLD}" in said
    assert "REJECTED: redis grows by 8 %" in type_("list")
    for arguments in (
        ("rollback", "--to", BAD),
        ("install", BAD, "--prefix", str(tmp_path / "x")),
        ("package", BAD, "-o", str(tmp_path / "x")),
        ("bundle", "export", BAD, "-o", str(tmp_path / "x.tar.gz")),
    ):
        with pytest.raises(VersionError, match=r"was rejected on .*redis grows by 8 %"):
            type_(*arguments)
    make(tree, "1.0-cc33", "2026-01-03")
    point_current(version(tree, "1.0-cc33"))
    type_("rollback")
    assert current(tree.dist("p")) == version(tree, OLD)


def judged(tree: Tree, **said: object) -> None:
    """Leave the report of a build that was judged, and no version."""
    kept = tree.reports("p") / "1.0-dd55"
    kept.mkdir(parents=True)
    (kept / "report.json").write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "report", "state"),
    [
        (("rollback", "--to", "1.0-dd"), {}, "is not published"),
        (("rollback", "--to", "1.0-dd"), {"published": True}, "was removed"),
        (("reject", "1.0-dd", "--reason", "x"), {"published": True}, "was removed"),
        (("reject", "1.0-dd", "--undo"), {"published": True}, "was removed"),
    ],
)
def test_a_version_of_which_only_the_report_is_there_is_told_to_be_one(
    tree: Tree, words: tuple[str, ...], report: dict[str, object], state: str
) -> None:
    judged(tree, **report)
    with pytest.raises(VersionError, match=rf"^1\.0-dd55 of profile 'p' {state}") as e:
        type_(*words)
    assert "`.venv/bin/pipeline report 1.0-dd55 -p p` shows its verdict" in e.value.hint


def test_a_build_that_was_not_published_is_refused_by_its_name(tree: Tree) -> None:
    judged(tree, verify={"tuned": {"sha256": "ab12"}})
    said = type_("reject", "1.0-dd", "--reason", "too much memory")
    assert "1.0-dd55 is rejected: too much memory\nit was never published; a build" in said
    assert "`.venv/bin/pipeline reject -p p 1.0-dd55 --undo` takes that" in said
    (mark,) = read_marks(tree.dist("p")).rejected
    assert mark.means("ab12", "whatever") and not mark.means("ab13", "whatever")
    assert current(tree.dist("p")) == version(tree, BAD)
    for words in (("reject", "1.0-dd", "--reason", "again"), ("rollback", "--to", "1.0-dd")):
        with pytest.raises(VersionError, match=r"rejected .*too much memory\), and was never pub"):
            type_(*words)
    said = type_("reject", "1.0-dd", "--undo")
    assert "1.0-dd55 is no longer rejected (too much memory). It was never published" in said
    assert read_marks(tree.dist("p")).rejected == ()


def test_of_a_build_that_was_judged_and_never_rejected_nothing_is_taken_back(tree: Tree) -> None:
    judged(tree)
    said = type_("reject", "1.0-dd", "--undo")
    assert said == "1.0-dd55 is not rejected: nothing to take back\n"


@pytest.mark.parametrize(
    "words",
    [("reject", "1.0", "--reason", "x"), ("reject", "1.0-", "--undo"), ("rollback", "--to", "1")],
)
def test_a_release_number_names_no_version_though_one_alone_has_it(
    tree: Tree, words: tuple[str, ...]
) -> None:
    shutil.rmtree(tree.dist("p") / OLD)
    with pytest.raises(VersionError, match=f"lacks the digest, .* begin so: {BAD}$") as asked:
        type_(*words)
    assert asked.value.hint == "give the first letters of the digest, too: 1.0-bb22"
    assert current(tree.dist("p")) == version(tree, BAD)


def test_what_was_only_judged_counts_where_a_beginning_is_to_be_refused(tree: Tree) -> None:
    make(tree, "1.0-da77", "2026-01-03")
    judged(tree, verify={"tuned": {"sha256": "ab12"}})
    with pytest.raises(VersionError, match=r"1\.0-d fits 2 .*: 1\.0-dd55, 1\.0-da77"):
        type_("reject", "1.0-d", "--reason", "x")
    with pytest.raises(VersionError, match=r"begin so: 1\.0-dd55, 1\.0-da77, "):
        type_("reject", "1.0", "--reason", "x")


def test_of_a_build_that_is_known_by_another_name_that_name_is_told(tree: Tree) -> None:
    judged(tree, verify={"tuned": {"sha256": version(tree, OLD).manifest["files"][LIBRARY]}})
    with pytest.raises(VersionError, match=f"^1.0-dd55 is the same library as {OLD}") as twin:
        type_("reject", "1.0-dd55", "--reason", "slow")
    assert f"reject -p p {OLD} --reason" in twin.value.hint
    type_("reject", OLD, "--reason", "slow")
    with pytest.raises(VersionError, match=f"is the same as {OLD}, which was rejected already"):
        type_("reject", "1.0-dd55", "--reason", "slow")


def test_a_report_that_names_no_library_cannot_be_refused_by(tree: Tree) -> None:
    judged(tree)
    with pytest.raises(VersionError, match=r"report\.json does not say which library"):
        type_("reject", "1.0-dd55", "--reason", "slow")
    assert read_marks(tree.dist("p")).rejected == ()


@pytest.mark.parametrize(
    "words",
    [("reject", "", "--reason", "x"), ("reject", "", "--undo"), ("rollback", "--to", ""),
     ("report", ""), ("diff", "")],
)  # fmt: skip
def test_an_empty_name_means_no_version(tree: Tree, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="the name of the version is empty"):
        type_(*words)
    assert current(tree.dist("p")) == version(tree, BAD)
    assert not read_marks(tree.dist("p")).rejected


@pytest.mark.parametrize("killed", ["marking._write", "current.point_current"])
def test_a_rejection_that_was_killed_can_be_given_again(
    tree: Tree, killed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was noted and still current, and the same command said that it is rejected already."""
    with monkeypatch.context() as patch:
        patch.setattr(f"pipeline.release.{killed}", kill)
        with pytest.raises(Killed):
            type_("reject", BAD, "--reason", "redis grows")
    now = current(tree.dist("p"))
    assert now is not None and read_marks(tree.dist("p")).rejection(now) is None
    type_("reject", BAD, "--reason", "redis grows")
    assert current(tree.dist("p")) == version(tree, OLD)
    assert read_marks(tree.dist("p")).rejection(version(tree, BAD))


def test_a_damaged_version_that_is_rejected_is_not_mended_for_an_installation(
    tree: Tree, tmp_path: Path
) -> None:
    type_("reject", BAD, "--reason", "redis grows")
    version(tree, BAD).library.write_bytes(b"changed")
    with pytest.raises(VersionError, match="was rejected"):
        type_("install", BAD, "--prefix", str(tmp_path / "x"))


def test_what_a_rollback_has_set_aside_does_not_take_the_place_of_a_rejected_version(
    tree: Tree,
) -> None:
    """It became current again, and was set aside no more."""
    new = make(tree, "1.0-cc33", "2026-01-03")
    set_aside(new, version(tree, BAD))
    said = type_("reject", BAD, "--reason", "redis grows")
    assert f"current is now {OLD}; a rollback has set aside what is newer: {new.name}\n" in said
    assert current(tree.dist("p")) == version(tree, OLD)
    assert read_marks(tree.dist("p")).rolled_back(new)


@pytest.mark.parametrize("whole", [True, False])
def test_where_only_what_is_set_aside_is_left_no_version_is_current(
    tree: Tree, whole: bool
) -> None:
    set_aside(version(tree, OLD), version(tree, BAD))
    if not whole:
        version(tree, OLD).library.write_bytes(b"changed")
    said = type_("reject", BAD, "--reason", "redis grows")
    assert "no version is current now" in said and "use libc's malloc" in said
    back = f"`.venv/bin/pipeline rollback -p p --to {OLD}` makes it current"
    assert (f"{OLD} is left, which a rollback has set aside: {back}" in said) == whole
    assert current(tree.dist("p")) is None
    assert read_marks(tree.dist("p")).rolled_back(version(tree, OLD))
    if whole:
        type_("rollback", "--to", OLD)
        assert current(tree.dist("p")) == version(tree, OLD)
        assert read_marks(tree.dist("p")).rolled_back(version(tree, OLD)) is None


def test_of_a_rejected_version_that_is_not_current_it_is_said_what_stays(tree: Tree) -> None:
    assert f"\n{BAD} stays current\n" in type_("reject", OLD, "--reason", "slow")
    new = make(tree, "1.0-cc33", "2026-01-03")
    (tree.dist("p") / "current").unlink()
    said = type_("reject", new.name, "--reason", "slow")
    assert "\nno version is current, as before\n" in said
    assert current(tree.dist("p")) is None


def twin(tree: Tree, **said: object) -> Version:
    """Publish a newer version of whose manifest something is as in the bad one's."""
    found = make(tree, "1.0-bc44", "2026-01-03")
    shutil.copy(version(tree, BAD).library, found.library)
    manifest = json.loads((found.folder / "manifest.json").read_text(encoding="utf-8"))
    (found.folder / "manifest.json").write_text(json.dumps(manifest | said), encoding="utf-8")
    (found.folder / "SHA256SUMS").unlink()
    write_sums(found.folder)
    return Version(found.folder)


def test_a_rejection_holds_for_versions_of_the_same_bytes(tree: Tree) -> None:
    same = twin(tree, files=version(tree, BAD).manifest["files"])
    said = type_("reject", BAD, "--reason", "redis grows")
    assert f"that holds as well for what is the same: {same.name}" in said
    assert current(tree.dist("p")) == version(tree, OLD)
    assert f"REJECTED as {BAD}: redis grows" in type_("list")
    for words in (("rollback", "--to", same.name), ("reject", same.name, "--reason", "x")):
        with pytest.raises(VersionError, match=f"{same.name} is the same as {BAD}, which was"):
            type_(*words)
    said = type_("reject", same.name, "--undo")
    assert f"{same.name} is no longer rejected (redis grows), nor is {BAD}, where" in said
    type_("rollback", "--to", same.name)
    assert current(tree.dist("p")) == same


def test_rejecting_one_of_two_that_are_the_same_moves_current_from_the_other(tree: Tree) -> None:
    point_current(twin(tree, inputs=f"inputs of {BAD}"))
    assert f"current is now {OLD}" in type_("reject", BAD, "--reason", "redis grows")


def test_a_rejection_needs_a_reason_keeps_it_and_can_be_taken_back(tree: Tree) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        type_("reject", BAD, "--reason", " ")
    type_("reject", BAD, "--reason", "first")
    before = read_marks(tree.dist("p"))
    with pytest.raises(VersionError, match=r"was rejected already on .*: first") as refused:
        type_("reject", BAD, "--reason", "second")
    assert f"reject -p p {BAD} --undo`" in str(refused.value.hint)
    with pytest.raises(UsageError, match="keeps no reason"):
        type_("reject", BAD, "--undo", "--reason", "third")
    assert read_marks(tree.dist("p")) == before
    assert f"{BAD} is no longer rejected (first)" in type_("reject", BAD, "--undo")
    assert read_marks(tree.dist("p")).rejected == ()
    assert current(tree.dist("p")) == version(tree, OLD)
    assert f"{BAD} is not rejected: nothing to take back" in type_("reject", BAD, "--undo")
    type_("rollback", "--to", BAD)
    assert current(tree.dist("p")) == version(tree, BAD)


def test_a_rejection_is_taken_back_also_where_the_version_was_pruned(tree: Tree) -> None:
    type_("reject", BAD, "--reason", "slow")
    type_("prune", "--keep", "1")
    for words in (("reject", BAD, "--reason", "again"), ("rollback", "--to", BAD)):
        with pytest.raises(VersionError, match=r"was rejected \(.*\), and was removed since") as e:
            type_(*words)
        assert f"`.venv/bin/pipeline reject -p p {BAD} --undo`" in e.value.hint
    assert not version(tree, BAD).is_published
    said = type_("reject", BAD.partition("-")[2], "--undo")
    assert f"{BAD} is no longer rejected (slow)" in said and "a build of the same" in said
    assert read_marks(tree.dist("p")).rejected == ()
    with pytest.raises(VersionError, match="no published version"):
        type_("reject", BAD, "--undo")


def test_the_only_version_can_be_refused_and_then_none_is_current(tree: Tree) -> None:
    reject(version(tree, OLD), "old")
    said = type_("reject", BAD, "--reason", "bad")
    assert "no version is current now" in said and "leave LD_PRELOAD out" in said
    assert current(tree.dist("p")) is None
    with pytest.raises(VersionError, match="no version of profile 'p' is current") as unknown:
        resolve(tree, "p")
    assert "list -p p" in unknown.value.hint and "VERSION --undo`" in unknown.value.hint
    with pytest.raises(VersionError, match="was rejected on") as again:
        type_("rollback", "--to", BAD)
    assert f"`.venv/bin/pipeline reject -p p {BAD} --undo`" in again.value.hint
    assert untouched(tree.dist("p")) == "no version is current"
    assert "REJECTED: bad" in type_("list")
    type_("reject", BAD, "--undo")
    type_("rollback", "--to", BAD)
    assert current(tree.dist("p")) == version(tree, BAD)
