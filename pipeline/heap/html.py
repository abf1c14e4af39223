"""A heap profile as one self-contained HTML page: a flame graph as inline SVG, and the top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.heap.cxx import fold, is_std, short
from pipeline.heap.text import SHOWN_FUNCTIONS, signed_size
from pipeline.heap.tree import Node, Sums, functions, tree
from pipeline.trace.words import share

WIDTH, ROW = 1200, 18
NARROWEST = 0.5
"""Boxes that are narrower are left out: nobody could see them."""
LETTER = 6.7
"""Width of a letter in the boxes, by a wide font; where it is wider still, the box cuts it off."""


@dataclass(frozen=True)
class Box:
    """A call in the flame graph: what it says, and where it lies."""

    left: float
    top: int
    width: float
    label: str
    title: str
    tone: int


def render_page(
    name: str, kind: str, facts: list[tuple[str, str]], sums: Sums, *, full: bool = False
) -> str:
    """Return the page; what shrank is in the table, not in the flame graph.

    Whole names of C++ stand in tooltips, and with ``full`` everywhere.
    """
    shown = sums if full else fold(sums)
    environment = Environment(
        loader=PackageLoader("pipeline.heap", "."), undefined=StrictUndefined, autoescape=True
    )
    environment.globals.update(size=signed_size, share=share, brief=str if full else short)
    root = tree((stack, value) for stack, value in shown.items() if value > 0)
    found = list(boxes(root, root.total, 0.0, 0, full=full))
    return environment.get_template("page.html.j2").render(
        name=name,
        kind=kind,
        facts=facts,
        boxes=found,
        width=WIDTH,
        height=ROW * (1 + max((box.top // ROW for box in found), default=0)) + 2,
        row=ROW,
        whole=sum(sums.values()),
        functions=(functions(sums) if full else functions(shown, is_std))[:SHOWN_FUNCTIONS],
    )


def boxes(
    node: Node, whole: float, left: float, depth: int, *, full: bool = False
) -> Iterator[Box]:
    """Yield a box for each call, callers above what they call, as wide as its bytes."""
    width = WIDTH * node.total / whole if whole else 0.0
    if width < NARROWEST:
        return
    letters = int((width - 6) / LETTER)
    name = node.name if full else short(node.name)
    label = name if len(name) <= letters else f"{name[: letters - 1]}…"
    title = f"{node.name}: {signed_size(node.total)}, {share(node.total, whole)}"
    tone = sum(node.name.encode()) % 4
    yield Box(left, depth * ROW, width, label if letters > 3 else "", title, tone)
    for call in node.sorted_calls():
        yield from boxes(call, whole, left, depth + 1, full=full)
        left += WIDTH * call.total / whole
