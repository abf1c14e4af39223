"""The layouts that a search tries: orders of functions, and other flags for BOLT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.toolchain.flags import Flag, Flags

ORDER, WITHOUT = "order", "BOLT"


@dataclass(frozen=True)
class Recipe:
    """How a layout is made: the names of hot.txt in order, and what BOLT is told.

    ``flags`` take the place of BOLT's flags of the same name, or come to them; those of ``dropped``
    go. Without ``bolt`` the library stays as it was linked.
    """

    hot: tuple[str, ...]
    flags: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    bolt: bool = True

    def changed(self, flags: Flags) -> Flags:
        """Return BOLT's flags as this layout has them."""
        mine = {_option(text) for text in self.flags}
        kept = [one for one in flags if _option(one.text) not in {*mine, *self.dropped}]
        return (*kept, *(Flag(text, "a search tries it") for text in self.flags))

    def joined(self, other: Recipe) -> Recipe:
        """Return this layout with what the other one tells BOLT."""
        return replace(
            self,
            flags=(*self.flags, *other.flags),
            dropped=(*self.dropped, *other.dropped),
            bolt=self.bolt and other.bolt,
        )


@dataclass(frozen=True)
class Candidate:
    """A layout that is tried: the kind of its change, its name, and how it is made."""

    kind: str
    name: str
    recipe: Recipe

    @property
    def words(self) -> str:
        """The flags that it changes, as somebody would type them."""
        gone = (f"no {name}" for name in self.recipe.dropped)
        return " ".join((*self.recipe.flags, *gone)) or "without BOLT"


_SPLIT = ("--split-functions", "--split-strategy", "--split-all-cold")
_FLAGS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("blocks", "cache", ("--reorder-blocks=cache",), ()),
    ("blocks", "cache+", ("--reorder-blocks=cache+",), ()),
    ("blocks", "normal", ("--reorder-blocks=normal",), ()),
    ("blocks", "as compiled", (), ("--reorder-blocks",)),
    ("splitting", "none", (), _SPLIT),
    ("splitting", "cdsplit", ("--split-strategy=cdsplit",), ()),
    ("splitting", "by the profile alone", (), ("--split-all-cold",)),
    ("alignment", "32 bytes", ("--align-functions=32", "--align-functions-max-bytes=32"), ()),
    ("alignment", "16 bytes", ("--align-functions=16", "--align-functions-max-bytes=16"), ()),
    ("alignment", "compact", (), ("--use-compact-aligner",)),
    ("alignment", "blocks", ("--align-blocks",), ()),
    (
        "alignment",
        "hottest blocks",
        ("--align-blocks", "--align-blocks-threshold=1000"),
        (),
    ),
    ("inlining", "small functions", ("--inline-small-functions",), ()),
    (
        "inlining",
        "up to 32 bytes",
        ("--inline-small-functions", "--inline-small-functions-bytes=32"),
        (),
    ),
)
"""Kind, name, flags, and what is dropped. ``hfsort+`` is ``cdsort`` in this LLVM, and profile2 and
ext-tsp are what the library has."""


def by_flags(hot: Sequence[str]) -> Iterator[Candidate]:
    """Yield the layouts that tell BOLT something else, and the one without BOLT."""
    for kind, name, flags, dropped in _FLAGS:
        yield Candidate(kind, name, Recipe(tuple(hot), flags, dropped))
    yield Candidate(WITHOUT, "left out", Recipe(tuple(hot), bolt=False))


def by_order(orders: Mapping[str, Sequence[str]]) -> Iterator[Candidate]:
    """Yield the layouts whose hot functions have another order; each order once."""
    for name, hot in orders.items():
        yield Candidate(ORDER, name, Recipe(tuple(hot)))


def _option(text: str) -> str:
    return text.partition("=")[0]
