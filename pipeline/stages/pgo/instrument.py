"""instrument: the library with PGO counters, which the training programs are preloaded with.

A second pass counts anew in the library as the first pass's profile has compiled it: after
inlining, so that each inlined copy has counts of its own (context-sensitive PGO).
"""

from __future__ import annotations

from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.stages.build.compile import cmake_build, take_library
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import (
    COMPILE,
    CONTEXT,
    CONTEXT_LINK,
    INSTRUMENT,
    INSTRUMENT_LINK,
    LINK,
    LTO,
    LTO_LINK,
    PGO,
    TUNED,
    Flags,
    spelled,
    texts,
)

STAGE, SECOND = "instrument", "context-instrument"
BIAS = "bias.c"
BIAS_SOURCE = '__attribute__((visibility("hidden"))) long __llvm_profile_counter_bias = 0;\n'


def instrument(shop: Workshop, setup: Setup) -> Library:
    """Build the library with PGO counters."""
    return _build(shop, setup, STAGE, None, (COMPILE, INSTRUMENT), (LINK, INSTRUMENT_LINK))


def instrument_again(shop: Workshop, setup: Setup, first: ProfileData) -> Library:
    """Build the library by the ``first`` profile, with the counters of the second pass."""
    compile_flags = (COMPILE, TUNED, PGO, LTO, CONTEXT)
    return _build(shop, setup, SECOND, first, compile_flags, (TUNED, LINK, LTO_LINK, CONTEXT_LINK))


def _build(
    shop: Workshop,
    setup: Setup,
    stage: str,
    first: ProfileData | None,
    compile_flags: tuple[Flags, ...],
    link_flags: tuple[Flags, ...],
) -> Library:
    parts = {
        "sources": setup.sources,
        "geometry": setup.geometry_digest,
        "tools": shop.tool_keys,
        "flags": spelled(*compile_flags, *link_flags),
        "profile": first.digest if first else None,
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling with counters")
        build, bias = room / "build", room / BIAS
        bias.write_text(BIAS_SOURCE, encoding="utf-8")
        profile = first.path if first else None
        names = {"root": shop.tree.root, "room": build, "profile": profile, "bias": bias}
        cmake_build(
            shop,
            stage,
            build,
            compile_flags=texts(*compile_flags, **names),
            link_flags=texts(*link_flags, **names),
            geometry=setup.geometry,
            line=line,
        )
        library = take_library(shop, build, room)
        bias.unlink()
        check_library(library, shop.log(stage, "probe"))
        return {"bytes": library.stat().st_size}

    made = shop.do(stage, parts, work, summary=lambda _n: "library with counters")
    return shop.library(made)
