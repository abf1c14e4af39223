"""bolt: the final code layout, by the edge profile and the lists of layouts/.

BOLT says success in cases that cost speed silently; each is checked here: a discontinuous profile
(conditional tail calls), a function order that was not followed, and what check_library refuses.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.errors import DataError
from pipeline.core.receipt import Notes
from pipeline.core.store import require_content
from pipeline.geometry.code import alignment
from pipeline.stages.bolt.instrument import bolt_run
from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.compile import LIBRARY
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import UNSTRIPPED, split_debug
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import BOLT, BOLT_ORDER, STRIP, Flags, spelled, texts
from pipeline.toolchain.link_script import NEVER
from pipeline.toolchain.symbols import (
    check_order,
    functions,
    in_section,
    order_names,
    read_spelling,
)

STAGE, WITH_SAMPLES = "bolt", "samples"
ORDER = "order.txt"


def bolt(
    shop: Workshop, setup: Setup, library: Library, profile: EdgeProfile, stage: str = STAGE
) -> Library:
    """Lay out the PGO library anew; the artifact has it stripped, unstripped, and a debug file.

    ``stage`` is WITH_SAMPLES where the profile has imported samples as well.
    """
    parts = {
        "library": library.digest,
        "profile": profile.digest,
        "tools": shop.tool_keys,
        "align": alignment(setup.geometry),
        "hot": list(setup.lists.hot),
        "cold": list(setup.lists.cold),
        "flags": spelled(BOLT_ORDER, BOLT, STRIP),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("ordering functions and blocks")
        said = place(shop, setup, library.path, profile.path, room, stage)
        quality = _profile_quality(shop, said, profile.exact, stage)
        require_content(room / UNSTRIPPED, "BOLT's output")
        present = functions(shop.tools.path("llvm-nm"), room / UNSTRIPPED, shop.log(stage, "nm"))
        placed = check_order(room / UNSTRIPPED, present, setup.lists)
        split_debug(shop, stage, room)
        facts = check_library(room / LIBRARY, shop.log(stage, "probe"), shop.target)
        return {
            "order": asdict(placed),
            "quality": quality,
            "dyno_stats": dyno_stats(said),
            "build_id": facts.build_id,
            "bytes": (room / LIBRARY).stat().st_size,
        }

    made = shop.do(stage, parts, work, summary=_summary)
    return shop.library(made)


def place(
    shop: Workshop,
    setup: Setup,
    library: Path,
    profile: Path,
    room: Path,
    stage: str,
    flags: Flags = BOLT,
) -> str:
    """Let BOLT lay out a linked library by the lists, into the room; return what it said."""
    _write_order(shop, setup, library, profile, room, stage)
    told = texts(flags, order=room / ORDER, align=alignment(setup.geometry))
    arguments: list[str | Path] = [library, "-o", room / UNSTRIPPED, "--data", profile]
    return bolt_run(shop, stage, "bolt", [*arguments, *told])


def dyno_stats(said: str) -> dict[str, list[int]]:
    """Return BOLT's estimates as name -> [before, after], from its log."""
    stats: dict[str, list[int]] = {}
    for count, name in re.findall(r"^\s+(\d+) : (.+?)(?: \([-+=].*\))?$", said, re.M):
        stats.setdefault(name, []).append(int(count))
    return {name: pair for name, pair in stats.items() if len(pair) == 2}


def suggested(
    shop: Workshop,
    library: Path,
    profile: Path,
    room: Path,
    stage: str,
    flags: Flags = BOLT_ORDER,
) -> list[str]:
    """Return the functions that ran in an order of BOLT's own, without its suffixes."""
    suggestion, scratch = room / "suggestion.txt", room / "scratch.so"
    told = texts(flags, order=suggestion)
    bolt_run(shop, stage, "order", [library, "-o", scratch, "--data", profile, *told])
    names = [line.split("/")[0] for line in suggestion.read_text("utf-8").splitlines()]
    suggestion.unlink()
    scratch.unlink(missing_ok=True)
    return names


def _write_order(
    shop: Workshop, setup: Setup, library: Path, profile: Path, room: Path, stage: str
) -> None:
    """Write the order of the functions that BOLT moves, in its spelling: hot.txt, rest, cold.txt.

    The rest is in BOLT's own order of heat, then whatever it does not name, as linked. What the
    linker has put apart, since it never ran, stays there, unless it ran in BOLT's training: BOLT
    moves it then, and without a place in the list between the hottest functions.
    """
    hottest = suggested(shop, library, profile, room, stage)
    nm, log = shop.tools.path("llvm-nm"), shop.log(stage, "names")
    spelling = read_spelling(nm, library, log)
    present = functions(nm, library, log)
    apart = in_section(library, NEVER, present) - set(hottest)
    names = order_names(setup.lists, [*hottest, *spelling], present)
    lines = [spelled for name in names if name not in apart for spelled in spelling.get(name, ())]
    (room / ORDER).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _profile_quality(shop: Workshop, said: str, exact: bool, stage: str = STAGE) -> str:
    """Return BOLT's measure of the profile; DataError where functions have lost edges."""
    log = shop.log(stage, "bolt")
    profiled = re.search(r"(\d+) out of \d+ functions in the binary .* non-empty", said)
    if profiled is None or int(profiled[1]) == 0:
        raise DataError(
            "BOLT found no function with a profile",
            log=log,
            hint="does the training use the library? read the logs of bolt-train",
        )
    match = re.search(r"function CFG discontinuity ([0-9.]+)%", said)
    if match is None:
        return "discontinuity unknown: this version of BOLT does not measure it"
    if exact and float(match[1]) > 0:  # samples always miss some edges
        raise DataError(
            f"BOLT's profile is discontinuous ({match[1]} %): a hot function jumps to "
            "its slow path by a conditional tail call, whose edges are not counted",
            hint="put an empty asm volatile in front of that slow call",
            log=log,
        )
    return match[0]


def _summary(notes: Notes) -> str:
    taken = notes["dyno_stats"].get("taken branches", [0, 0])
    change = 100.0 * (taken[1] - taken[0]) / taken[0] if taken[0] else 0.0
    return (
        f"{notes['order']['placed']} functions in listed order, "
        f"taken branches {change:+.1f} % (estimated), {notes['bytes'] // 1024} KiB"
    )
