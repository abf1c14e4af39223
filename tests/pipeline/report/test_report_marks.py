"""What was decided of a version after it was judged stands first in its report."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import click
import pytest
import report_support
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.commands.report import report_command
from pipeline.commands.report_meant import complete_wish
from pipeline.core.errors import SpaceError, UsageError, VersionError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.lock import tree_lock
from pipeline.core.paths import Tree
from pipeline.release.contents import write_sums
from pipeline.release.current import point_current
from pipeline.release.last import point_last
from pipeline.release.marking import lift, reject, set_aside
from pipeline.release.marks import MARKS
from pipeline.release.mending import how_to_mend
from pipeline.release.version import Version
from pipeline.report.files import write_reports

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    tree.profiles.mkdir(parents=True)
    profile = (ROOT / "training/profiles/mixed.toml").read_text(encoding="utf-8")
    (tree.profiles / "mixed.toml").write_text(profile, encoding="utf-8")
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def publish(tree: Tree, name: str) -> Version:
    folder = tree.dist("mixed") / name
    write_reports(folder, report_support.good().model_copy(update={"version": name}))
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    (folder / "SHA256SUMS").touch()
    return Version(folder)


def first_line(*words: str) -> str:
    result = CliRunner().invoke(cli, ["report", *words], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output.splitlines()[0]


def test_another_run_is_told_where_it_may_make_another_version(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that changes nothing of a version by name was told below its report."""
    point_current(publish(tree, "1.0-bb22"))
    said = []
    monkeypatch.setattr("sys.argv", ["pipeline", "build"])
    with tree_lock(tree.state, wait=False, say=print):
        for words in ([], ["1.0-bb22"]):
            said.append(CliRunner().invoke(cli, ["report", *words]).output)
    assert ["another pipeline run works" in one for one in said] == [True, False]


def test_the_report_of_a_removed_version_says_that_it_is_gone(tree: Tree) -> None:
    """It said "Published", and named a command that no longer finds the version."""
    new, told = publish(tree, "1.0-bb22"), "note: 1.0-bb22 was removed since"
    write_reports(
        tree.reports("mixed") / new.name,
        report_support.good().model_copy(update={"version": new.name}),
    )
    assert told not in CliRunner().invoke(cli, ["report", new.name]).output
    shutil.rmtree(new.folder)
    assert told in CliRunner().invoke(cli, ["report", new.name]).output


def test_a_rejected_version_is_not_praised(tree: Tree) -> None:
    """`why: throughput is GO` stood below "rejected", and then how to compare it with libc."""
    new = publish(tree, "1.0-bb22")
    told = ("All below is as it was judged before.\n", "why it was published: ")
    said = CliRunner().invoke(cli, ["report", new.name]).output
    assert "against your malloc" in said and not any(one in said for one in told)
    reject(new, "redis grows")
    said = CliRunner().invoke(cli, ["report", new.name]).output
    assert "against your malloc" not in said and all(one in said for one in told)


@pytest.mark.parametrize("form", ["term", "md"])
def test_a_rejection_and_a_rollback_are_said_first(tree: Tree, form: str) -> None:
    old, new = publish(tree, "1.0-aa11"), publish(tree, "1.0-bb22")
    point_current(old)
    plain = first_line(new.name, "--format", form)
    assert "hakmem 1.0-bb22" in plain
    set_aside(new, old)
    assert first_line(new.name, "--format", form).startswith("set aside by a rollback on ")
    lift(tree.dist("mixed"))
    reject(new, "redis grows")
    said = first_line(new.name, "--format", form)
    assert said.startswith("REJECTED on ") and ": redis grows; " in said
    assert f"`.venv/bin/pipeline reject -p mixed {new.name} --undo` takes that back" in said
    assert "hakmem 1.0-aa11" in first_line("--format", form)


def test_where_nothing_is_published_the_build_that_was_judged_is_named(tree: Tree) -> None:
    with pytest.raises(VersionError, match="nothing is published") as bare:
        first_line()
    assert "report last" not in bare.value.hint
    folder = tree.reports("mixed") / "1.0-cc33"
    write_reports(folder, report_support.bad())
    (folder.parent / "last").symlink_to(folder.name)
    with pytest.raises(VersionError, match="nothing is published") as judged:
        first_line()
    assert "`.venv/bin/pipeline report last -p mixed` shows the build" in judged.value.hint


