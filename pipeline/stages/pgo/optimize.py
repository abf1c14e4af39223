"""pgo: the library compiled by the merged profile, its functions in the order of layouts/.

The same is done in simpler flavours, to see what each part is worth (docs/ablation.md).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.errors import DataError, ProfileError
from pipeline.core.receipt import Notes
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.check_names import defined_functions
from pipeline.stages.build.compile import cmake_build, take_library
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.merge import ProfileData, again, function_counts
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import (
    COMPILE,
    LINK,
    LTO,
    LTO_LINK,
    ORDER_LINK,
    PGO,
    TUNED,
    Flags,
    spelled,
    texts,
)
from pipeline.toolchain.link_script import link_script
from pipeline.toolchain.symbols import check_order, functions, order_names

STAGE = "pgo"
ORDER, SCRIPT = "order.txt", "sections.ld"
BUILD = "build"


@dataclass(frozen=True)
class Flavour:
    """One way to compile the library: the stage it is, and its flags beside the common ones."""

    stage: str
    compile: tuple[Flags, ...]
    link: tuple[Flags, ...]


SECTIONS = Flavour("sections", (COMPILE, TUNED), (TUNED, LINK, ORDER_LINK))
ONE_BY_ONE = Flavour("pgo-only", (COMPILE, TUNED, PGO), (TUNED, LINK, ORDER_LINK))
WHOLE = Flavour(STAGE, (COMPILE, TUNED, PGO, LTO), (TUNED, LINK, LTO_LINK, ORDER_LINK))
CONTEXT = Flavour("context", WHOLE.compile, WHOLE.link)
# How the library of each step of the chain is compiled; BOLT's stands on one of the last two.
FLAVOURS = {"sections": SECTIONS, "pgo": ONE_BY_ONE, "lto": WHOLE, "context": CONTEXT}


def pgo(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    profile: ProfileData | None,
    flavour: Flavour = WHOLE,
) -> Library:
    """Build the library by the profile and check that the order of its functions was honoured.

    ``plain`` has the names of the functions: cut as this library, without a layout. ``profile`` is
    None for a flavour that is compiled without one.
    """
    parts = {
        "sources": setup.sources,
        "geometry": setup.geometry_digest,
        "profile": profile.digest if profile else None,
        "tools": shop.tool_keys,
        "hot": list(setup.lists.hot),
        "cold": list(setup.lists.cold),
        "flags": spelled(*flavour.compile, *flavour.link),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling by the profile" if profile else "compiling")
        _compile(shop, setup, plain, profile, flavour, room, line)
        stale = _stale_profiles(shop, flavour.stage)
        library = take_library(shop, room / BUILD, room)
        check_library(library, shop.log(flavour.stage, "probe"), shop.target)
        present = functions(shop.tools.path("llvm-nm"), library, shop.log(flavour.stage, "nm"))
        placed = check_order(library, present, setup.lists)
        return {
            "order": asdict(placed),
            "stale": stale,
            "functions": len(present),
            "bytes": library.stat().st_size,
        }

    made = shop.do(flavour.stage, parts, work, summary=_summary)
    return shop.library(made)


def _compile(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    profile: ProfileData | None,
    flavour: Flavour,
    room: Path,
    line: StageLine,
) -> None:
    path, build = profile.path if profile else None, room / BUILD
    order, script = arrange(shop, setup, plain, path, flavour, room)
    names = {"root": shop.tree.root, "room": build, "profile": path}
    names |= {"order": order, "script": script}
    cmake_build(
        shop,
        flavour.stage,
        build,
        compile_flags=texts(*flavour.compile, **names),
        link_flags=texts(*flavour.link, **names),
        geometry=setup.geometry,
        line=line,
    )


def arrange(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    profile: Path | None,
    flavour: Flavour,
    room: Path,
) -> tuple[Path, Path]:
    """Write what tells the linker where functions go by the lists: their order, and its script."""
    order, script = room / ORDER, room / SCRIPT
    _write_order(shop, setup, plain, profile, order)
    script.write_text(link_script(_never(shop, setup, profile, flavour)), encoding="utf-8")
    return order, script


def _write_order(
    shop: Workshop, setup: Setup, plain: Baseline, profile: Path | None, order: Path
) -> None:
    """Write every name that may occur: lld puts unlisted functions behind the cold ones."""
    placed = functions(shop.tools.path("llvm-nm"), plain.library.path, shop.log(STAGE, "names"))
    known = [function.name for function in placed]
    # The profile is of code before inlining, so it knows all functions.
    compiled = function_counts(shop, profile) if profile else {}
    if profile:
        _refuse_unknown(shop, setup, {*known, *compiled})
    names = order_names(setup.lists, [*known, *compiled], placed)
    order.write_text("\n".join(names) + "\n", encoding="utf-8")


def _never(shop: Workshop, setup: Setup, profile: Path | None, flavour: Flavour) -> set[str]:
    """Return the functions that the training never entered; hot.txt overrules it.

    A second pass counts after inlining: it also knows those that ran only where they are inlined.
    """
    if profile is None:
        return set()
    passes = (False, True) if flavour == CONTEXT else (False,)
    counts = [function_counts(shop, profile, second=second) for second in passes]
    idle = {name for found in counts for name, count in found.items() if not count}
    return idle - set(setup.lists.hot)


def _refuse_unknown(shop: Workshop, setup: Setup, known: set[str]) -> None:
    """Raise ProfileError for a listed name that no source defines: the linker would not say it.

    A small function may be inlined before anything is counted, and is in no profile then.
    """
    known = known | defined_functions(shop.tree)
    for name, listed in (("hot.txt", setup.lists.hot), ("cold.txt", setup.lists.cold)):
        unknown = [symbol for symbol in listed if symbol not in known]
        if unknown:
            path = shop.tree.layout(shop.profile.layout.name) / name
            raise ProfileError(
                f"{path}: no function of the library is called {', '.join(unknown)}",
                hint="was it renamed? a name must be that of a definition, not of an alias",
            )


def _stale_profiles(shop: Workshop, stage: str) -> list[str]:
    """Return functions whose counts did not fit the code; DataError if they must be hot.

    The compiler only warns, builds them without a profile, and says success.
    """
    log = shop.log(stage, "compile").read_text(encoding="utf-8")
    names = stale_functions(log)
    needed = [name for name in names if name in shop.profile.layout.must_be_hot]
    if needed:
        raise DataError(
            f"the profile does not fit the code of {', '.join(needed)}",
            hint=again(shop),
            log=shop.log(stage, "compile"),
        )
    return names


def stale_functions(log: str) -> list[str]:
    """Return the functions that a compiler log names as having no, or other, profile data."""
    found = re.findall(r"(?:\(hash mismatch\)|data available for function) (\S+) Hash", log)
    return sorted({name.rsplit(";", 1)[-1] for name in found})


def _summary(notes: Notes) -> str:
    order = notes["order"]
    gone = len(order["vanished_hot"]) + len(order["vanished_cold"])
    return f"{notes['functions']} functions, {order['placed']} placed by name, {gone} inlined"
