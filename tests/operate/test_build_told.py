"""Which build it is, as the library tells it: what a plain build knows, however it is linked."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from made import ROOT, Compile, built_library, compile_c

from operate.elf import read

__all__ = ["compile_c"]
ASKS = """#include "hakmem.h"
#include <stdio.h>
#include <stdlib.h>
static char text[1 << 20];
int main(void) { free(malloc(1)); hak_stats_json(text, sizeof text); fputs(text, stdout);
    hak_stats_prometheus(text, sizeof text); fputs(text, stderr); return 0; }"""
FLAGS = ("-fno-builtin", f"-I{ROOT}/allocator/include")


def told(program: Path) -> tuple[dict[str, Any], str]:
    """Return what JSON says, and the line of Prometheus' text."""
    done = subprocess.run(
        [program],
        env={**os.environ, "HAKMEM_QUIET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(x for x in done.stderr.splitlines() if x.startswith("hakmem_build_info{"))
    return json.loads(done.stdout), line


@pytest.mark.parametrize("how", ["-pie", "-no-pie", "-static", "-static-pie"])
def test_inside_a_program_it_has_the_build_id_of_the_program(compile_c: Compile, how: str) -> None:
    archive = built_library().with_name("libhakmem.a")
    program = compile_c(ASKS, *FLAGS, how, "-fPIE", str(archive), "-Wl,--build-id", "-pthread")
    found, line = told(program)
    number = read(program).build_id
    assert len(number) == 40
    assert found["build"] == {"profile": None, "cpu": None, "build_id": number}
    labels = f'version="{found["hakmem"]}",variant="{found["variant"]}",build_id="{number}"'
    assert line == f"hakmem_build_info{{{labels}}} 1"


def test_as_a_library_it_has_its_own(compile_c: Compile) -> None:
    library = built_library()
    flags = ("-Wl,--build-id=0x1234", f"-Wl,-rpath,{library.parent}")
    found, _ = told(compile_c(ASKS, *FLAGS, str(library), *flags))
    assert found["build"]["build_id"] == read(library).build_id


def test_without_a_build_id_nothing_is_told(compile_c: Compile) -> None:
    archive = built_library().with_name("libhakmem.a")
    program = compile_c(ASKS, *FLAGS, str(archive), "-Wl,--build-id=none", "-pthread")
    found, line = told(program)
    assert found["build"]["build_id"] is None
    assert "build_id" not in line
