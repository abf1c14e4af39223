"""The allocator's own tests, run with a library that the pipeline has made."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT

from pipeline.core import process
from pipeline.toolchain.find import find_llvm

OFF = ("BENCH", "TRAINING", "TEST_SANITIZERS", "TEST_CUTS")


def pass_allocators_tests(library: Path, build: Path, folders: str) -> int:
    """Run the tests of these folders, ``a|b``, from a new build folder; return how many there are.

    Only their programs are built: the library is there.
    """
    settings = [f"-DCMAKE_C_COMPILER={find_llvm() / 'clang'}", f"-DHAKMEM_TEST_LIBRARY={library}"]
    off = [f"-DHAKMEM_{part}=OFF" for part in OFF]
    process.run(["cmake", "--preset", "clang", "-B", build, *off, *settings], cwd=ROOT)
    process.run(["cmake", "--build", build, "-j", "2", "--target", "test_programs", "expect_end"])
    chosen = ["-R", f"^({folders})[.]", "--output-on-failure"]
    done = process.run(["ctest", "--test-dir", build, "-j", "2", *chosen], expect=None)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.split(" tests failed out of ")[1].split()[0])
