"""The recipes of packaging/ say what the tree says; those whose tools are here build and run."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from made import ROOT

from pipeline.toolchain.find import find_llvm

RECIPES = ROOT / "packaging"
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
OPTION = re.compile(r"-DHAKMEM_(\w+)=")


def text(name: str) -> str:
    return (RECIPES / name).read_text(encoding="utf-8")


def options_of_cmake() -> set[str]:
    files = (ROOT / "CMakeLists.txt", ROOT / "allocator" / "CMakeLists.txt")
    return set(re.findall(r"option\(HAKMEM_(\w+)", "".join(f.read_text("utf-8") for f in files)))


def test_recipes_have_the_version_of_the_tree() -> None:
    assert tomllib.loads(text("rust/Cargo.toml"))["package"]["version"] == VERSION
    assert json.loads(text("vcpkg/hakmem/vcpkg.json"))["version"] == VERSION


def test_recipes_name_options_that_there_are() -> None:
    named = set(OPTION.findall(text("vcpkg/hakmem/portfile.cmake")))
    assert named and named <= options_of_cmake()
    rust = re.search(r"for part in \[(.*)\]", text("rust/build.rs"))
    assert rust and set(re.findall(r"\w+", rust[1])) <= options_of_cmake()


def test_the_conan_recipe_takes_what_a_build_needs() -> None:
    tree = ast.parse(text("conan/conanfile.py"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    for pattern in ("CMakeLists.txt", "VERSION", "LICENSE", "allocator/*", "cmake/*"):
        assert pattern in words
        assert list(ROOT.glob(pattern))
    assert {"BENCH", "TRAINING", "TESTS"} <= words & options_of_cmake()


def test_the_image_copies_packages_that_are_made() -> None:
    copied = re.findall(r"([\w-]+)_\*\.deb", text("container/Containerfile"))
    made = (ROOT / "pipeline/release/debian.py").read_text(encoding="utf-8")
    assert copied == ["libhakmem", "hakmem-tools"]
    assert all(f'"{name}"' in made for name in copied)


def test_the_rust_crate_declares_what_the_header_has() -> None:
    header = (ROOT / "allocator/include/hakmem.h").read_text(encoding="utf-8")
    declared = re.findall(r"fn (hak_\w+)\(", text("rust/src/lib.rs"))
    assert declared and all(f"{name}(" in header for name in declared)


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_header_makes_no_warnings(compiler: str, language: str) -> None:
    program = shutil.which(compiler) or str(find_llvm() / compiler)
    strict = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    include = f'#include "{ROOT}/allocator/include/hakmem.h"\n'
    argv = [program, *strict, "-x", language, "-"]
    done = subprocess.run(argv, input=include, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo here")
def test_a_rust_program_allocates_by_hakmem(tmp_path: Path) -> None:
    crate = tmp_path / "tree" / "packaging" / "rust"
    shutil.copytree(RECIPES / "rust", crate)
    for name in ("CMakeLists.txt", "VERSION", "allocator", "cmake"):
        (tmp_path / "tree" / name).symlink_to(ROOT / name)
    done = subprocess.run(
        ["cargo", "test", "--offline", "--target-dir", tmp_path / "target"],
        cwd=crate,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def fetched(folder: Path, target: str, *options: str) -> str:
    """Build and run a project of somebody else that fetches this tree; return what cmake said."""
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer C)\ninclude(FetchContent)\n"
        f'FetchContent_Declare(hakmem SOURCE_DIR "{ROOT}")\nFetchContent_MakeAvailable(hakmem)\n'
        f'add_executable(main "{ROOT}/tests/package/main.c")\n'
        f"target_link_libraries(main PRIVATE hakmem::{target})\n",
        encoding="utf-8",
    )
    build, said = folder / "build", ""
    configure = ["-S", str(folder), "-B", str(build), *options]
    for argv in (configure, ["--build", str(build), "--target", "main"]):
        done = subprocess.run(["cmake", *argv], capture_output=True, text=True)
        said += done.stdout + done.stderr
        assert done.returncode == 0, said
    ran = subprocess.run([build / "main"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, f"{VERSION}\n")
    return said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "kind"), [("hakmem", "Debug"), ("static", ""), ("static", "Release")]
)
def test_a_project_fetches_and_builds_it(tmp_path: Path, target: str, kind: str) -> None:
    assert "warning" not in fetched(tmp_path, target, f"-DCMAKE_BUILD_TYPE={kind}")


@pytest.mark.slow
def test_a_strict_project_fetches_it(tmp_path: Path) -> None:
    strict = ("-DCMAKE_C_FLAGS=-Wpedantic -Werror", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
    fetched(tmp_path, "hakmem", "-DCMAKE_UNITY_BUILD=ON", *strict)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("conan") is None, reason="no conan here")
@pytest.mark.parametrize(("target", "shared"), [("hakmem", "True"), ("static", "False")])
def test_conan_makes_a_package_that_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, shared: str
) -> None:
    monkeypatch.setenv("CONAN_HOME", str(tmp_path / "home"))
    (tmp_path / "conanfile.txt").write_text(
        f"[requires]\nhakmem/{VERSION}\n[options]\nhakmem/*:shared={shared}\n"
        "[generators]\nCMakeDeps\nCMakeToolchain\n",
        encoding="utf-8",
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer C)\n"
        f'find_package(hakmem REQUIRED)\nadd_executable(main "{ROOT}/tests/package/main.c")\n'
        f"target_link_libraries(main PRIVATE hakmem::{target})\n",
        encoding="utf-8",
    )
    create = ["create", str(RECIPES / "conan"), "-o", f"hakmem/*:shared={shared}"]
    toolchain = "-DCMAKE_TOOLCHAIN_FILE=conan_toolchain.cmake"
    for argv in (
        ["conan", "profile", "detect"],
        ["conan", *create],
        ["conan", "install", ".", "--output-folder=build"],
        ["cmake", "-S", ".", "-B", "build", toolchain, "-DCMAKE_BUILD_TYPE=Release"],
        ["cmake", "--build", "build"],
    ):
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    ran = subprocess.run(["build/main"], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, f"{VERSION}\n")
    linked = subprocess.run(["ldd", "build/main"], cwd=tmp_path, capture_output=True, text=True)
    assert ("libhakmem.so" in linked.stdout) == (shared == "True")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Release", "Debug"])
def test_the_port_of_vcpkg_makes_a_package_that_links(tmp_path: Path, kind: str) -> None:
    stand_in = ROOT / "tests/operate/vcpkg_stand_in.cmake"
    port = RECIPES / "vcpkg/hakmem"
    main = ROOT / "tests/package"
    build = tmp_path / "consumer"
    packages = tmp_path / "packages"
    found_first = f"{packages / 'debug'};{packages}" if kind == "Debug" else packages
    for argv in (
        ["cmake", f"-DPORT_DIR={port}", f"-DINTO={tmp_path}", "-P", str(stand_in)],
        ["cmake", "-S", str(main), "-B", str(build), f"-DCMAKE_PREFIX_PATH={found_first}"],
        ["cmake", "--build", str(build)],
    ):
        done = subprocess.run(argv, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (packages / "share/hakmem/copyright").is_file()
    assert (packages / "include/hakmem.h").is_file()
    assert not (packages / "debug/include").exists()
    for name in ("c-hakmem", "c-static"):
        ran = subprocess.run([build / name], capture_output=True, text=True)
        assert (ran.returncode, ran.stdout) == (0, f"{VERSION}\n")