def shown(*words: str) -> str:
    result = CliRunner().invoke(cli, ["report", *words], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output


def test_the_page_and_the_json_tell_a_rejection_and_the_kept_page_stays(tree: Tree) -> None:
    new = publish(tree, "1.0-bb22")
    kept = (new.folder / "report.html").read_bytes()
    assert 'id="decided"' not in shown(new.name, "--format", "html")
    assert json.loads(shown(new.name, "--format", "json"))["decided"] is None
    reject(new, "redis grows")
    page = shown(new.name, "--format", "html")
    assert page.index("REJECTED on ") < page.index("<h1>")
    assert "<h1>Published, then rejected</h1>" in page
    decided = json.loads(shown(new.name, "--format", "json"))["decided"]
    assert (decided["what"], decided["reason"]) == ("rejected", "redis grows")
    assert (new.folder / "report.html").read_bytes() == kept


def test_check_names_a_loss_that_the_build_accepted_and_lets_it_pass(tree: Tree) -> None:
    accepted, sound = publish(tree, "1.0-aa11"), publish(tree, "1.0-bb22")
    without = report_support.good().model_copy(update={"allow_regression": ()})
    write_reports(sound.folder, without.model_copy(update={"version": sound.name}))
    runner = CliRunner()
    for version, said in (
        (accepted, "note: accepted by --allow-regression: larson -1.5 %\n"),
        (sound, ""),
    ):
        found = runner.invoke(cli, ["report", version.name, "--check"], standalone_mode=False)
        assert found.return_value == ExitCode.OK
        assert found.stderr.endswith(said) if said else not found.stderr


@pytest.mark.parametrize("form", ["term", "md", "html"])
def test_a_rejected_version_is_not_offered_any_more(tree: Tree, form: str) -> None:
    new = publish(tree, "1.0-bb22")
    stays = {"version": new.name, "stays": "1.0-aa11 was judged in mode default"}
    write_reports(new.folder, report_support.good().model_copy(update=stays))
    offered = ("makes it current", "against each other", "reject the version")
    before = shown(new.name, "--format", form)
    assert all(one in before for one in offered)
    reject(new, "redis grows")
    after = shown(new.name, "--format", form)
    assert not any(one in after for one in offered)
    assert "1.0-aa11 was judged in mode default" in after


def test_check_fails_on_a_rejected_version_and_not_on_one_set_aside(tree: Tree) -> None:
    old, new = publish(tree, "1.0-aa11"), publish(tree, "1.0-bb22")

    def code() -> int:
        words = ["report", new.name, "--check"]
        return int(CliRunner().invoke(cli, words, standalone_mode=False).return_value)

    point_current(old)
    set_aside(new, old)
    assert code() == ExitCode.OK
    reject(new, "redis grows")
    assert code() == ExitCode.GATE


def test_check_says_on_stderr_why_it_fails(tree: Tree) -> None:
    version = publish(tree, "1.0-aa11")

    def said() -> str:
        words = ["report", version.name, "--check"]
        return CliRunner().invoke(cli, words, standalone_mode=False).stderr

    reject(version, "redis grows")
    assert "check failed: REJECTED on " in said() and "redis grows" in said()
    damage(version)
    assert "check failed: DAMAGED: " in said()


@pytest.mark.parametrize(
    ("name", "begins"),
    [("r.html", "<!doctype html>"), ("r.md", "# hakmem"), ("r.json", "{"), ("r.txt", "hakmem 1.0")],
)
def test_the_format_is_that_of_the_file(tree: Tree, tmp_path: Path, name: str, begins: str) -> None:
    publish(tree, "1.0-aa11")
    file = tmp_path / name
    shown("1.0-aa11", "-o", str(file))
    assert file.read_text(encoding="utf-8").startswith(begins)
    shown("1.0-aa11", "-o", str(file), "--format", "json")
    assert file.read_text(encoding="utf-8").startswith("{")


@pytest.mark.usefixtures("tree")
def test_a_file_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        shown("no-such-version", "-o", str(tmp_path / "none" / "r.html"))
    with pytest.raises(UsageError, match="none of the formats"):
        shown("no-such-version", "-o", str(tmp_path / "r.pdf"))
    assert not (tmp_path / "none").exists()


def test_a_report_that_fails_midway_leaves_the_file_as_it_was(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tree, "1.0-aa11")
    file = tmp_path / "r.html"
    file.write_text("before", encoding="utf-8")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpaceError):
        shown("1.0-aa11", "-o", str(file))
    assert file.read_text(encoding="utf-8") == "before"
    assert [one.name for one in tmp_path.glob("*r.html*")] == ["r.html"]


def judge(tree: Tree, profile: str, name: str) -> Path:
    """Keep the report of a build that was not published."""
    folder = tree.reports(profile) / name
    write_reports(folder, report_support.bad().model_copy(update={"version": name}))
    return folder


