"""instrument: the library with counters, which the training programs are preloaded with."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.store import Notes
from pipeline.stages.compile import cmake_build, take_library
from pipeline.stages.configure import Setup
from pipeline.stages.workshop import Library, Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import COMPILE, INSTRUMENT, INSTRUMENT_LINK, LINK, spelled, texts

STAGE = "instrument"


def instrument(shop: Workshop, setup: Setup) -> Library:
    """Build the library with PGO counters."""
    parts = {
        "sources": setup.sources,
        "tools": shop.tools.versions,
        "flags": spelled(COMPILE, INSTRUMENT, LINK, INSTRUMENT_LINK),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling with counters")
        build = room / "build"
        cmake_build(
            shop,
            STAGE,
            build,
            compile_flags=texts(COMPILE, INSTRUMENT, root=shop.tree.root, room=build),
            link_flags=texts(LINK, INSTRUMENT_LINK),
        )
        library = take_library(build, room)
        check_library(library, shop.log(STAGE, "probe"))
        return {"bytes": library.stat().st_size}

    made = shop.do(STAGE, parts, work, summary=lambda _n: "library with counters")
    return shop.library(made)
