"""Hardened versions are published beside production's: neither is ever taken for the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.digest import digest_file
from pipeline.core.errors import ProfileError, UsageError, VersionError
from pipeline.core.paths import Tree
from pipeline.core.variant import HARDENED, PRODUCTION, line_of, shared_name, split_line
from pipeline.profile.load import load_profile
from pipeline.release.current import current, point_current
from pipeline.release.installed import Place
from pipeline.release.marks import read_marks
from pipeline.release.prune import plan_pruning
from pipeline.release.version import Version
from pipeline.release.wish import resolve

LINES = (PRODUCTION, HARDENED)


def make(tree: Tree, variant: str, name: str, created: str) -> Version:
    folder = tree.dist(line_of("p", variant)) / name
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "hakmem.h").write_text("", encoding="utf-8")
    (folder / "lib").mkdir()
    place = f"lib/{shared_name(variant)}"
    (folder / place).write_text(f"{variant} {name}", encoding="utf-8")
    verdict = {"mode": "quick", "throughput": "GO", "icache": "GO"}
    manifest = {
        "profile": "p",
        "created": created,
        "files": {place: digest_file(folder / place)},
        "inputs": name,
        "verdict": verdict,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    files = (place, "include/hakmem.h", "manifest.json")
    sums = "".join(f"{digest_file(folder / file)}  {file}\n" for file in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return Version(folder)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path / "tree")
    for variant in LINES:
        make(tree, variant, f"1.0-aa{variant}", "2026-01-01")
        point_current(make(tree, variant, f"1.0-bb{variant}", "2026-01-02"))
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def type_(*arguments: str) -> str:
    """Run a command in this process; whatever it raises passes through."""
    result = CliRunner().invoke(cli, [*arguments], catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def now(tree: Tree, variant: str) -> str:
    found = current(tree.dist(line_of("p", variant)))
    assert found is not None
    return found.name


@pytest.mark.parametrize("variant", LINES)
def test_a_line_is_a_profile_and_a_variant(variant: str) -> None:
    assert split_line(line_of("mixed", variant)) == ("mixed", variant)


def test_no_profile_can_be_called_like_a_line() -> None:
    root = Path(__file__).resolve().parents[3]
    with pytest.raises(ProfileError):
        load_profile(Tree(root), "mixed+hardened")


def test_a_rollback_moves_one_of_them_alone(tree: Tree) -> None:
    type_("rollback", "-p", "p", "--variant", "hardened")
    assert now(tree, HARDENED) == "1.0-aahardened"
    assert now(tree, PRODUCTION) == "1.0-bbproduction"
    assert read_marks(tree.dist("p")).aside == ()
    type_("rollback", "-p", "p")
    assert now(tree, PRODUCTION) == "1.0-aaproduction"
    assert "1.0-bbhardened may come back" in type_("unpin", "-p", "p+hardened")


def test_a_version_is_found_in_its_own_line_alone(tree: Tree) -> None:
    assert resolve(tree, "p+hardened", "1.0-bb").variant == HARDENED
    assert resolve(tree, "p").variant == PRODUCTION
    with pytest.raises(VersionError):
        type_("rollback", "-p", "p", "--to", "1.0-aahardened")
    with pytest.raises(VersionError):
        type_("reject", "-p", "p+hardened", "1.0-aaproduction", "--reason", "x")


@pytest.mark.usefixtures("tree")
def test_the_list_shows_both_and_which_is_current() -> None:
    for arguments in ((), ("-p", "p")):
        rows = [line.split() for line in type_("list", *arguments).splitlines()[1:]]
        stars = {row[2] for row in rows if row[0] == "*"}
        assert stars == {"1.0-bbproduction", "1.0-bbhardened"}
        assert {row[1] for row in rows if row[0] == "*"} == {"p", "p+hardened"}


def test_both_are_installed_below_one_prefix_and_removed_apart(tree: Tree, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    for line in ("p", "p+hardened"):
        type_("install", "-p", line, "--prefix", str(prefix))

    def there() -> set[str]:
        return {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}

    production = {
        "include/hakmem.h",
        "lib/libhakmem.so",
        "share/hakmem/installed.json",
        "share/hakmem/manifest.json",
    }
    hardened = {
        "lib/libhakmem-hardened.so",
        "share/hakmem-hardened/installed.json",
        "share/hakmem-hardened/manifest.json",
    }
    assert there() == production | hardened
    library = prefix / "lib/libhakmem-hardened.so"
    assert library.stat().st_mode & 0o777 == 0o755
    kept = [why for _, why in plan_pruning(tree.dist("p+hardened"), 1).stay]
    assert kept == ["current points to it"]  # it is the newest one, and what is installed
    type_("rollback", "-p", "p+hardened")
    type_("unpin", "-p", "p+hardened")
    make(tree, HARDENED, "1.0-cchardened", "2026-01-03")
    stay = {one.name: why for one, why in plan_pruning(tree.dist("p+hardened"), 1).stay}
    assert stay["1.0-bbhardened"] == f"it is installed below {prefix}"
    type_("uninstall", "--prefix", str(prefix), "--variant", "hardened")
    assert there() == production
    type_("uninstall", "--prefix", str(prefix))
    assert there() == set()


@pytest.mark.usefixtures("tree")
def test_each_is_told_what_is_installed_of_its_own(tmp_path: Path) -> None:
    type_("install", "-p", "p+hardened", "--prefix", str(tmp_path))
    assert Place(tmp_path).installed() is None
    record = Place(tmp_path, variant=HARDENED).installed()
    assert record is not None and record.version == "1.0-bbhardened"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "-p", "p+soft"),
        ("package", "-p", "p+hardened", "-o", "x"),
        ("report", "-p", "p+soft"),
        ("build", "-p", "p+hardened", "--tune-budget", "90s"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, [*arguments])
    assert result.exit_code != 0
    if arguments[0] == "package":
        assert isinstance(result.exception, UsageError)
        assert "packages are made of production" in result.exception.message
