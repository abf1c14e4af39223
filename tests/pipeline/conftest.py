"""For all pipeline tests: a sandbox, which is a copy of the tree with a profile of seconds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from trace_support import Recorder

    from pipeline.stages.build.workshop import Workshop

ROOT = Path(__file__).resolve().parents[2]
# What several folders share is found also when a file of another folder runs alone.
sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("trace", "judge")]
COPIED = (
    "CMakeLists.txt",
    "VERSION",
    "cmake",
    "allocator",
    "bench",
    "training",
    "layouts",
    "pipeline",
)

TINY = """
schema_version = 1
name = "tiny"
description = "small enough for tests"
[layout]
name = "mixed"
must_be_hot = ["hak_malloc", "hak_free"]

[gate]
budget_s = 2
quick_budget_s = 2
self_check_s = 2
chain = false
programs = ["sqlite3"]

[[workload]]
name = "mixed-sizes"
kind = "program"
role = "train"
program = "training/mixed_sizes"
ops = "100k"
quick_ops = "50k"
weight = 2

[[workload]]
name = "shell"
kind = "command"
role = "train"
argv = ["sh", "-c", "seq 2000 | sort | tail -n 1"]
weight = 1

[[workload]]
name = "random-mixed"
kind = "program"
role = "verify"
program = "bench/random_mixed"
ops = "1M"
quick_ops = "500k"
count_ops = "20k"
weight = 1

[[workload]]
name = "sort-played"
kind = "trace"
role = "verify"
record = ["sh", "-c", "seq 3000 | sort | tail -n 1"]
ops = "200k"
quick_ops = "100k"
weight = 1

[[workload]]
name = "health-sort"
kind = "command"
role = "verify"
argv = ["sh", "-c", "seq 5000 | sort -r | sha256sum"]
"""

# How `built` is cut. The sandboxes `fresh` are cut as the default.
GEOMETRY = """
schema_version = 1
[constants.small_depth]
value = 24
why = "builds with a geometry are tested"
"""

# Noise of the machine must not decide these tests: what the judge says is replaced, not measured.
# The answer stands in a file that no key knows: another one is no reason to judge again.
GATE = """
from pathlib import Path
from types import SimpleNamespace

ANSWER = Path(__file__).parents[2] / "gate"


def may_publish(result, allow_neutral, allow_regression=()):
    answer = ANSWER.read_text(encoding="utf-8")
    return answer == "True", f"the gate of the test says {answer}"


def answer_to(result, allow_neutral, allow_regression=()):
    return SimpleNamespace(quotes=())
"""


def shipped() -> list[str]:
    """Return the names of the committed profiles: somebody's own lie beside them."""
    listed = ["git", "ls-files", "training/profiles/*.toml"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(line).stem for line in found.splitlines()]


