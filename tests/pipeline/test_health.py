"""`pipeline health`: programs behave with the published library as they do without."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipeline.cli import cli
from pipeline.core.errors import ArtifactError, VersionError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.release.marking import reject
from pipeline.release.version import Version

HEALTH = """
[[workload]]
name = "{name}"
kind = "command"
role = "verify"
argv = {argv}
"""
PROFILE = """
schema_version = 1
name = "{name}"
description = "for a test"
[layout]
name = "mixed"
must_be_hot = ["hak_malloc"]
[gate]
[[workload]]
name = "t"
kind = "program"
role = "train"
program = "training/tree"
ops = 1000
quick_ops = 1000
weight = 1
[[workload]]
name = "u"
kind = "command"
role = "train"
argv = ["seq", "3"]
weight = 1
[[workload]]
name = "v"
kind = "program"
role = "verify"
program = "bench/larson"
ops = 1000
quick_ops = 1000
weight = 1
"""


@pytest.fixture(scope="module")
def shouting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with which echo says another word."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "lib.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "extern char *program_invocation_short_name;\n"
        "__attribute__((constructor)) static void shout(void) {\n"
        '    if (strcmp(program_invocation_short_name, "echo") == 0) puts("loud");\n}\n',
        encoding="utf-8",
    )
    source, target = folder / "lib.c", folder / "lib.so"
    flags = ["-D_GNU_SOURCE", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", target, source], check=True)
    return target


@pytest.fixture
def tree(tmp_path: Path, shouting: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Three profiles, of which `none` has nothing published."""
    tree = Tree(tmp_path)
    tree.profiles.mkdir(parents=True)
    for name in ("good", "bad", "none"):
        words = '["echo", "word"]' if name == "bad" else '["true"]'
        text = PROFILE.format(name=name) + HEALTH.format(name=f"{name}-program", argv=words)
        if name == "good":
            text += HEALTH.format(name="gone", argv='["no-such-program"]')
        (tree.profiles / f"{name}.toml").write_text(text, encoding="utf-8")
        if name != "none":
            folder = tree.dist(name) / "1.0-aa"
            (folder / "lib").mkdir(parents=True)
            (folder / "lib" / "libhakmem.so").write_bytes(shouting.read_bytes())
            (folder / "manifest.json").write_text("{}", encoding="utf-8")
            (folder / "SHA256SUMS").touch()
            (tree.dist(name) / "current").symlink_to("1.0-aa")
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def health(*words: str) -> Result:
    return CliRunner().invoke(cli, ["health", *words], standalone_mode=False)


@pytest.mark.usefixtures("tree")
def test_all_profiles_stand_in_one_table() -> None:
    done = health("--all")
    assert done.return_value == ExitCode.WORKLOAD
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    assert "failed" in rows["bad"] and "other output: line 1: 'word' became 'loud'" in rows["bad"]
    assert "nothing published" in rows["none"]
    assert "1 passed, 1 failed, 1 skipped; profiles with a version: 2" in done.stdout
    assert "not on this machine: no-such-program" in done.stdout
    step = done.stdout.splitlines()[-1]
    assert step.startswith(
        "next: compare `bad-program-plain.log` with `bad-program-preloaded.log` in "
    )
    assert "`.venv/bin/pipeline reject -p bad 1.0-aa --reason WHY`" in step


@pytest.mark.usefixtures("tree")
def test_one_profile_alone_and_as_json() -> None:
    done = health("-p", "good", "--json")
    assert done.return_value == 0
    checks = json.loads(done.stdout)["checks"]
    assert [(one["program"], one["status"]) for one in checks] == [
        ("good-program", "passed"),
        ("gone", "skipped"),
    ]
    assert {one["version"] for one in checks} == {"1.0-aa"}


def test_a_skipped_program_is_the_next_step(tree: Tree) -> None:
    last = health("-p", "good").stdout.splitlines()[-1]
    assert last.startswith("next: nothing has to be done; to check the skipped programs")
    profile = tree.profiles / "good.toml"
    text = profile.read_text(encoding="utf-8")
    profile.write_text(text.replace('["no-such-program"]', '["true"]'), encoding="utf-8")
    assert "the programs do the same" in health("-p", "good").stdout.splitlines()[-1]
    profile.write_text(text.replace('["true"]', '["no-such-program"]'), encoding="utf-8")
    assert health("-p", "good").stdout.splitlines()[-1].startswith("next: nothing is shown: mend")


def test_without_a_version_there_is_nothing_to_run(tree: Tree) -> None:
    for name in ("good", "bad"):
        (tree.dist(name) / "current").unlink()
    for words in (("--all",), ("-p", "none")):
        assert isinstance(health(*words).exception, VersionError)


@pytest.mark.usefixtures("tree")
def test_all_and_one_exclude_each_other() -> None:
    assert "--all takes neither" in str(health("--all", "-p", "good").exception)


def test_a_rejected_version_is_called_so_though_it_passes(tree: Tree) -> None:
    assert "REJECTED" not in health("-p", "good").stdout
    reject(Version(tree.dist("good") / "1.0-aa"), "no good")
    assert "good 1.0-aa: REJECTED: no good" in health("-p", "good", "1.0-aa").stdout


def test_the_same_version_under_another_name_is_called_rejected_too(tree: Tree) -> None:
    first = tree.dist("good") / "1.0-aa"
    (first / "manifest.json").write_text('{"inputs": "d1"}', encoding="utf-8")
    shutil.copytree(first, first.with_name("1.0-bb"))
    reject(Version(first), "no good")
    said = health("-p", "good", "1.0-bb").stdout
    assert "good 1.0-bb: REJECTED as 1.0-aa: no good" in said


@pytest.mark.parametrize("words", [("-p", "good", "--json"), ("--all",)])
def test_a_damaged_version_is_refused_before_a_program_runs(
    tree: Tree, words: tuple[str, ...]
) -> None:
    version = tree.dist("good") / "1.0-aa"
    (version / "SHA256SUMS").write_text("00  lib/libhakmem.so\n", encoding="utf-8")
    done = health(*words)
    assert isinstance(done.exception, ArtifactError)
    assert "1.0-aa is damaged: lib/libhakmem.so (changed)" in str(done.exception)
    assert not list(tree.root.rglob("*.log"))
