"""Code that never ran lies in a mapping of its own: linked by lld, read back, and run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from pipeline.core.process import run
from pipeline.toolchain.find import find_llvm
from pipeline.toolchain.link_script import NEVER, link_script
from pipeline.toolchain.symbols import functions, in_section

SOURCE = """
#include <stdio.h>
static __attribute__((noinline)) int helper(int n) { return n + 1; }
int seldom(int n) { return helper(n) * 3; }
__attribute__((section(".text.unlikely.colder"))) int colder(int n) { return n - 1; }
__attribute__((section(".text.hot.warmer"))) int warmer(int n) { return n * 4; }
__attribute__((constructor)) static void start(void) { puts("started"); }
__thread int zero[2] = {3, 0};
int often(int n) { return n ? n * 2 : seldom(n) + colder(n) + warmer(n) + zero[1]; }
"""
FLAGS = ("-O1", "-shared", "-fPIC", "-ffunction-sections", "-fuse-ld=lld", "-Wl,-z,relro,-z,now")


def link(folder: Path, *never: str) -> Path:
    """Link a library with the functions ``never`` apart."""
    source, script, library = folder / "x.c", folder / "x.ld", folder / "x.so"
    source.write_text(SOURCE, encoding="utf-8")
    script.write_text(link_script(never), encoding="utf-8")
    run([find_llvm() / "clang", *FLAGS, f"-Wl,-T,{script}", source, "-o", library])
    return library


def segments(library: Path) -> dict[str, int]:
    """Return the number of the loaded segment that each section lies in."""
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        loaded = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
        return {
            section.name: number
            for section in elf.iter_sections()
            for number, segment in enumerate(loaded)
            if section["sh_size"] and segment.section_in_segment(section)
        }


def test_what_never_ran_has_a_segment_of_its_own(tmp_path: Path) -> None:
    library = link(tmp_path, "seldom", "helper", "colder", "warmer", "inlined_away")
    present = functions(find_llvm() / "llvm-nm", library, tmp_path / "log")
    assert in_section(library, NEVER, present) == {"seldom", "helper", "colder", "warmer"}
    place = segments(library)
    assert [name for name, number in place.items() if number == place[NEVER]] == [NEVER]
    # Read-only sections on both sides, or the system would make one mapping of them.
    assert place[".plt"] < place[".eh_frame_hdr"] < place[NEVER] < place[".eh_frame"]
    assert place[".eh_frame"] < place[".text"] < place[".dynamic"]


@pytest.mark.parametrize("never", [(), ("seldom",)])
def test_library_still_starts_and_works(never: tuple[str, ...], tmp_path: Path) -> None:
    library = link(tmp_path, *never)
    assert (NEVER in segments(library)) == bool(never)
    call = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).often(0))"
    done = subprocess.run(
        ["python3", "-c", call, str(library)], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split()) == ["2", "started"]


def test_relocated_data_begins_on_a_page(tmp_path: Path) -> None:
    with link(tmp_path).open("rb") as stream:
        elf = ELFFile(stream)
        relro = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_RELRO"]
        assert [s["p_vaddr"] % 4096 for s in relro] == [0]
