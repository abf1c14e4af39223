"""finish: a linked library as it is published: stripped, with its debug file; kept unstripped, too.

BOLT's stage ends with this; a build without BOLT that was chosen for publication gets it here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.errors import ArtifactError, BuildError, ChildError
from pipeline.core.process import run
from pipeline.core.receipt import Notes
from pipeline.stages.build.compile import LIBRARY
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import STRIP, spelled, texts

STAGE = "finish"
UNSTRIPPED = "unstripped.so"
OBJCOPY_LIMIT_S = 60.0


def finish(shop: Workshop, library: Library) -> Library:
    """Return ``library`` stripped; the artifact has it unstripped as well, and a debug file."""
    parts = {
        "library": library.digest,
        "tools": shop.tool_keys,
        "flags": spelled(STRIP),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("stripping")
        shutil.copyfile(library.path, room / UNSTRIPPED)
        split_debug(shop, STAGE, room)
        facts = check_library(room / LIBRARY, shop.log(STAGE, "probe"), shop.target)
        return {"build_id": facts.build_id, "bytes": (room / LIBRARY).stat().st_size}

    made = shop.do(STAGE, parts, work, summary=lambda n: f"{n['bytes'] // 1024} KiB")
    return shop.library(made)


def debug_name(shop: Workshop) -> str:
    """Return the name of the debug file, which stands in the library: beside it as published."""
    return f"{shop.published_name}.debug"


def split_debug(shop: Workshop, stage: str, room: Path) -> None:
    """Make the stripped library and its debug file, tied together by a link and the build-id."""
    from pipeline.toolchain.probes import require_probes

    objcopy, debug = shop.tools.path("llvm-objcopy"), debug_name(shop)
    steps = (
        ["--only-keep-debug", UNSTRIPPED, debug],
        [*texts(STRIP), f"--add-gnu-debuglink={debug}", UNSTRIPPED, LIBRARY],
    )
    for number, arguments in enumerate(steps, start=1):
        try:
            run(
                [objcopy, *arguments],
                cwd=room,
                log=shop.log(stage, f"objcopy{number}"),
                timeout_s=OBJCOPY_LIMIT_S,
            )
        except ChildError as error:
            raise BuildError(error.message, log=error.log) from error

    require_probes(room / LIBRARY, room / UNSTRIPPED)
    before, after = (room / UNSTRIPPED).stat().st_size, (room / LIBRARY).stat().st_size
    if after >= before:
        raise ArtifactError(f"llvm-objcopy did not strip anything from {room / LIBRARY}")
