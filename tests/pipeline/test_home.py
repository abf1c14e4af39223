"""The command acts on the tree that is meant: also in a copy, behind a link, and when installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.exit_codes import ExitCode
from pipeline.core.home import MARKS, meant

ROOT = Path(__file__).resolve().parents[2]


def make_tree(folder: Path) -> Path:
    """Make what tells a tree, with a command in its .venv."""
    for name in MARKS:
        (folder / name).mkdir(parents=True)
    script = folder / ".venv" / "bin" / "pipeline"
    script.parent.mkdir(parents=True)
    script.touch()
    return folder


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    return make_tree(tmp_path / "one"), make_tree(tmp_path / "two")


def test_a_command_in_a_tree_means_that_tree(trees: tuple[Path, Path]) -> None:
    one, two = trees
    assert meant(one / ".venv/bin/pipeline", two / "pipeline", two) == one


def test_a_link_means_the_tree_that_one_stands_in(trees: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = trees
    link = tmp_path / "pipeline"
    link.symlink_to(one / ".venv/bin/pipeline")
    assert meant(link, two / "training", one) == two
    assert meant(link, tmp_path, two) == one


def test_a_venv_behind_a_link_is_its_own_trees(trees: tuple[Path, Path]) -> None:
    one, two = trees
    shutil.rmtree(two / ".venv")
    (two / ".venv").symlink_to(one / ".venv")
    assert meant(two / ".venv/bin/pipeline", one, one) == two


def test_a_module_means_its_own_tree(trees: tuple[Path, Path]) -> None:
    one, two = trees
    module = one / "pipeline" / "__main__.py"
    module.touch()
    assert meant(module, two, one) == one
    assert meant(Path("-c"), two, one) == one


def test_what_is_installed_means_the_tree_around(trees: tuple[Path, Path], tmp_path: Path) -> None:
    one, _ = trees
    script, packages = tmp_path / "bin" / "pipeline", tmp_path / "site-packages"
    script.parent.mkdir()
    script.touch()
    assert meant(script, one / "layouts", packages) == one
    assert meant(script, tmp_path, packages) is None


def copy_of_tree(folder: Path) -> Path:
    """Copy the package and what else tells a tree; its .venv starts the package of this tree."""
    for name in MARKS:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy2(source, target)
    (folder / "VERSION").write_text("7.7.7\n", encoding="utf-8")
    return folder


SCRIPT = """#!{python}
import sys
sys.path.insert(0, {root!r})
from pipeline.cli import main
main()
"""


def write_command(path: Path, root: Path) -> Path:
    """Write what pip writes for an editable installation of ``root``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPT.format(python=sys.executable, root=str(root)), encoding="utf-8")
    path.chmod(0o755)
    return path


def type_(command: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([command, *words], cwd=cwd, env=env, capture_output=True, text=True)


def test_a_copied_tree_acts_on_itself_and_says_so(tmp_path: Path) -> None:
    copy = copy_of_tree(tmp_path / "copy")
    command = write_command(copy / ".venv/bin/pipeline", ROOT)
    done = type_(command, "--version", cwd=tmp_path)
    assert done.stdout == "pipeline 7.7.7\n"
    assert f"acts on {copy}" in done.stderr and "./bootstrap" in done.stderr
    listed = type_(command, "list", "-p", "mixed", cwd=ROOT)
    assert listed.returncode == ExitCode.VERSION  # nothing is published there


def test_the_package_in_its_own_tree_says_nothing(tmp_path: Path) -> None:
    copy = copy_of_tree(tmp_path / "copy")
    command = write_command(copy / ".venv/bin/pipeline", copy)
    done = type_(command, "--version", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("pipeline 7.7.7\n", "")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, unpacked as an installer does, with its command."""
    from hatchling import build

    folder, here = tmp_path_factory.mktemp("installed"), Path.cwd()
    os.chdir(ROOT)
    try:
        wheel = folder / build.build_wheel(str(folder))
    finally:
        os.chdir(here)
    shutil.unpack_archive(wheel, folder / "site-packages", format="zip")
    return write_command(folder / "bin" / "pipeline", folder / "site-packages")


def test_an_installed_command_acts_on_the_tree_around(installed: Path, tmp_path: Path) -> None:
    copy = copy_of_tree(tmp_path / "copy")
    done = type_(installed, "--version", cwd=copy / "training")
    assert done.stdout == "pipeline 7.7.7\n"
    assert f"acts on {copy}" in done.stderr


def test_an_installed_command_without_a_tree_has_help_and_a_hint(
    installed: Path, tmp_path: Path
) -> None:
    assert "Usage: pipeline" in type_(installed, "--help", cwd=tmp_path).stdout
    assert type_(installed, "--version", cwd=tmp_path).returncode == 0
    refused = type_(installed, "list", cwd=tmp_path)
    assert refused.returncode == ExitCode.USAGE
    assert "not in a tree of hakmem" in refused.stderr and "clone" in refused.stderr


def test_the_wheel_has_the_templates_of_the_reports(installed: Path) -> None:
    templates = installed.parents[1] / "site-packages" / "pipeline" / "report" / "templates"
    own = ROOT / "pipeline" / "report" / "templates"
    names = {path.relative_to(own) for path in own.rglob("*") if path.is_file()}
    assert names <= {path.relative_to(templates) for path in templates.rglob("*")}
