"""bench/places: the simulation on traces made by hand, and a real program under qemu."""

from __future__ import annotations

import platform
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.harness.allocators import REPOSITORY
from bench.harness.places import Found, main, measure, parse, simulate, table

FOLDER = REPOSITORY / "bench" / "placement"
PLACE = ("place", "blocks", "cache", "chunks", "learn", "policies")
HEAP = 0x2000_0000_0000
SITES = {"hot": 0x4000, "cold": 0x5000}
BLOCKS, SIZE = 4000, 32


def compiled(out: Path, sources: tuple[str, ...], *flags: str) -> None:
    files = [FOLDER / f"{name}.c" for name in sources]
    subprocess.run(
        ["cc", "-O1", "-std=gnu17", "-D_GNU_SOURCE", *flags, "-o", out, *files], check=True
    )


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("placement")
    compiled(folder / "place", PLACE, "-fno-builtin-malloc")
    shared = ("-fPIC", "-shared", "-fno-builtin", "-fno-omit-frame-pointer")
    compiled(folder / "place_recorder.so", ("recorder", "operators"), *shared, "-pthread", "-ldl")
    compiled(folder / "place_tracer.so", ("tracer",), *shared)
    return folder


def access(address: int) -> tuple[int, ...]:
    return (1 << 60 | 8 << 48 | address,)


def allocate(address: int, site: int) -> tuple[int, ...]:
    return (2 << 60 | address, SIZE, site, site + 1)


def free(address: int) -> tuple[int, ...]:
    return (3 << 60 | address,)


def in_turn(rounds: int) -> Iterator[tuple[int, ...]]:
    """Blocks of two sites side by side, as one class has them; those of one are read again."""
    for number in range(BLOCKS):
        site = SITES["hot" if number % 2 else "cold"]
        yield allocate(HEAP + number * SIZE, site)
        yield access(HEAP + number * SIZE)
    for _ in range(rounds):
        for number in range(1, BLOCKS, 2):
            yield access(HEAP + number * SIZE)


def simulated(tools: Path, words: Iterator[tuple[int, ...]], *arguments: str | Path) -> str:
    trace = b"".join(struct.pack(f"{len(part)}Q", *part) for part in words)
    done = subprocess.run(
        [tools / "place", *arguments], input=trace, capture_output=True, check=True
    )
    return done.stdout.decode()


def test_each_line_misses_once_if_nothing_is_read_again(tools: Path) -> None:
    found = parse(simulated(tools, in_turn(0)))
    assert found.totals == {"accesses": BLOCKS, "in_blocks": BLOCKS, "blocks": BLOCKS, "sites": 4}
    lines, pages = BLOCKS * SIZE // 64, -(-BLOCKS * SIZE // 4096)
    for name in ("today", "classes", "carved", "bump-4K", "turned"):
        of = found.misses[name]
        assert (of["d1"], of["l2"], of["ll"]) == (lines, lines, lines), name
        assert pages <= of["tlb"] <= pages + 1, name


def test_blocks_by_site_fill_half_of_the_lines(tools: Path) -> None:
    """128 KiB side by side do not fit into 48 KiB, nor do 64 KiB: every round misses its lines."""
    rounds, found = 10, parse(simulated(tools, in_turn(10)))
    lines = BLOCKS * SIZE // 64
    assert found.misses["today"]["d1"] == lines * (rounds + 1)
    assert found.misses["bump-64K"]["d1"] == lines * (rounds + 1)
    assert found.misses["site"]["d1"] < lines * (rounds + 3) / 2
    assert found.misses["context"]["d1"] == found.misses["site"]["d1"]


def test_what_one_run_teaches_groups_blocks_of_another(tools: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    simulated(tools, in_turn(20), "--learn", groups)
    heat = {line.split()[0]: line.split()[2] for line in groups.read_text().splitlines()}
    assert heat == {f"{SITES['hot'] + 1:016x}": "1", f"{SITES['cold'] + 1:016x}": "2"}
    taught = parse(simulated(tools, in_turn(10), "--groups", groups)).misses
    assert taught["heat"]["d1"] < taught["today"]["d1"] * 0.6


def test_freed_places_are_used_again(tools: Path) -> None:
    def words() -> Iterator[tuple[int, ...]]:
        for _ in range(1000):
            yield allocate(HEAP, 1)
            yield access(HEAP)
            yield free(HEAP)

    for name, of in parse(simulated(tools, words())).misses.items():
        assert of["d1"] == 1, name


def test_first_pages_of_slabs_meet_in_one_set_unless_they_are_turned(tools: Path) -> None:
    """Ten slabs whose first blocks are read in turn: a set of the TLB has six ways."""

    def words() -> Iterator[tuple[int, ...]]:
        for slab in range(10):
            yield allocate(HEAP + (slab << 16), 1)
        for number in range(1000):
            yield access(HEAP + (number % 10 << 16))

    found = parse(simulated(tools, words())).misses
    assert found["today"]["tlb"] == 1000
    assert found["turned"]["tlb"] < 50


def test_the_table_has_ratios_to_the_traced_place() -> None:
    levels = {"d1": 100, "l2": 50, "ll": 10, "tlb": 4, "tlb2": 0}
    found = Found({}, {"today": levels, "site": {**levels, "d1": 75}})
    assert table(found)[1:] == [
        ["today", "100", "50", "10", "4", "0"],
        ["site", "0.750", "1.000", "1.000", "1.000", "0.000"],
    ]


PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
void *wrapped(size_t size) { void *it = malloc(size); if (it) memset(it, 1, size); return it; }
#define SITE(name) __attribute__((noinline)) void *name(void) \
    { void *it = wrapped(48); __asm__("" ::: "memory"); return it; }
SITE(one)
SITE(two)
int main(void) {
    for (int i = 0; i < 100; i++) { free(one()); (void)!realloc(two(), 500); }
    return calloc(3, 5) == NULL;
}
"""


@pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or platform.machine() != "x86_64",
    reason="it needs qemu-user, and an x86-64 processor",
)
def test_a_real_program_tells_its_blocks_and_callers(tools: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    (tmp_path / "program.c").write_text(PROGRAM)
    flags = ["-O1", "-fno-builtin", "-fomit-frame-pointer"]
    subprocess.run(["cc", *flags, "-o", program, tmp_path / "program.c"], check=True)
    found = measure(tools, None, str(program), str(program))
    assert 301 <= found.totals["blocks"] <= 310  # libc has some of its own
    assert found.totals["in_blocks"] >= 200 * 3 + 100 * 3
    groups = tmp_path / "groups"
    simulate(tools, None, str(program), ("--learn", str(groups)))
    sites = [line.split() for line in groups.read_text().splitlines()]
    assert sum(int(site[4]) == 4800 for site in sites) == 2  # one() and two(), behind a wrapper
    assert sum(int(site[4]) >= 50000 for site in sites) == 1


def test_a_program_that_is_not_there_is_told(tools: Path) -> None:
    done = CliRunner().invoke(main, ["--programs", str(tools), "--test", "no-such-program"])
    assert done.exit_code == 1
    assert "there is no program: no-such-program" in done.output or "qemu" in done.output


def test_inputs_are_the_same_each_time_and_two_of_a_kind_differ() -> None:
    script, folder = FOLDER / "inputs.py", REPOSITORY / "build" / "places"
    found = []
    for _ in range(2):
        subprocess.run([sys.executable, script, "true"], check=True)
        found.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert found[0] == found[1]
    for ending in ("lua", "pl", "py", "smt2", "sql"):
        assert found[0][f"1.{ending}"] != found[0][f"2.{ending}"]
