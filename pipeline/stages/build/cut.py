"""geometry: the library as plain as the baseline, but cut by the profile's geometry.toml.

It is the chain's step "tune", which shows what the geometry alone is worth, and all later stages
compile the same tables. A profile without that file has no such step: it is cut as the default.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.geometry.difference import differences
from pipeline.geometry.tables import default_geometry
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.compile import build_plain
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import COMPILE, LINK, spelled

STAGE = "geometry"


def cut(shop: Workshop, setup: Setup, plain: Baseline) -> Baseline:
    """Return the baseline with the library that the geometry cuts; ``plain`` if there is none."""
    geometry = setup.geometry
    if geometry is None:
        return plain
    parts = {
        "sources": setup.sources,
        "geometry": setup.geometry_digest,
        "flags": spelled(COMPILE, LINK),
        "tools": shop.tool_keys,
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling the library")
        facts = check_library(
            build_plain(shop, STAGE, room, geometry, line=line),
            shop.log(STAGE, "probe"),
            shop.target,
        )
        changed = differences(geometry, default_geometry(shop.tree))
        return {"build_id": facts.build_id, "differences": [one.brief for one in changed]}

    made = shop.do(STAGE, parts, work, summary=_summary)
    return replace(plain, library=shop.library(made))


def _summary(notes: Notes) -> str:
    changed = ", ".join(notes["differences"])
    return f"changed by the profile's geometry: {changed or 'nothing'}"
