"""static: libhakmem.a, compiled by the same profile, as ordinary objects for any linker.

Without LTO (its objects would be of this one LLVM) and without BOLT (which works on linked files):
users link it into programs of their own, whose linker decides the order.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.errors import ArtifactError, ChildError
from pipeline.core.process import run
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact, require_content
from pipeline.core.variant import stem
from pipeline.stages.build.compile import cmake_build
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.toolchain.flags import COMPILE, PGO, TUNED, spelled, texts

STAGE = "static"
ARCHIVE = "libhakmem.a"
PROBE_LIMIT_S = 60.0
# Says 1 only if the malloc that it calls is the archive's.
PROBE = """
#include "hakmem.h"
#include <stdlib.h>
int main(void) {
    void *volatile block = malloc(100);
    return hak_malloc_usable_size(block) >= 100 && hak_validate() ? 0 : 1;
}
"""


@dataclass(frozen=True)
class Archive:
    """A static library that a program was linked with, and ran."""

    path: Path
    digest: str
    artifact: Artifact


def static(shop: Workshop, setup: Setup, profile: ProfileData) -> Archive:
    """Build the static library by the profile, and try it in a program."""
    parts = {
        "sources": setup.sources,
        "geometry": setup.geometry_digest,
        "profile": profile.digest,
        "tools": shop.tool_keys,
        "flags": spelled(COMPILE, TUNED, PGO),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling the static library")
        build = room / "build"
        flags = texts(COMPILE, TUNED, PGO, root=shop.tree.root, room=build, profile=profile.path)
        cmake_build(
            shop,
            STAGE,
            build,
            targets=("hakmem-static",),
            compile_flags=flags,
            link_flags=(),
            options={"CMAKE_AR": str(shop.tools.path("llvm-ar"))},
            geometry=setup.geometry,
            line=line,
        )
        built = build / "lib" / f"{stem(shop.options.variant)}.a"
        require_content(built, "the static library")
        shutil.move(built, room / ARCHIVE)
        _probe(shop, room / ARCHIVE, build)
        shutil.rmtree(build)
        return {"bytes": (room / ARCHIVE).stat().st_size}

    made = shop.do(STAGE, parts, work, summary=lambda n: f"{ARCHIVE}, {n['bytes'] // 1024} KiB")
    return Archive(made.path(ARCHIVE), made.digest(ARCHIVE), made)


def _probe(shop: Workshop, archive: Path, scratch: Path) -> None:
    """Link a program with the archive and run it; ArtifactError if its malloc is another one."""
    source, program = scratch / "probe.c", scratch / "probe"
    source.write_text(PROBE, encoding="utf-8")
    include = shop.tree.root / "allocator" / "include"
    compiler = shop.tools.path("clang")
    flags = ("-O1", "-fno-builtin", "-fuse-ld=lld", *shop.target.words, f"-I{include}")
    argv, _ = shop.target.started((str(program),), ())
    try:
        run(
            [compiler, *flags, source, archive, "-o", program],
            log=shop.log(STAGE, "probe-link"),
            timeout_s=PROBE_LIMIT_S,
        )
        run(argv, log=shop.log(STAGE, "probe"), timeout_s=PROBE_LIMIT_S)
    except ChildError as error:
        raise ArtifactError(
            f"{archive}: a program linked with it did not run: {error.message}", log=error.log
        ) from error
