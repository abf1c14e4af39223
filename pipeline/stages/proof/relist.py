"""A published library made again with other symbol lists: its code, its profile, its edges.

Nothing is trained again, so nothing but the places of functions differs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.core.errors import BuildError
from pipeline.release.contents import CONTEXT_PROFDATA, FDATA
from pipeline.release.origin import other_sources, other_tools
from pipeline.release.version import Version
from pipeline.stages.bolt.optimize import place
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.compile import LIBRARY
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import UNSTRIPPED
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.optimize import CONTEXT, FLAVOURS, SECTIONS, WHOLE, Flavour, arrange
from pipeline.stages.proof.candidate import LAID_OUT
from pipeline.stages.proof.relink import Placing, Relinker, functions_of, require_same
from pipeline.toolchain.flags import BOLT, Flags
from pipeline.toolchain.profdata import PROFDATA
from pipeline.toolchain.symbols import SymbolLists, check_order, read_lists
from pipeline.toolchain.text_map import find_debug_file

STAGE = "layout"
PUBLISHED = "published"


class Relisted:
    """Makes the library of a version with other lists.

    First it is made with its own, and each function has to have its published place and size.
    """

    def __init__(
        self, shop: Workshop, setup: Setup, plain: Baseline, version: Version, room: Path
    ) -> None:
        """Compile the code of ``version`` in ``room``; BuildError where that cannot be done."""
        self._shop, self._setup, self._plain, self._room = shop, setup, plain, room
        self._flavour = flavour_of(version)
        name = CONTEXT_PROFDATA if self._flavour is CONTEXT else PROFDATA
        self._profile = None if self._flavour is SECTIONS else version.profile / name
        laid_out = version.manifest["step"] in LAID_OUT
        self.edges = version.profile / FDATA if laid_out else None
        lists = read_lists(version.profile)
        self._first = first = self._place(PUBLISHED, lists)
        self._relinker = Relinker(
            shop, setup, STAGE, room / "build", self._flavour, self._profile, first
        )
        library = self._link(PUBLISHED, lists, first)
        known = functions_of(shop, STAGE, find_debug_file(version.library))
        require_same(functions_of(shop, STAGE, library), known, version.name)

    def __call__(self, name: str, lists: SymbolLists, flags: Flags | None = BOLT) -> Path:
        """Return the library with these lists, in a folder ``name`` of its own.

        BOLT is told ``flags``, where it has laid the version out; None leaves it out.
        """
        return self._link(name, lists, self._place(name, lists), flags)

    @property
    def linked(self) -> Path:
        """The library of the version before BOLT."""
        return self._room / PUBLISHED / LIBRARY

    def sort(self, algorithm: str, output: Path) -> None:
        """Link the code in an order of the linker's own, by the calls that the compiler counted."""
        self._relinker.sort(algorithm, self._first, output)

    def _place(self, name: str, lists: SymbolLists) -> Placing:
        folder = self._room / name
        folder.mkdir()
        setup = replace(self._setup, lists=lists)
        files = arrange(self._shop, setup, self._plain, self._profile, self._flavour, folder)
        return Placing(*files)

    def _link(
        self, name: str, lists: SymbolLists, placing: Placing, flags: Flags | None = BOLT
    ) -> Path:
        folder = self._room / name
        linked = made = folder / LIBRARY
        self._relinker.link(placing, linked)
        if self.edges is not None and flags is not None:
            made = self._lay_out(linked, lists, folder, flags)
        check_order(made, functions_of(self._shop, STAGE, made), lists)
        return made

    def _lay_out(self, linked: Path, lists: SymbolLists, folder: Path, flags: Flags) -> Path:
        """Let BOLT lay the library out, as it did; return it in a folder under its name."""
        room = folder / "laid-out"
        room.mkdir()
        assert self.edges is not None
        setup = replace(self._setup, lists=lists)
        place(self._shop, setup, linked, self.edges, room, STAGE, flags)
        return (room / UNSTRIPPED).rename(room / LIBRARY)


def flavour_of(version: Version) -> Flavour:
    """Return how the code of a version was compiled; BuildError where it knows no lists."""
    step = str(version.manifest.get("step"))
    if step in FLAVOURS:
        return FLAVOURS[step]
    if step not in LAID_OUT:
        raise BuildError(
            f"{version.name} is the step {step}, which is linked without the lists",
            hint="there is nothing to measure: its functions have one order only",
        )
    return CONTEXT if (version.profile / CONTEXT_PROFDATA).is_file() else WHOLE


def require_fresh(shop: Workshop, setup: Setup, version: Version) -> None:
    """Raise BuildError if sources, tools or geometry are no longer those of the version."""
    again = f"`{shop.command}` makes a version of the tree as it stands"
    differing = {
        "the sources have changed": other_sources(_sources(version, again), setup.sources),
        "the tools have changed": other_tools(version.manifest["tools"], shop.tools.versions),
        "the geometry has changed": other_sources(
            str(version.manifest.get("geometry")), str(setup.geometry_digest)
        ),
    }
    for what, how in differing.items():
        if how:
            raise BuildError(f"{what} since {version.name} was made: {how}", hint=again)


def _sources(version: Version, again: str) -> str:
    try:
        return str(version.manifest["stages"]["baseline"]["inputs"]["sources"])
    except (KeyError, TypeError) as error:
        raise BuildError(
            f"the manifest of {version.name} does not say which sources it was made from",
            hint=again,
        ) from error
