"""Rolling back holds, rejecting is for good, and ``current`` moves to nothing worse by itself."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.commands import versions
from pipeline.commands.build import conclude
from pipeline.core import lock
from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError, GateError, UsageError, VersionError
from pipeline.core.paths import Tree
from pipeline.release import check_version
from pipeline.release.install import Place, carry_out, plan_install
from pipeline.release.marks import Marks, lift, read_marks, reject, set_aside, why_current_stays
from pipeline.release.version import Version, current, point_current, resolve, untouched
from pipeline.report.model import ReportModel
from pipeline.report.view import next_command
from pipeline.stages.publish import publish
from pipeline.stages.publish.product import STAGE

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


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    make(tree, OLD, "2026-01-01")
    point_current(make(tree, BAD, "2026-01-02"))
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def version(tree: Tree, name: str) -> Version:
    return Version(tree.dist("p") / name)


def type_(*arguments: str) -> str:
    """Run a command in this process; whatever it raises passes through."""
    result = CliRunner().invoke(cli, [*arguments, "--profile", "p"], catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


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


@pytest.mark.parametrize("words", [("rollback",), ("reject", BAD, "--reason", "redis grows")])
def test_a_build_that_publishes_sees_what_was_refused_while_it_measured(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The command comes while the report is written, after the build's first look at the marks."""

    def while_reporting(*_: object) -> ReportModel:
        type_(*words)
        return ReportModel.model_construct(published=True, previous=None)

    monkeypatch.setattr(publish, "make_report", while_reporting)
    for name in ("keep_report", "pass_gate"):
        monkeypatch.setattr(publish, name, lambda *_: None)
    monkeypatch.setattr(check_version, "require_good", lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: BAD)
    monkeypatch.setattr(publish, "inputs_of", lambda *_: f"inputs of {BAD}")
    release = SimpleNamespace(
        candidate=SimpleNamespace(library=SimpleNamespace(digest="another")),
        verdict=None,
        geometry=None,
        inputs=None,
    )
    shop = MagicMock(tree=tree, line="p", store=SimpleNamespace(used=[]))
    shop.options.redo, shop.options.mode = {STAGE}, "default"
    shop.options.no_publish = False
    if words[0] == "reject":
        with pytest.raises(GateError, match="was rejected") as refused:
            publish.publish(shop, cast("Any", release))
        assert f"`.venv/bin/pipeline reject -p p {BAD} --undo`" in refused.value.hint
    else:
        assert "was rolled back" in str(publish.publish(shop, cast("Any", release)).stays)
    assert current(tree.dist("p")) == version(tree, OLD)