def test_a_build_that_was_judged_and_not_published_is_found_by_its_name(tree: Tree) -> None:
    point_current(publish(tree, "1.0-aa11"))
    folder = judge(tree, "mixed", "1.0-cc33")
    judge(tree, "mixed", "1.0-aa22")
    for wish in ("1.0-cc33", "1.0-c", "cc33", str(folder)):
        assert "1.0-cc33" in first_line(wish)
    assert "1.0-aa11" in first_line("1.0-a")
    with pytest.raises(VersionError, match=r"no published version 2\.0"):
        first_line("2.0")


@pytest.mark.parametrize(
    ("names", "wish"),
    [(("1.0-aa11", "1.0-aa22"), "1.0-aa"), (("1.0-aaaa11", "1.0-aaaa22"), "aaaa")],
    ids=["versions", "digests"],
)
def test_what_fits_several_published_versions_is_no_judged_one(
    tree: Tree, names: tuple[str, str], wish: str
) -> None:
    for name in names:
        publish(tree, name)
    judge(tree, "mixed", names[0])
    with pytest.raises(VersionError, match="fits 2 versions"):
        first_line(wish)


def test_a_judged_build_of_another_profile_is_told_with_its_profile(tree: Tree) -> None:
    judge(tree, "kvd", "0.2.0-f2ef")
    for wish in ("0.2.0-f2ef", "f2ef"):
        with pytest.raises(VersionError, match=r"is no version of profile 'mixed'") as error:
            first_line(wish)
        assert error.value.hint == "another profile has it: give -p kvd"


def test_what_was_decided_of_an_unpublished_build_is_looked_up_by_its_profile(tree: Tree) -> None:
    judge(tree, "mixed", "1.0-cc33")
    mark = {"version": "1.0-cc33", "reason": "slow", "library": None, "inputs": None,
            "since": "2026-01-04"}  # fmt: skip
    tree.dist("mixed").mkdir(parents=True)
    (tree.dist("mixed") / MARKS).write_text(
        json.dumps({"rejected": [mark], "aside": []}), encoding="utf-8"
    )
    said = first_line("1.0-cc33")
    assert said.startswith("REJECTED on 2026-01-04: slow; `")
    assert "reject -p mixed 1.0-cc33 --undo" in said


def test_completion_names_judged_builds_as_well(tree: Tree) -> None:
    publish(tree, "1.0-aa11")
    judge(tree, "mixed", "1.0-aa11")
    judge(tree, "mixed", "1.0-cc33")
    argument = next(one for one in report_command.params if one.name == "version")
    context = click.Context(report_command)
    context.params = {"profile": "mixed"}
    assert complete_wish(context, argument, "1.0") == ["1.0-aa11", "1.0-cc33"]
    assert complete_wish(context, argument, "l") == ["last"]


@pytest.mark.parametrize(
    ("form", "head"),
    [
        ("term", "DAMAGED: report.html (changed); "),
        ("md", "DAMAGED: report.html (changed); "),
        ("md", "# hakmem 1.0-aa11, profile mixed: published, now DAMAGED"),
        ("html", "<title>hakmem 1.0-aa11: published, now DAMAGED</title>"),
        ("html", "<h1>Published, now DAMAGED</h1>"),
        ("html", 'id="damaged" role="alert"><b>DAMAGED: report.html (changed); '),
    ],
)
def test_damage_is_said_at_the_top_of_each_form(tree: Tree, form: str, head: str) -> None:
    damaged = damage(publish(tree, "1.0-aa11"))
    text = shown(damaged.name, "--format", form)
    assert head in text.partition("<nav" if form == "html" else "\n\n**")[0]


def test_diff_and_history_say_that_a_version_is_damaged(tree: Tree) -> None:
    old, new = publish(tree, "1.0-aa11"), publish(tree, "1.0-bb22")
    damage(new)
    (old.folder / "SHA256SUMS").unlink()
    write_sums(old.folder)
    runner = CliRunner()
    said = runner.invoke(cli, ["diff", old.name, new.name], standalone_mode=False).output
    assert "1.0-bb22: DAMAGED: report.html (changed); the same build makes it whole: `./" in said
    assert "1.0-aa11: DAMAGED" not in said
    told = runner.invoke(cli, ["history"], standalone_mode=False).output
    assert "1.0-bb22: DAMAGED" in told and "1.0-aa11: DAMAGED" not in told
    points = json.loads(runner.invoke(cli, ["history", "--json"], standalone_mode=False).output)
    assert [one["damaged"] for one in points["points"]] == [False, True]