@dataclass(frozen=True)
class Sandbox:
    """A copy of the tree in which builds take seconds."""

    root: Path

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[str]:
        """Start ``pipeline`` with these arguments; its output is one stream."""
        # A shell starts background jobs with ctrl-C ignored, which children inherit.
        heeding = ["env", "--default-signal=INT"]
        return subprocess.Popen(
            [*heeding, sys.executable, "-u", "-m", "pipeline", *arguments],
            cwd=self.root,
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, **env: str) -> tuple[int, str]:
        """Run ``pipeline`` to its end; return exit code and output. No traceback may be in it."""
        child = self.start(*arguments, **env)
        output, _ = child.communicate()
        assert "Traceback" not in output, output
        return child.returncode, output

    def build(self, *arguments: str, **env: str) -> tuple[int, str]:
        """Build the profile ``tiny``."""
        return self.run("build", "--profile", "tiny", *arguments, **env)

    def profile(self, name: str, text: str) -> None:
        """Write a profile file."""
        (self.root / "training" / "profiles" / f"{name}.toml").write_text(text, encoding="utf-8")

    def gate(self, answer: bool) -> None:
        """Make the judge's last word this answer."""
        path = self.root / "pipeline" / "judge" / "publishing.py"
        path.write_text(GATE, encoding="utf-8")
        (self.root / "gate").write_text(str(answer), encoding="utf-8")

    def artifacts(self, stage: str) -> list[Path]:
        """Return the finished artifacts of a stage of ``tiny``; the last is the one used last."""
        folder = self.root / "build" / "pipeline" / "tiny" / stage
        found = [path.parent for path in folder.glob("[!.]*/receipt.json")]
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def workshop(self, store: Path | None = None) -> Workshop:
        """Return the surroundings of a stage of ``tiny``, with its own store or another one."""
        from pipeline.core.console import open_console
        from pipeline.core.paths import Tree
        from pipeline.core.store import Store
        from pipeline.profile.load import load_profile
        from pipeline.stages.build.workshop import Options, Workshop
        from pipeline.toolchain.find import find_toolchain

        tree = Tree(self.root)
        profile, kept = load_profile(tree, "tiny"), Store(store or tree.artifacts("tiny"))
        return Workshop(tree, profile, find_toolchain(), kept, open_console(False), Options())

    def take(self, source: Sandbox, stages: Iterable[str], name: str = "tiny") -> None:
        """Let the profile ``name`` begin with these stages of ``tiny`` in ``source``.

        Artifacts go by keys, which know neither tree nor profile: what is alike is found.
        """
        there, here = (one.root / "build" / "pipeline" for one in (source, self))
        shutil.rmtree(here / name, ignore_errors=True)
        for stage in stages:
            shutil.copytree(there / "tiny" / stage, here / name / stage)

    @property
    def geometry(self) -> Path:
        """The file that cuts ``tiny``; it need not exist."""
        return self.root / "layouts" / "tiny" / "geometry.toml"

    @property
    def current(self) -> Path:
        """The link to the published version of ``tiny``."""
        return self.root / "dist" / "tiny" / "current"


def make_sandbox(folder: Path) -> Sandbox:
    """Copy what a build needs into ``folder``."""
    folder.mkdir(parents=True)
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    sandbox = Sandbox(folder)
    sandbox.profile("tiny", TINY)
    sandbox.gate(True)
    return sandbox


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A sandbox in which ``tiny`` is built and published. Tests must leave it like that.

    It has a geometry of its own, which the other sandboxes have not.
    """
    sandbox = make_sandbox(tmp_path_factory.mktemp("built") / "tree")
    sandbox.geometry.parent.mkdir()
    sandbox.geometry.write_text(GEOMETRY, encoding="utf-8")
    code, output = sandbox.build()
    assert code == 0, output
    return sandbox


@pytest.fixture
def fresh(tmp_path: Path) -> Sandbox:
    """A sandbox in which nothing is built."""
    return make_sandbox(tmp_path / "tree")


@pytest.fixture
def tools_folder(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Make a folder of LLVM programs: all but some, or with others in their place."""

    def make(without: tuple[str, ...] = (), **scripts: str) -> Path:
        from pipeline.toolchain.find import LLVM_PARTS, find_llvm

        folder = tmp_path / "llvm"
        folder.mkdir()
        for part in LLVM_PARTS:
            if part not in without:
                (folder / part).symlink_to(find_llvm() / part)
        for name, text in scripts.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
        return folder

    yield make


@pytest.fixture(scope="session")
def shared_recorder(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """The recorder and a program to record; traces of several tests go into one folder."""
    from trace_support import make_recorder

    return make_recorder(tmp_path_factory.mktemp("program"), tmp_path_factory.mktemp("traces"))


@pytest.fixture
def recorder(shared_recorder: Recorder, tmp_path: Path) -> Recorder:
    """The same with a folder of this test alone."""
    return replace(shared_recorder, folder=tmp_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the quick tests first and whole builds last."""
    items.sort(key=lambda item: item.get_closest_marker("e2e") is not None)
