"""A command without --profile, in a tree where `mixed` has nothing and others have something."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rollback_support import BAD, OLD, make, tree_of_two

from pipeline.cli import cli
from pipeline.core.errors import VersionError
from pipeline.core.paths import Tree
from pipeline.release.current import current, point_current
from pipeline.release.version import Version


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A tree in which profile `p` alone has versions."""
    return tree_of_two(tmp_path, monkeypatch)


def also_published(tree: Tree, line: str) -> None:
    """Publish a version of another line, too."""
    made = make(tree, "1.0-cc33", "2026-01-03")
    place = tree.dist(line) / made.name
    place.parent.mkdir(parents=True)
    made.folder.rename(place)
    point_current(Version(place))


def typed(*words: str) -> Result:
    return CliRunner().invoke(cli, words, prog_name="pipeline")


def refused(*words: str) -> VersionError:
    error = typed(*words).exception
    assert isinstance(error, VersionError), error
    return error


@pytest.mark.parametrize(
    "words",
    [
        *(["report"], ["verify"], ["health"], ["rollback"], ["history"], ["package"]),
        *(["diff"], ["install"], ["bundle", "export"], ["layout", "check"], ["layout", "show"]),
    ],
)
def test_the_help_says_which_profile_is_taken(words: list[str]) -> None:
    told = " ".join(typed(*words, "--help").output.split())
    assert "mixed, or the only one with a version" in told


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "words",
    [
        *(["report"], ["verify"], ["health"], ["rollback"], ["history"], ["package"]),
        *(["diff", OLD], ["install", "--prefix", "away", "--dry-run"], ["bundle", "export"]),
        *(["layout", "check"], ["layout", "show"]),
    ],
)
def test_the_only_profile_with_a_version_is_taken_and_named(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = typed(*words).stderr
    assert "note: 'mixed' has no published version, so this is about 'p', the only one with" in said


def test_a_rollback_without_a_profile_moves_that_of_the_only_one(tree: Tree) -> None:
    typed("rollback", "--to", OLD[:5])
    assert current(tree.dist("p")) == Version(tree.dist("p") / OLD)


@pytest.mark.parametrize("command", ["report", "verify", "health", "rollback"])
def test_of_several_each_is_a_command_to_paste(command: str, tree: Tree) -> None:
    also_published(tree, "shop")
    also_published(tree, "shop+hardened")  # which is another variant, so no answer
    error = refused(command)
    assert error.message == "profile 'mixed' has no published version, and 2 others have one"
    ways = [f"`.venv/bin/pipeline {command} -p {name}`" for name in ("p", "shop")]
    assert error.hint == f"give one of these: {' or '.join(ways)}"
    assert current(tree.dist("p")) == Version(tree.dist("p") / BAD)


def test_a_version_that_was_typed_stands_in_each_command(tree: Tree) -> None:
    also_published(tree, "shop")
    assert "`.venv/bin/pipeline verify 1.0-aa -p p`" in refused("verify", "1.0-aa").hint
    assert "`.venv/bin/pipeline rollback --to 1.0-aa -p p`" in (
        refused("rollback", "--to", "1.0-aa").hint
    )
    assert (
        "`.venv/bin/pipeline diff 1.0-aa 1.0-bb -p p`" in refused("diff", "1.0-aa", "1.0-bb").hint
    )


def test_of_the_build_judged_last_those_count_that_judged_one(tree: Tree) -> None:
    also_published(tree, "shop")
    (tree.reports("kv") / "last").mkdir(parents=True)
    said = typed("report", "last").stderr
    assert "'mixed' has no build that was judged here, so this is about 'kv'" in said


@pytest.mark.parametrize(
    "words", [("verify", "-p", "mixed"), ("report", "-p", "mixed"), ("health", "-p", "mixed")]
)
def test_a_profile_that_is_named_is_the_one(words: tuple[str, ...], tree: Tree) -> None:
    (tree.profiles).mkdir(parents=True)
    (tree.profiles / "mixed.toml").touch()
    assert "this is about" not in typed(*words).stderr


def test_the_default_is_taken_where_it_has_a_version(tree: Tree) -> None:
    also_published(tree, "mixed")
    assert "this is about" not in typed("verify").stderr


def test_a_path_needs_no_profile(tree: Tree) -> None:
    also_published(tree, "shop")
    done = typed("verify", str(tree.dist("shop") / "current"))
    assert not isinstance(done.exception, VersionError) and "this is about" not in done.stderr
