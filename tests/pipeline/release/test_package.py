"""What is published can be used: by CMake projects, by pkg-config, by debuggers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Sandbox

from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.toolchain.find import find_llvm
from pipeline.toolchain.text_map import find_debug_file, read_text_map

CONSUMER = ROOT / "tests" / "package"
PROGRAMS = ("c-hakmem", "c-static", "cxx-hakmem", "cxx-static")
VERSION = Tree(ROOT).version
MAJOR, MINOR, _ = map(int, VERSION.split("."))
# A minor version may break what the one before promised.
WISHES = [(f"{MAJOR}.{MINOR}", True), (f"{MAJOR}.{MINOR + 1}", False), (f"{MAJOR + 1}.0", False)]


def build_consumer(prefix: Path, folder: Path, *programs: str) -> None:
    """Build the test project against what lies in ``prefix``, and run its programs."""
    run(["cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}"])
    run(["cmake", "--build", folder, "--target", *programs])
    for program in programs:
        assert run([folder / program]).stdout == f"{VERSION}\n"


def test_cmake_project_uses_the_published_version(built: Sandbox, tmp_path: Path) -> None:
    build_consumer(built.current, tmp_path, *PROGRAMS)
    shared = run(["readelf", "-d", tmp_path / "c-hakmem"]).stdout
    assert "Shared library: [libhakmem.so]" in shared
    assert "libhakmem" not in run(["readelf", "-d", tmp_path / "c-static"]).stdout


@pytest.mark.parametrize(("wish", "found"), WISHES)
def test_cmake_package_knows_its_version(
    wish: str, found: bool, built: Sandbox, tmp_path: Path
) -> None:
    text = (
        "cmake_minimum_required(VERSION 3.25)\nproject(x C)\n"
        f"find_package(hakmem {wish} QUIET)\nmessage(STATUS found=${{hakmem_FOUND}})\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(text, encoding="utf-8")
    prefix = f"-DCMAKE_PREFIX_PATH={built.current}"
    said = run(["cmake", "-S", tmp_path, "-B", tmp_path / "b", prefix]).stdout
    assert f"found={int(found)}" in said


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config here")
def test_pkg_config_gives_flags_that_work(built: Sandbox, tmp_path: Path) -> None:
    folder = built.current / "lib" / "pkgconfig"
    flags = run(
        ["pkg-config", "--cflags", "--libs", "hakmem"], env={"PKG_CONFIG_PATH": str(folder)}
    ).stdout.split()
    run(["gcc", CONSUMER / "main.c", *flags, "-o", tmp_path / "main"])
    env = {"LD_LIBRARY_PATH": str(built.current / "lib")}
    assert run([tmp_path / "main"], env=env).stdout == f"{VERSION}\n"


def malloc_address(library: Path) -> int:
    function = read_text_map(library).find("malloc")
    assert function is not None
    return function.address


def test_symbolizer_finds_source_lines_by_build_id(built: Sandbox, tmp_path: Path) -> None:
    library = built.current / "lib" / "libhakmem.so"
    alone = tmp_path / "libhakmem.so"  # no debug file beside it
    shutil.copyfile(library, alone)
    tool, debug = find_llvm() / "llvm-symbolizer", library.parent / "debug"
    address = hex(malloc_address(library))
    said = run([tool, f"--obj={alone}", f"--debug-file-directory={debug}", address]).stdout
    assert "gate.c:" in said
    assert "gate.c:" not in run([tool, f"--obj={alone}", address]).stdout


@pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb here")
def test_gdb_finds_source_lines_beside_the_library(built: Sandbox) -> None:
    library = built.current / "lib" / "libhakmem.so"
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", f"info line *{malloc_address(library):#x}", library],
        capture_output=True,
        text=True,
    )
    assert "allocator/front/gate.c" in done.stdout, done.stderr


def test_debug_file_lies_by_build_id(built: Sandbox) -> None:
    library = built.current.resolve() / "lib" / "libhakmem.so"
    found = find_debug_file(library)
    assert found.parent.parent == library.parent / "debug" / ".build-id"
    assert (library.parent / "libhakmem.so.debug").resolve() == found


def test_cmakes_own_install_serves_the_same_project(tmp_path: Path) -> None:
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    off = [f"-DHAKMEM_{part}=OFF" for part in ("BENCH", "TRAINING", "TESTS")]
    libdir = "-DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu"
    run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_C_COMPILER=gcc", *off, libdir])
    run(["cmake", "--build", build])
    run(["cmake", "--install", build, "--prefix", prefix])
    names = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if p.is_file()}
    lib = "lib/x86_64-linux-gnu"
    assert names == {
        f"{lib}/libhakmem.so",
        f"{lib}/libhakmem.a",
        f"{lib}/cmake/hakmem/hakmem-config.cmake",
        f"{lib}/cmake/hakmem/hakmem-config-version.cmake",
        f"{lib}/pkgconfig/hakmem.pc",
        "include/hakmem.h",
    }
    build_consumer(prefix, tmp_path / "consumer", "c-static", "cxx-hakmem")
