"""What tests of `hakmem` share: the command itself, and programs and libraries of a few lines."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Compile = Callable[..., Path]


def hakmem(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "operate", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
    )


def loads(library: Path) -> bool:
    """Say whether a library is there as a whole: a build may link it just now, beside the tests."""
    env = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(["true"], env=env, capture_output=True)
    return done.returncode == 0 and not done.stderr


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile a line of C: a program, or with -shared a library."""

    def compiled(text: str, *flags: str, name: str = "made") -> Path:
        folder = tmp_path_factory.mktemp("c")
        (folder / "made.c").write_text(text + "\n", encoding="utf-8")
        argv: list[str | Path] = ["gcc", "-o", folder / name, folder / "made.c", *flags]
        if subprocess.run(argv, capture_output=True).returncode != 0:
            pytest.skip(f"gcc {' '.join(flags)} does not work here")
        return folder / name

    return compiled


@pytest.fixture(scope="session")
def library(compile_c: Compile) -> Path:
    """A library that serves malloc, as far as the command can see: its names and options."""
    text = (
        "#include <stddef.h>\nextern void *__libc_malloc(size_t); extern void __libc_free(void *);"
        'const char option[] = "HAKMEM_PURGE_DELAY\\0HAKMEM_STATS_SOCKET=";'
        "const struct { char variable[32]; unsigned long standard, lowest, highest; } table[] = {"
        '{"HAKMEM_PURGE_DELAY", 500, 0, 3600000}, {"HAKMEM_SOFT_LIMIT", 0, 0, 1ul << 48},'
        '{"HAKMEM_HARD_LIMIT", 0, 0, 1ul << 48}, {"", 0, 0, 0}};'
        "void *malloc(size_t n) { return __libc_malloc(n); } void free(void *p) { __libc_free(p); }"
    )
    return compile_c(text, "-shared", "-fPIC", name="libhakmem.so")


def publish(dist: Path, library: Path, profile: str, level: str, *kinds: str) -> Path:
    """Lay a version out as the pipeline does."""
    version = dist / profile / "1.0-aa"
    for folder in ("lib", *(f"lib/{kind}" for kind in kinds)):
        (version / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, version / folder / "libhakmem.so")
    entry = {"processor": {"march": "x86-64-v3"}}
    said = {"profile": profile, "version": "1.0-aa", "processor": {"march": level}}
    said["beside"] = dict.fromkeys(kinds, entry)
    (version / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
    (dist / profile / "current").symlink_to("1.0-aa")
    return version


def built_library() -> Path:
    built = ROOT / "build/clang/lib/libhakmem.so"
    if not loads(built) or b"hak_stats_json" not in built.read_bytes():
        pytest.skip("no library is built: cmake --preset clang && cmake --build --preset clang")
    return built
