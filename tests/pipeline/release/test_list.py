"""`pipeline list`, and versions of other profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from rollback_support import BAD, OLD, make, tree_of_two, version

from pipeline.cli import cli
from pipeline.core import output
from pipeline.core.errors import VersionError
from pipeline.core.lock import other_run, publishing_run, tree_lock
from pipeline.core.paths import Tree
from pipeline.core.report_error import report_error
from pipeline.release.current import current
from pipeline.release.marking import reject
from pipeline.release.marks import read_marks


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return tree_of_two(tmp_path, monkeypatch)


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


def test_columns_without_room_stand_in_a_second_table(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    reject(version(tree, OLD), "redis uses eight per cent more memory with it, and starts later")
    wide = CliRunner().invoke(cli, ["list"]).output
    assert "folder" in wide and "" not in wide.splitlines()
    for room in (80, 60):
        monkeypatch.setattr(output, "room", lambda room=room: room)
        said = CliRunner().invoke(cli, ["list"]).output
        *lines, below = said.splitlines()
        assert all(len(line) <= room for line in lines) and "not shown" not in said
        assert below.startswith(f"{OLD}: REJECTED: redis uses eight per cent more")
        second = lines[lines.index("") + 1 :]
        assert second[0].split()[0] == "version" and second[0].split()[-1] == "folder"
        assert len(second) == lines.index("")


def test_a_link_to_a_file_of_the_folder_does_not_count_it_twice(tree: Tree) -> None:
    folder = version(tree, OLD).folder
    (folder / "debug").write_bytes(b"x" * (2 << 20))
    (folder / "link").symlink_to("debug")
    said = CliRunner().invoke(cli, ["list"]).output.splitlines()
    (line,) = (line for line in said if OLD in line)
    assert "  2 MiB" in line, line


@pytest.mark.usefixtures("tree")
def test_a_terminal_without_room_for_the_second_table_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "room", lambda: 30)
    last = CliRunner().invoke(cli, ["list"]).output.splitlines()[-1]
    assert last.startswith("note: not shown, for the terminal is too narrow: folder")


def test_the_indent_is_the_same_where_no_version_is_current(tree: Tree) -> None:
    """Without a star the first column had no width."""
    before = CliRunner().invoke(cli, ["list"]).output.splitlines()[0]
    (tree.dist("p") / "current").unlink()
    assert CliRunner().invoke(cli, ["list"]).output.splitlines()[0] == before


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


@pytest.mark.parametrize(
    ("words", "publishes"),
    [
        (["build", "-p", "mixed"], True),
        (["bundle", "import", "a.tar.gz"], True),
        (["bundle", "export"], False),
        (["experiment", "note", "slower than `pipeline build` says"], False),
    ],
)
def test_the_command_of_a_run_decides_whether_it_publishes(
    words: list[str], publishes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["pipeline", *words])
    with tree_lock(tmp_path, wait=False, say=print):
        assert bool(publishing_run(tmp_path)) is publishes
        (tmp_path / "lock-holder").write_text("of an older pipeline", encoding="utf-8")
        assert "(process unknown)" in other_run(tmp_path)


@pytest.mark.parametrize("command", ["list", "report", "history"])
def test_a_build_beside_is_named_where_nothing_is_published(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tree = Tree(tmp_path)
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    monkeypatch.setattr("pipeline.core.report_error.own_root", lambda: tmp_path)
    error = CliRunner().invoke(cli, [command]).exception
    assert error is not None
    report_error(error)
    assert "another pipeline run" not in capsys.readouterr().err
    for beside, named in (("build", True), ("experiment", False)):
        monkeypatch.setattr("sys.argv", ["pipeline", beside])
        with tree_lock(tree.state, wait=False, say=print):
            report_error(error)
        said = "another pipeline run works in this tree (process" in capsys.readouterr().err
        assert said == named, beside


def test_a_run_beside_is_named_below_what_is_published(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a review, which publishes nothing, "what it makes is not in this yet" stood there."""
    said = {}
    for beside in ("build", "review"):
        monkeypatch.setattr("sys.argv", ["pipeline", beside])
        with tree_lock(tree.state, wait=False, say=print):
            done = CliRunner().invoke(cli, ["list"])
        said[beside] = "another pipeline run works in this tree" in done.stderr
        assert OLD in done.stdout
    assert said == {"build": True, "review": False}
    assert CliRunner().invoke(cli, ["list"]).stderr == ""
