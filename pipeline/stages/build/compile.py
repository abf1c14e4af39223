"""Compiling one flavour of the library: what baseline, instrument and pgo have in common."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_tree
from pipeline.core.errors import BuildError, ChildError
from pipeline.core.process import run
from pipeline.core.processor import ANY
from pipeline.core.store import require_content
from pipeline.core.watching import steps_of_ninja
from pipeline.geometry.code import compile_flags as code_flags
from pipeline.geometry.tables import generate
from pipeline.stages.build.workshop import Workshop
from pipeline.toolchain.flags import COMPILE, LINK, Flags, texts

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry

LIBRARY = "libhakmem.so"
GEOMETRY = "geometry"
# What bench and training programs are made from; profiles and notes lie in the same folders.
PROGRAM_FOLDERS = ("bench", "training")
PROGRAM_SOURCES = (".c", ".h", ".txt")
# All of a build folder takes minutes on a quiet machine, and many times as long on a busy one.
COMPILE_LIMIT_S = 3600.0


def cmake_build(
    shop: Workshop,
    stage: str,
    build: Path,
    *,
    compile_flags: Sequence[str],
    link_flags: Sequence[str],
    targets: Sequence[str] = ("hakmem",),
    options: Mapping[str, str] | None = None,
    geometry: Geometry | None = None,
    line: StageLine | None = None,
) -> None:
    """Configure the tree in ``build`` and build ``targets``; BuildError with the log if not.

    The tables of a ``geometry`` lie in the build folder, whose name no output contains; what it
    says of the code overrules the flags of the stage. ``line`` says how much is compiled.
    """
    if geometry is not None:
        generate(geometry, build / GEOMETRY)
        options = {**(options or {}), "HAKMEM_GEOMETRY": str(build / GEOMETRY)}
    settings = {
        **_settings(shop, geometry),
        "CMAKE_C_FLAGS": shlex.join([*compile_flags, *code_flags(geometry)]),
        "CMAKE_SHARED_LINKER_FLAGS": shlex.join(link_flags),
        **(options or {}),
    }
    cmake = shop.tools.path("cmake")
    defines = [f"-D{name}={value}" for name, value in settings.items()]
    steps: dict[str, list[str | Path]] = {
        "configure": [cmake, "-G", "Ninja", "-S", shop.tree.root, "-B", build, *defines],
        "compile": [cmake, "--build", build, "--target", *targets],
    }
    for name, argv in steps.items():
        _run(argv, shop.log(stage, name), line)
    _refuse_changed(shop)


def _settings(shop: Workshop, geometry: Geometry | None) -> dict[str, str]:
    """Return what CMake is told for each stage, as far as the stage says nothing else."""
    return {
        "CMAKE_C_COMPILER": str(shop.tools.path("clang")),
        "CMAKE_MAKE_PROGRAM": str(shop.tools.path("ninja")),
        "CMAKE_BUILD_TYPE": "",
        "CMAKE_EXE_LINKER_FLAGS": "-fuse-ld=lld",
        "HAKMEM_VARIANT": shop.options.variant,
        "HAKMEM_PROFILE": shop.profile.name,
        "HAKMEM_CPU": geometry.processor if geometry else ANY,
        "HAKMEM_TESTS": "OFF",
        "HAKMEM_BENCH": "OFF",
        "HAKMEM_TRAINING": "OFF",
        **shop.target.settings,
    }


def _run(argv: list[str | Path], log: Path, line: StageLine | None) -> None:
    look = steps_of_ninja(line.part) if line else None
    try:
        run(argv, log=log, timeout_s=COMPILE_LIMIT_S, look=look)
    except ChildError as error:
        raise BuildError(
            _first_error(error), hint=error.hint or "the log has the whole output", log=error.log
        ) from error


def source_digests(shop: Workshop) -> dict[str, str]:
    """Return the digests of what is compiled, by kind: as they stand in the tree just now."""
    root = shop.tree.root
    return {
        "sources": digest_tree(root, library_sources(shop)),
        "programs": digest_tree(root, PROGRAM_FOLDERS, PROGRAM_SOURCES),
    }


def _refuse_changed(shop: Workshop) -> None:
    """Raise BuildError if what was compiled is no longer what the keys of this build say."""
    if shop.hashed and source_digests(shop) != shop.hashed:
        raise BuildError(
            "the sources were changed while this build was at work, so it matches neither state",
            hint="the same command again builds what is there now",
        )


def take_library(shop: Workshop, build: Path, room: Path) -> Path:
    """Move the library out of a build folder into the room and drop the folder."""
    built = build / "lib" / shop.published_name
    require_content(built, "the library")
    target = room / LIBRARY
    shutil.move(built, target)
    shutil.rmtree(build)
    return target


def build_plain(
    shop: Workshop,
    stage: str,
    room: Path,
    geometry: Geometry | None = None,
    options: Mapping[str, str] | None = None,
    further: Flags = (),
    line: StageLine | None = None,
) -> Path:
    """Compile the library as the baseline is, but cut by ``geometry``; return it in ``room``.

    ``options`` are CMake's, ``further`` flags are added to the baseline's. ``room`` is a folder of
    the caller's own. Raises BuildError if a compiler refuses.
    """
    build = room / "build"
    cmake_build(
        shop,
        stage,
        build,
        compile_flags=texts(COMPILE, further, root=shop.tree.root, room=build),
        link_flags=texts(LINK),
        options=options,
        geometry=geometry,
        line=line,
    )
    return take_library(shop, build, room)


def library_sources(shop: Workshop) -> list[str]:
    """Return the names below the root that decide what the library is made of."""
    names = ["CMakeLists.txt", "VERSION", "cmake", "allocator"]
    return [name for name in names if (shop.tree.root / name).exists()]


def _first_error(error: ChildError) -> str:
    """Return the first line that a compiler or CMake calls an error, else the last words."""
    if error.log is not None and error.log.exists():
        lines = error.log.read_text(encoding="utf-8").splitlines()
        for line in lines:
            if " error: " in line or "CMake Error" in line or line.startswith("error:"):
                return f"the build failed: {line.strip()}"
    return f"the build failed: {error.message}"
