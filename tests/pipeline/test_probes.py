"""Probes are nops with a note; they stay where the note says through LTO, BOLT and stripping."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.core.errors import ArtifactError
from pipeline.core.process import run
from pipeline.toolchain.find import find_llvm
from pipeline.toolchain.flags import STRIP, texts
from pipeline.toolchain.probes import read_probes, require_probes

ROOT = Path(__file__).parents[2]
HEAD = '#include "base/probe.h"\n'
PROBE = """
__attribute__((noinline)) long {name}_1(long a) {{ return a * 3; }}
long {name}(long a) {{ HAK_PROBE({name}, a, 5); return {name}_1(a) + 1; }}
"""
Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def compiled(*flags: str, names: tuple[str, ...] = ("one", "two")) -> Path:
        text = "".join(PROBE.format(name=name) for name in names)
        (tmp_path / "a.c").write_text(HEAD + text, encoding="utf-8")
        out = tmp_path / "a.so"
        clang = find_llvm() / "clang"
        common = ("-O2", "-shared", "-fPIC", "-fuse-ld=lld", f"-I{ROOT / 'allocator'}", "-nostdlib")
        run([clang, *common, *flags, tmp_path / "a.c", "-o", out])
        return out

    return compiled


def names(path: Path) -> list[str]:
    return sorted(probe.name for probe in read_probes(path))


def strip(path: Path, *more: str) -> Path:
    out = path.with_name("stripped.so")
    run([find_llvm() / "llvm-objcopy", *(more or texts(STRIP)), path, out])
    return out


@pytest.mark.parametrize("flags", [(), ("-flto", "-ffunction-sections", "-Wl,--gc-sections")])
def test_a_probe_is_a_nop_and_a_note(build: Build, flags: tuple[str, ...]) -> None:
    made = build(*flags)
    probes = {probe.name: probe for probe in read_probes(made)}
    assert sorted(probes) == ["one", "two"]
    assert all(probe.is_nop for probe in probes.values())
    assert probes["two"].arguments.endswith("8@$5")


def test_they_survive_bolt_and_stripping(build: Build, tmp_path: Path) -> None:
    made, moved = build("-Wl,--emit-relocs"), tmp_path / "moved.so"
    bolt = find_llvm() / "llvm-bolt"
    run([bolt, made, "-o", moved, "--reorder-functions=hfsort", "--reorder-blocks=ext-tsp"])
    stripped = strip(moved)
    require_probes(stripped, made)
    assert names(stripped) == ["one", "two"]
    before, after = ({probe.address for probe in read_probes(path)} for path in (made, stripped))
    assert before != after, "BOLT has moved nothing: this shows nothing"


def test_lost_and_misplaced_probes_are_found(build: Build) -> None:
    made = build()
    bare = strip(made, "--strip-all")
    with pytest.raises(ArtifactError, match=r"has lost probes of .*: one, two"):
        require_probes(bare, made)
    data = bytearray(made.read_bytes())
    data[data.index(b"hakmem\0one\0") - 24] ^= 1
    made.write_bytes(data)
    with pytest.raises(ArtifactError, match="no nop lies where a probe should: one at"):
        require_probes(made, made)


def used() -> set[str]:
    """Return the probes that the sources have."""
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "allocator").rglob("*.c"))
    return set(re.findall(r"HAK_PROBE(?:_OF_CLASS)?\((\w+),", sources))


def test_all_that_the_docs_name_are_in_the_sources() -> None:
    page = (ROOT / "docs/probes.md").read_text("utf-8")
    assert used() == set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    assert used() == {"refill", "retire", "purge", "growth", "refusal"}


SCRIPTS = sorted((ROOT / "operate/probes").glob("*.bt"))


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) == 3


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_name_probes_that_are_there(script: Path) -> None:
    named = re.findall(r"^usdt:LIBRARY:hakmem:(\w+)", script.read_text("utf-8"), re.M)
    assert named
    assert set(named) <= used()


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_knows_them(build: Build) -> None:
    command = ["gdb", "-nx", "-batch", "-ex", "info probes stap hakmem", str(build())]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    found = {(probe.name, probe.address) for probe in read_probes(Path(command[-1]))}
    listed = re.findall(r"^stap hakmem +(\w+) +(0x[0-9a-f]+)", said, re.M)
    assert {(name, int(address, 16)) for name, address in listed} == found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_bpftrace_understands_the_scripts(script: Path, build: Build, tmp_path: Path) -> None:
    """With the dump of what it has understood: to attach takes a kernel with BPF, and root."""
    filled = tmp_path / script.name
    library = build(names=("refill", "retire", "growth", "purge", "refusal"))
    filled.write_text(script.read_text("utf-8").replace("LIBRARY", str(library)), encoding="utf-8")
    if shutil.which("bpftrace") is None:
        pytest.skip("bpftrace is not installed")
    done = subprocess.run(["bpftrace", "-d", filled], capture_output=True, text=True)
    if "AST after: parser" not in done.stdout + done.stderr:
        pytest.skip(f"bpftrace does not run here: {(done.stderr or done.stdout)[:99]}")
    assert "AST after: Semantic" in done.stdout + done.stderr
