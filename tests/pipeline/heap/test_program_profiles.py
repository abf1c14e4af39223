"""Heap profiles that real programs write, through the library's option."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.commands.heap import heap_command

PROGRAM = """
#include <stdlib.h>
#define MANY 40000
void *volatile kept;
__attribute__((noinline)) void many_small(void) {
    for (int i = 0; i < MANY; i++)
        kept = malloc(100);
}
__attribute__((noinline)) void few_large(void) {
    for (int i = 0; i < 20; i++)
        kept = malloc(100000);
}
__attribute__((noinline)) void none_left(void) {
    for (int i = 0; i < MANY; i++) {
        kept = malloc(64);
        free(kept);
    }
}
int main(void) {
    many_small();
    few_large();
    none_left();
    return 0;
}
"""


def library() -> Path:
    """Return the production library that the clang build has made.

    That build may be linking it just now, beside these tests.
    """
    found = Path(__file__).parents[3] / "build/clang/lib/libhakmem.so"
    env = {**os.environ, "LD_PRELOAD": str(found)}
    done = subprocess.run(["true"], env=env, capture_output=True)
    if done.returncode != 0 or done.stderr:
        pytest.skip("there is no clang build that is done")
    return found


@pytest.fixture
def program(tmp_path: Path) -> Path:
    compiler = shutil.which("clang-22") or shutil.which("clang") or shutil.which("gcc")
    assert compiler
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    flags = ("-g", "-O1", "-fno-builtin", "-gdwarf-4")
    subprocess.run([compiler, *flags, "program.c", "-o", "program"], cwd=tmp_path, check=True)
    return tmp_path / "program"


def start(program: Path, prefix: str, **options: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LD_PRELOAD": str(library()), "HAKMEM_PROFILE_HEAP": prefix,
           "HAKMEM_PROFILE_RATE": "4096", **options}  # fmt: skip
    return subprocess.run([program], env=env, check=True, capture_output=True, text=True)


def test_a_program_tells_at_its_end_who_has_its_memory(program: Path, tmp_path: Path) -> None:
    assert start(program, f"{tmp_path}/app").stderr == ""
    (file,) = tmp_path.glob("app.*.1.heap")
    assert file.stat().st_mode & 0o777 == 0o600
    asked = [str(file), "--show", "folded"]
    said = CliRunner().invoke(heap_command, asked, catch_exceptions=False).output
    own = {name: int(size) for name, size in re.findall(r"(\w+)[^;]*? (\d+)$", said, re.M)}
    # Some 965 samples: six standard errors are a fifth. Each of the 20 is nearly certain.
    assert own["many_small"] == pytest.approx(4_000_000, rel=0.25)
    assert own["few_large"] == pytest.approx(2_000_000, rel=0.01)
    assert "none_left" not in own


def test_a_path_that_is_not_absolute_is_refused_by_a_sentence(program: Path) -> None:
    assert "is no absolute path" in start(program, "here").stderr


def test_a_folder_that_is_not_there_is_told_and_harms_nothing(program: Path) -> None:
    early, late = start(program, "/nowhere/app").stderr.splitlines()
    assert early == (
        "hakmem: HAKMEM_PROFILE_HEAP=/nowhere/app: no profile can be written there yet: "
        "there is no such folder"
    )
    assert late.startswith("hakmem: no heap profile at /nowhere/app")
    assert late.endswith(".1.heap: there is no such folder")


def test_a_file_that_cannot_be_written_is_told_in_words(program: Path, tmp_path: Path) -> None:
    options = {"LD_PRELOAD": str(library()), "HAKMEM_PROFILE_HEAP": f"{tmp_path}/app"}
    shell = ["sh", "-c", 'ulimit -f 0; exec "$0"', str(program)]
    done = subprocess.run(shell, env=options, capture_output=True, text=True)
    assert done.stderr.endswith(".1.heap: the file would be longer than ulimit -f allows\n")
    assert not [*tmp_path.glob("app.*")]


def test_a_signal_that_cannot_be_had_is_told(program: Path, tmp_path: Path) -> None:
    said = start(program, f"{tmp_path}/app", HAKMEM_PROFILE_SIGNAL="9").stderr
    assert said.startswith("hakmem: HAKMEM_PROFILE_SIGNAL: ") and said.endswith("; not used\n")
