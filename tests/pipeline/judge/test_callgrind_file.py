"""Reading what callgrind wrote, and the files that it counted."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from pipeline.core.errors import ArtifactError, DataError
from pipeline.judge.counting import valgrind
from pipeline.judge.counting.callgrind_file import Profile, Region, read_profile
from pipeline.judge.counting.valgrind import Simulation
from pipeline.judge.request import CacheGeometry
from pipeline.toolchain.elf_file import interpreter, reading, text_bytes

LIBRARY = Region(path="/lib/liba.so", base=0x400000, span=0x10000)
HEAD = "positions: instr\nevents: Ir Dr Dw I1mr D1mr\nsummary: {total} 0 0 3 0\n"
BODY = """
ob=/lib/liba.so
fn=malloc
0x1000 10 1 1 2
0x1040 5
cob=/lib/libc.so
cfn=memset
calls=3 0x99
0x1044 1000 0 0 900
0x1048 1
ob=???
fn=0x0000000000402000
0x402000 20 0 0 1
0x600000 7 0 0 5
ob=/lib/libc.so
fn=memset
0x402000 50 0 0 9
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "counts.callgrind"
    path.write_text(text)
    return path


def test_code_is_found_by_address_also_outside_the_text_section(tmp_path: Path) -> None:
    profile = read_profile(write(tmp_path, HEAD.format(total=93) + BODY), LIBRARY)
    assert profile.instructions == {0x1000: 10, 0x1040: 5, 0x1048: 1, 0x2000: 20}
    assert profile.i1_misses.total() == 3
    assert profile.total_instructions == 93


def test_branches_are_counted_in_the_library_alone(tmp_path: Path) -> None:
    head = "positions: instr\nevents: Ir I1mr Bc Bcm Bi Bim\nsummary: 32\n"
    body = "ob=/lib/liba.so\n0x10 10 0 4 1 2 1\n0x20 2 0 1\nob=/x\n0x10 20 0 9 0 9\n"
    assert read_profile(write(tmp_path, head + body), LIBRARY).branches == 7


def test_branches_that_were_not_simulated_are_unknown(tmp_path: Path) -> None:
    assert read_profile(write(tmp_path, HEAD.format(total=93) + BODY), LIBRARY).branches is None


def test_lines_and_pages() -> None:
    executed = Counter({0x1000: 960, 0x1004: 30, 0x1040: 5, 0x2000: 5})
    profile = Profile(executed, Counter(), total_instructions=1000)
    assert (profile.touched(64), profile.touched(4096)) == (3, 2)
    assert (profile.hot(64), profile.hot(4096)) == (1, 1)
    flat = Profile(Counter(dict.fromkeys(range(0, 6400, 64), 1)), Counter(), 100)
    assert (flat.touched(64), flat.hot(64)) == (100, 99)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (HEAD.format(total=92) + BODY, "add up"),
        ("positions: line\n", "positions"),
        ("events: Dr Ir I1mr\n", "events"),
        ("events: Ir Dr Dw\n", "I1mr"),
        (BODY, "before the line"),
        ("", "its sum says None"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(DataError, match=word):
        read_profile(write(tmp_path, text), LIBRARY)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_profile(tmp_path / "none", LIBRARY)


@pytest.mark.parametrize("branches", [True, False])
def test_branches_are_simulated_where_they_are_reported(
    monkeypatch: pytest.MonkeyPatch, branches: bool
) -> None:
    monkeypatch.setattr(valgrind, "client_command", lambda argv, _: argv)
    program, library, log = (sys.executable,), Path("/x.so"), Path("/log")
    what = Simulation(program, {}, library, CacheGeometry(4096, 8), log, branches=branches)
    said = [one for one in what.command(Path("/v"), Path("/c")) if "--branch-sim" in one]
    assert said == [f"--branch-sim={'yes' if branches else 'no'}"]


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_text("not ELF")
    with pytest.raises(ArtifactError, match="ELF"):
        reading(path, text_bytes)
    with pytest.raises(ArtifactError, match="No such file"):
        reading(tmp_path / "none.so", text_bytes)


def test_a_program_names_its_dynamic_linker() -> None:
    program = Path("/proc/self/exe").resolve()
    assert Path(reading(program, interpreter) or "").is_file()
    assert reading(program, text_bytes) > 0