def test_diff_of_the_current_version_with_itself_names_the_build_that_was_judged_later(
    tree: Tree,
) -> None:
    point_current(publish(tree, "1.0-aa11"))
    runner, words = CliRunner(), ["diff", "1.0-aa11"]
    assert runner.invoke(cli, words, standalone_mode=False).output.count("\n") == 1
    late = report_support.bad().verify.model_copy(update={"created": "2026-12-31T00:00:00+00:00"})
    later = report_support.bad().model_copy(update={"version": "1.0-cc33", "verify": late})
    write_reports(tree.reports("mixed") / "1.0-cc33", later)
    point_last(tree, "mixed", "1.0-cc33")
    said = runner.invoke(cli, words, standalone_mode=False).output
    assert "pipeline diff -p mixed 1.0-aa11 last` compares it with 1.0-cc33, which was" in said
    point_last(tree, "mixed", "1.0-aa11")
    assert "last`" not in runner.invoke(cli, words, standalone_mode=False).output


@pytest.mark.parametrize("form", ["term", "md", "json"])
def test_diff_says_that_the_older_version_stands_for_the_newer_one(tree: Tree, form: str) -> None:
    """What had got better was said to have got worse, and nothing told why."""
    old, new = publish(tree, "1.0-aa11"), publish(tree, "1.0-bb22")
    late = report_support.good().verify.model_copy(update={"created": "2026-12-31T00:00:00+00:00"})
    later = report_support.good().model_copy(update={"version": new.name, "verify": late})
    write_reports(new.folder, later)
    runner, told = CliRunner(), f"note: {old.name} is the older of the two, and stands for NEWER"
    for words, swapped in (((new, old), True), ((old, new), False), ((old, old), False)):
        names = [one.name for one in words]
        said = runner.invoke(cli, ["diff", *names, "--format", form], standalone_mode=False)
        assert (told in said.stderr) == swapped and told not in said.stdout


def test_the_advice_for_a_damaged_version_is_the_command_of_its_build(tree: Tree) -> None:
    version = publish(tree, "1.0-aa11")
    manifest = {"git": {"commit": "0123456789abcdef"}}
    (version.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    build = "./bootstrap build --profile mixed"
    at = "`git checkout 0123456789ab && "
    assert f"{at}{build} --allow-regression larson`; so does" in how_to_mend(version)
    (version.folder / "report.json").unlink()
    assert f"{at}{build}`; so does" in how_to_mend(Version(version.folder))


def damage(version: Version) -> Version:
    """Write sums of a published version, and change its page after that."""
    (version.folder / "SHA256SUMS").unlink()
    write_sums(version.folder)
    (version.folder / "report.html").write_text("lost", encoding="utf-8")
    return version


@pytest.mark.parametrize(
    ("form", "head"),
    [
        ("term", ", not made current: "),
        ("term", "not made current when it was published: why; `.venv/bin/pipeline rollback "),
        ("md", ", profile mixed: published, not made current\n"),
        ("md", "Not made current when it was published: why; `.venv/bin/pipeline rollback "),
        ("html", 'id="not-current">Not made current when it was published: why; <code>'),
    ],
)
def test_a_version_that_was_not_made_current_says_so(tree: Tree, form: str, head: str) -> None:
    beside = publish(tree, "1.0-aa11")
    model = report_support.good().model_copy(update={"version": beside.name, "stays": "why"})
    write_reports(beside.folder, model)
    assert head in shown(beside.name, "--format", form)


@pytest.mark.parametrize(
    ("form", "head"),
    [
        ("term", ", not made current at first; current since 20"),
        ("md", ", profile mixed: published, not made current at first; current since 20"),
        ("html", 'id="not-current">Not made current when it was published: why; it is current s'),
        ("json", '"current_since": "20'),
    ],
)
def test_a_version_that_became_current_later_says_so(tree: Tree, form: str, head: str) -> None:
    """Its report said "not made current", and named the command that makes it current."""
    beside = publish(tree, "1.0-aa11")
    model = report_support.good().model_copy(update={"version": beside.name, "stays": "why"})
    write_reports(beside.folder, model)
    write_reports(tree.reports("mixed") / beside.name, model)
    point_last(tree, "mixed", beside.name)
    assert head not in shown(beside.name, "--format", form)
    point_current(beside)
    for wish in (beside.name, "current", "last"):
        said = shown(wish, "--format", form)
        assert head in said and f"rollback -p mixed --to {beside.name}" not in said


def test_check_fails_on_a_damaged_version_as_verify_does(tree: Tree) -> None:
    whole, damaged = publish(tree, "1.0-aa11"), damage(publish(tree, "1.0-bb22"))

    def code(version: Version) -> int:
        words = ["report", version.name, "--check"]
        return int(CliRunner().invoke(cli, words, standalone_mode=False).return_value)

    assert code(whole) == ExitCode.OK
    assert code(damaged) == ExitCode.ARTIFACT
    reject(damaged, "redis grows")
    assert code(damaged) == ExitCode.ARTIFACT