def test_a_build_that_is_only_to_be_judged_leaves_all_as_it_is(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = ReportModel.model_construct(published=True, reason="throughput is GO")
    kept: list[ReportModel] = []
    monkeypatch.setattr(publish, "make_report", lambda *_: judged)

    def keep(_: object, model: ReportModel) -> Path:
        kept.append(model)
        return tree.root

    monkeypatch.setattr(publish, "keep_report", keep)
    monkeypatch.setattr(publish, "pass_gate", lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: "1.0-cc33")
    monkeypatch.setattr(publish, "inputs_of", lambda *_: "others")
    shop = MagicMock(tree=tree, line="p", store=SimpleNamespace(used=[]))
    shop.options.redo, shop.options.no_publish = set(), True
    found = publish.publish(shop, cast("Any", MagicMock()))
    assert found.judged == tree.root and not found.folder.exists()
    assert current(tree.dist("p")) == version(tree, BAD)
    assert not kept[0].published and kept[0].reason.endswith("throughput is GO")
    assert kept[0].outcome == "Not published, as asked" and kept[0].passed
    assert "without `--no-publish` and `--from` publishes it" in next_command(kept[0])


def test_what_is_published_beside_the_current_one_says_so_in_its_report(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = ReportModel.model_construct(published=True, reason="GO", previous=None)
    kept: list[ReportModel] = []
    monkeypatch.setattr(publish, "make_report", lambda *_: judged)
    monkeypatch.setattr(publish, "keep_report", lambda _, model: kept.append(model))
    monkeypatch.setattr(publish, "pass_gate", lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: "1.0-cc33")
    monkeypatch.setattr(publish, "inputs_of", lambda *_: "others")
    monkeypatch.setattr(publish, "write_version", lambda *_: make(tree, "1.0-cc33", "2026-01-03"))
    monkeypatch.setattr(check_version, "require_good", lambda *_: None)
    shop = MagicMock(tree=tree, line="p", store=SimpleNamespace(used=[]))
    shop.options.redo, shop.options.no_publish, shop.options.mode = set(), False, "quick"
    found = publish.publish(shop, cast("Any", MagicMock()))
    why = f"{BAD} was judged in mode default, this one in mode quick alone"
    assert found.stays == kept[0].stays == why
    assert found.before == version(tree, BAD)


@pytest.mark.parametrize(
    ("before", "stays", "says"),
    [
        (None, None, f"`current` is now {BAD}; no version was current before"),
        (OLD, None, f"`current` is now {BAD}; it was {OLD} before"),
        (BAD, None, f"`current` is {BAD}, as before"),
        (OLD, "why", f"`current` is still {OLD}: why"),
    ],
)
def test_a_build_ends_with_what_is_current(
    tree: Tree, before: str | None, stays: str | None, says: str
) -> None:
    console = MagicMock()
    was = version(tree, before) if before else None
    found = publish.Published(version(tree, BAD).folder, None, stays, before=was)
    conclude(console, found, 1.0)
    assert says in "\n".join(words[0] for _, words, _ in console.mock_calls)


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


def test_what_takes_the_place_of_a_rejected_version_is_set_aside_no_more(tree: Tree) -> None:
    set_aside(version(tree, OLD), version(tree, BAD))
    type_("reject", BAD, "--reason", "redis grows")
    assert current(tree.dist("p")) == version(tree, OLD)
    assert read_marks(tree.dist("p")).rolled_back(version(tree, OLD)) is None


def test_a_rejection_needs_a_reason_keeps_it_and_can_be_taken_back(tree: Tree) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        type_("reject", BAD, "--reason", " ")
    type_("reject", BAD, "--reason", "first")
    before = read_marks(tree.dist("p"))
    with pytest.raises(VersionError, match=r"was rejected already on .*: first") as refused:
        type_("reject", BAD, "--reason", "second")
    assert f"reject -p p {BAD} --undo`" in str(refused.value.hint)
    assert read_marks(tree.dist("p")) == before
    assert f"{BAD} is no longer rejected (first)" in type_("reject", BAD, "--undo")
    assert read_marks(tree.dist("p")).rejected == ()
    assert current(tree.dist("p")) == version(tree, OLD)
    assert f"{BAD} was not rejected" in type_("reject", BAD, "--undo")
    type_("rollback", "--to", BAD)
    assert current(tree.dist("p")) == version(tree, BAD)


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


def test_the_oldest_version_says_how_to_go_to_another(tree: Tree) -> None:
    type_("rollback")
    with pytest.raises(
        VersionError, match="is the oldest version: there is none to go back to"
    ) as refused:
        type_("rollback")
    assert "--to VERSION" in refused.value.hint
    assert current(tree.dist("p")) == version(tree, OLD)


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


def test_current_moves_to_what_was_judged_as_fully_and_is_not_worse(tree: Tree) -> None:
    now, newer = version(tree, BAD), version(tree, "1.0-cc33")
    assert why_current_stays(None, newer, "quick", ()) is None
    assert why_current_stays(now, now, "quick", ("speed -3 %",)) is None
    assert why_current_stays(now, newer, "default", ()) is None
    assert why_current_stays(now, newer, "thorough", ()) is None
    quick = why_current_stays(now, newer, "quick", ())
    assert quick == f"{BAD} was judged in mode default, this one in mode quick alone"
    worse = why_current_stays(now, newer, "default", ("I-cache misses per op +8.78 %",))
    assert worse == f"this one is worse than {BAD}: I-cache misses per op +8.78 %"


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


def test_list_shows_all_profiles_unless_one_is_named(tree: Tree) -> None:
    other = Tree(tree.root / "other")
    made = make(other, "2.0-dd44", "2026-01-04")
    tree.dist("q").mkdir()
    made.folder.rename(tree.dist("q") / made.name)
    (tree.root / "dist" / "empty").mkdir()
    said = CliRunner().invoke(cli, ["list"]).output.splitlines()
    assert sum(OLD in line for line in said) == 1
    assert {line.strip("* ").split()[0] for line in said[1:]} == {"p", "q"}
    assert [line for line in said if line.startswith("*")] == [line for line in said if BAD in line]
    alone = CliRunner().invoke(cli, ["list", "-p", "q"]).output
    assert "2.0-dd44" in alone and OLD not in alone


def test_list_leaves_out_whole_columns_on_a_narrow_terminal(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    reject(version(tree, OLD), "redis uses eight per cent more memory with it, and starts later")
    wide = CliRunner().invoke(cli, ["list"]).output
    assert "folder" in wide and "not shown" not in wide
    for room in (80, 60):
        monkeypatch.setattr(versions, "_room", lambda room=room: room)
        head, *rows, below, note = CliRunner().invoke(cli, ["list"]).output.splitlines()
        assert all(len(line) <= room for line in (head, *rows)) and "published" in head
        assert below.startswith(f"{OLD}: REJECTED: redis uses eight per cent more")
        assert note.startswith("note: not shown, for the terminal is too narrow: folder")


def test_list_says_when_nothing_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: Tree(tmp_path / "fresh")))
    done = CliRunner().invoke(cli, ["list"])
    assert isinstance(done.exception, VersionError)
    assert "nothing is published in this tree" in done.exception.message
    assert done.exception.hint == "`.venv/bin/pipeline build` builds `mixed`"
    report = tmp_path / "fresh/build/pipeline/shop/reports/1.0-aa/report.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    done = CliRunner().invoke(cli, ["list"])
    assert isinstance(done.exception, VersionError)
    assert "`.venv/bin/pipeline report last -p shop`" in done.exception.hint


@pytest.mark.parametrize(
    "words",
    [
        ("reject", BAD, "--reason", "slow"),
        ("reject", BAD, "--undo"),
        ("rollback", "--to", BAD),
        ("report", BAD),
        ("reject", "PATH", "--reason", "slow"),
        ("rollback", "--to", "PATH"),
    ],
)
def test_a_version_of_another_profile_is_told_with_its_profile(
    words: tuple[str, ...], tree: Tree
) -> None:
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "mixed.toml").touch()
    path = str(version(tree, BAD).folder)
    spelled = [path if word == "PATH" else word for word in words]
    done = CliRunner().invoke(cli, spelled)
    assert isinstance(done.exception, VersionError)
    assert "is no version of profile 'mixed'" in done.exception.message
    assert done.exception.hint == "another profile has it: give -p p"
    assert read_marks(tree.dist("p")).by_version() == {}
    assert current(tree.dist("p")) == version(tree, BAD)


def test_a_version_of_no_profile_says_where_nothing_is_published(tree: Tree) -> None:
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "mixed.toml").touch()
    done = CliRunner().invoke(cli, ["reject", "9.9-zz", "--reason", "slow"])
    assert isinstance(done.exception, VersionError)
    assert "nothing is published for profile 'mixed'" in done.exception.message
    assert "-p p" in done.exception.hint
