"""What a layout command looks at: a library, the lists and marks of the tree, and its profile."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.core.errors import ArtifactError
from pipeline.core.paths import Tree
from pipeline.core.variant import split_line
from pipeline.layout.check import CALLS, HOTTEST_BLOCKS, Promise, never_ran, vanished
from pipeline.layout.heat import callers, read_block_heat, read_heat
from pipeline.layout.inlined import inlined_into
from pipeline.layout.marks import marked, shared_statics
from pipeline.layout.pins import pinned
from pipeline.profile.load import load_profile
from pipeline.release.contents import FDATA
from pipeline.release.mending import require_undamaged
from pipeline.release.version import MANIFEST, Version
from pipeline.release.wish import resolve
from pipeline.toolchain.find import find_toolchain
from pipeline.toolchain.profdata import PROFDATA
from pipeline.toolchain.symbols import SymbolLists, read_lists
from pipeline.toolchain.text_map import find_debug_file, read_text_map
from pipeline.toolchain.text_model import Heat, TextMap


@dataclass(frozen=True)
class Subject:
    """A library and what it is held against.

    ``fdata`` are BOLT's edge counts, ``profdata`` the PGO profile, which is read where there are no
    edges: versions that were built without BOLT have it alone. Both are None where none is known.
    ``excuse`` is why the training need not have run every hot function; empty if it has to.
    ``built_at`` is the commit that the library was built at; "" where nobody knows.
    """

    tree: Tree
    library: Path
    fdata: Path | None
    lists_folder: Path
    excuse: str = ""
    profdata: Path | None = None
    built_at: str = ""

    @cached_property
    def text(self) -> TextMap:
        """The library's text map, with heat if there is a profile."""
        return read_text_map(self.library, self._heat())

    def _heat(self) -> dict[str, Heat] | None:
        if self.fdata is not None:
            return read_heat(self.fdata)
        if self.profdata is not None:
            return read_block_heat(self.profdata, find_toolchain().path("llvm-profdata"))
        return None

    @property
    def callers(self) -> dict[str, Counter[str]]:
        """Who enters each function, and how often; empty where no edges were counted."""
        return {} if self.fdata is None else callers(self.fdata)

    @cached_property
    def lists(self) -> SymbolLists:
        """hot.txt and cold.txt as they stand in the tree."""
        return read_lists(self.lists_folder)

    def promise(self) -> Promise:
        """Return what the lists and the marks of the tree promise about the library."""
        allocator = self.tree.root / "allocator"
        elsewhere = [*vanished(self.text, self.lists), *never_ran(self.text, self.lists)]
        return Promise(
            lists=self.lists,
            marked_hot=marked(allocator, "HAK_HOT"),
            marked_cold=marked(allocator, "HAK_COLD"),
            inlined=inlined_into(_debug(self.library), elsewhere) if elsewhere else {},
            excuse=self.excuse,
            pinned=pinned((self.lists_folder / "hot.txt").read_text("utf-8").splitlines()),
            shared=shared_statics(allocator),
            counted=HOTTEST_BLOCKS if self.fdata is None and self.profdata else CALLS,
        )


def open_subject(tree: Tree, profile: str, wish: str | None, fdata: Path | None = None) -> Subject:
    """Return what ``wish`` names: a version, a version's folder, a library, or None for current.

    ``fdata`` takes the place of the version's own profile. VersionError, ProfileError or
    ArtifactError if something is not there.
    """
    layout = load_profile(tree, split_line(profile)[0]).layout.name
    lists = tree.layout(layout)
    path = Path(wish) if wish else None
    if path is not None and path.is_file() and path.name != MANIFEST:
        return Subject(tree, path.resolve(), fdata, lists, excuse_for(profile, layout, short=False))
    version = resolve(tree, profile, wish)
    if not version.library.is_file():
        raise ArtifactError(
            f"{version.folder} has no {version.place}",
            hint="name the folder of a published version",
        )
    require_undamaged(version)
    edges = fdata or _own(version, FDATA)
    short = fdata is None and bool(version.manifest.get("quick"))
    excuse = excuse_for(profile, layout, short)
    counts = _own(version, PROFDATA)
    return Subject(tree, version.library, edges, lists, excuse, counts, version.commit)


def excuse_for(profile: str, layout: str, short: bool) -> str:
    """Return why the training need not have run every hot function; empty if it has to."""
    if layout != profile:
        return f"the lists are those of the layout {layout}"
    return "the training was short: --quick" if short else ""


def _own(version: Version, name: str) -> Path | None:
    path = version.profile / name
    return path if path.is_file() else None


def _debug(library: Path) -> Path:
    """Return the file with the debug information of a library: itself, if it is not stripped."""
    try:
        return find_debug_file(library)
    except ArtifactError:
        return library
