"""A program with more rights than its caller: our libraries must not do what the caller says."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Sandbox

if TYPE_CHECKING:
    from trace_support import Recorder

NOBODY = 65534
# The linker of a setuid program ignores LD_PRELOAD, so it has our library by its own wish.
PROGRAM = """
#include <stdlib.h>
#include <sys/auxv.h>
int main(void) { free(malloc(99)); return (int)getauxval(AT_SECURE); }
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a setuid program")


Caller = Callable[[Path, dict[str, str]], subprocess.CompletedProcess[str]]


@pytest.fixture
def as_nobody(tmp_path: Path) -> Caller:
    """Return a way to run a setuid program that is linked with a library, as another user."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)

    def call(library: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        program, copy = tmp_path / "program", tmp_path / library.name
        copy.write_bytes(library.read_bytes())
        copy.chmod(0o755)
        source = tmp_path / "program.c"
        source.write_text(PROGRAM, encoding="utf-8")
        subprocess.run(
            ["cc", source, "-o", program, "-Wl,--no-as-needed", copy, f"-Wl,-rpath,{tmp_path}"],
            check=True,
        )
        plain = _run(program, env)
        assert plain.returncode == 0
        assert _leaves_traces(plain, tmp_path), "the variable has no effect at all"
        program.chmod(0o4755)
        done = _run(program, env)
        if done.returncode == 0:
            pytest.skip(f"setuid has no effect here: {tmp_path} is mounted so, or a container")
        assert done.returncode == 1
        return done

    return call


def _run(program: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program], env=env, user=NOBODY, capture_output=True, text=True)


def _leaves_traces(done: subprocess.CompletedProcess[str], folder: Path) -> bool:
    """Return whether a library printed or wrote something, and remove what it wrote."""
    found = list((folder / "out").glob("*"))
    for file in found:
        file.unlink()
    return bool(done.stderr or found)


@pytest.mark.parametrize(
    "option", [{"HAKMEM_STATS_AT_EXIT": "1"}, {"HAKMEM_STATS_SOCKET": "not/absolute"}]
)
def test_options_of_the_library_are_ignored(
    option: dict[str, str], built: Sandbox, as_nobody: Caller, tmp_path: Path
) -> None:
    """Elsewhere each of them has the library write to stderr."""
    library = (built.current / "lib" / "libhakmem.so").resolve()
    done = as_nobody(library, option)
    assert not _leaves_traces(done, tmp_path)


def test_the_recorder_does_not_write(recorder: Recorder, as_nobody: Caller, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out").chmod(0o777)
    done = as_nobody(recorder.tools.library, {"HAKMEM_TRACE": f"{tmp_path}/out/%p"})
    assert not _leaves_traces(done, tmp_path)
