"""slowdown: the plain library once more, able to be slower by a known amount.

The judge is checked with it: a slowdown of 2 % must be found (docs/judging.md). Sources and flags
are those of baseline; the library that is published has nothing of it.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.stages.build.compile import build_plain
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import COMPILE, LINK, spelled

STAGE = "slowdown"
OPTION = "HAKMEM_SLOWDOWN"


def slowdown(shop: Workshop, setup: Setup) -> Library | None:
    """Build the library that can be made slower; None in a quick run, which checks no judge."""
    if shop.options.quick:
        return None
    parts = {
        "sources": setup.sources,
        "flags": spelled(COMPILE, LINK),
        "option": OPTION,
        "tools": shop.tool_keys,
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling the library")
        library = build_plain(shop, STAGE, room, options={OPTION: "ON"}, line=line)
        facts = check_library(library, shop.log(STAGE, "probe"))
        return {"build_id": facts.build_id}

    made = shop.do(STAGE, parts, work, summary=lambda _: "a library to check the judge with")
    return shop.library(made)
