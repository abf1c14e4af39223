"""Where a function went that has no code of its own: read from the debug information."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from pipeline.core.digest import stamp_of

_ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")


def inlined_into(debug: Path, names: Collection[str]) -> dict[str, list[str]]:
    """Return for each of ``names`` that was inlined the functions whose code holds it, sorted.

    Names that no debug information speaks of are left out: no source defines them, or nothing
    calls them and the compiler has dropped them.
    """
    found = _all_inlined(debug, stamp_of(debug))
    return {name: sorted(found[name]) for name in names if name in found}


@lru_cache(maxsize=1)
def _all_inlined(debug: Path, _stamp: str) -> dict[str, set[str]]:
    """Return the holders of each function that was inlined.

    Reading takes a second, and a build asks twice about one file: for the report's text map, and
    for what the lists promise.
    """
    found: dict[str, set[str]] = {}
    with debug.open("rb") as stream:
        elf = ELFFile(stream)
        if elf.has_dwarf_info():
            # --emit-relocs leaves relocations that the linker has applied already.
            for unit in elf.get_dwarf_info(relocate_dwarf_sections=False).iter_CUs():
                for name, holder in _inlined(unit.get_top_DIE(), ""):
                    found.setdefault(name, set()).add(holder)
    return found


def _inlined(die: DIE, holder: str) -> Iterator[tuple[str, str]]:
    """Yield (inlined function, function that has code) below a node of the tree."""
    for child in die.iter_children():
        inside = holder
        if child.tag == "DW_TAG_subprogram":
            inside = _name(child)
        elif child.tag == "DW_TAG_inlined_subroutine" and holder:
            yield _name(child), holder
        if child.has_children:
            yield from _inlined(child, inside)


def _name(die: DIE) -> str:
    """Return a function's name, which may stand at the node that it was made from."""
    for attribute in ("DW_AT_linkage_name", "DW_AT_name"):
        if attribute in die.attributes:
            return str(die.attributes[attribute].value.decode("utf-8", "replace"))
    for origin in _ORIGINS:
        if origin in die.attributes:
            return _name(die.get_DIE_from_attribute(origin))
    return ""
