"""How the code of a library is compiled for a processor: instruction set and alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.core.architecture import HERE

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry


@dataclass(frozen=True)
class Choice:
    """A setting of the code: its default, what it may be, what it means."""

    default: str
    allowed: tuple[str, ...]
    help: str


MARCH = "march"
CHOICES = {
    MARCH: Choice(
        HERE.least,
        tuple(HERE.levels),
        "the least processor that the library runs on, as a level of instructions (-march)",
    ),
    "align_functions": Choice(
        "64",
        ("16", "32", "64", "128"),
        "bytes; a hot function starts at a multiple of it (-falign-functions, BOLT)",
    ),
}


def compile_flags(geometry: Geometry | None) -> list[str]:
    """Return what the compiler is told beside the flags of a stage; nothing for the default."""
    if geometry is None:
        return []
    march, align = geometry.setting(MARCH).value, alignment(geometry)
    flags = {f"-march={march}": MARCH, f"-falign-functions={align}": "align_functions"}
    changed = {one.name for one in geometry.code if one.value != CHOICES[one.name].default}
    return [flag for flag, name in flags.items() if name in changed]


def alignment(geometry: Geometry | None) -> int:
    """Return the bytes at whose multiples functions of tuned libraries start."""
    default = CHOICES["align_functions"].default
    return int(geometry.setting("align_functions").value if geometry else default)
