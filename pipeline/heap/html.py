"""A heap profile as one self-contained HTML page: a flame graph as inline SVG, and the top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.heap.cxx import apart, fold, is_std
from pipeline.heap.stacks import Frame, Sums, at_calls, at_functions
from pipeline.heap.text import SHOWN_FUNCTIONS, signed_size, with_place
from pipeline.heap.tree import Node, functions, tree
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
    name: str,
    kind: str,
    facts: list[tuple[str, str]],
    sums: Sums,
    *,
    full: bool = False,
    lines: bool = False,
) -> str:
    """Return the page; what shrank is in the table, not in the flame graph.

    Whole names of C++ stand in tooltips, with ``full`` everywhere. Lines stand in the table, too,
    as on a terminal, and with ``lines`` in the boxes.
    """
    shown = sums if full else fold(sums)
    calls, rows = (shown, shown) if lines else (at_calls(shown), at_functions(shown))
    listed = (functions(rows) if full else functions(rows, is_std))[:SHOWN_FUNCTIONS]
    names = {} if full else apart(one.frame.name for one in listed)
    environment = Environment(
        loader=PackageLoader("pipeline.heap", "."), undefined=StrictUndefined, autoescape=True
    )
    environment.globals.update(size=signed_size, share=share, title=title)
    root = tree((stack, value) for stack, value in calls.items() if value > 0)
    found = list(boxes(root, root.total, 0.0, 0, full=full, lines=lines))
    return environment.get_template("page.html.j2").render(
        name=name,
        kind=kind,
        facts=facts,
        boxes=found,
        width=WIDTH,
        height=ROW * (1 + max((box.top // ROW for box in found), default=0)) + 2,
        row=ROW,
        whole=sum(sums.values()),
        passes_on=not full and any(is_std(one.frame.name) for one in listed),
        functions=[(one, called(one.frame, names, True)) for one in listed],
    )


def called(frame: Frame, names: Mapping[str, str], lines: bool) -> str:
    """Return what a reader sees of a call: its short name, where there is one, and its line."""
    name = names.get(frame.name, frame.name)
    return with_place(name, frame) if lines else name


def title(frame: Frame, more: str = "") -> str:
    """Return a tooltip: the whole name, more, and the line."""
    return "; ".join(filter(None, [frame.name + more, frame.place]))


def boxes(
    node: Node,
    whole: float,
    left: float,
    depth: int,
    *,
    name: str = "all",
    full: bool = False,
    lines: bool = False,
) -> Iterator[Box]:
    """Yield a box for each call, callers above what they call, as wide as its bytes."""
    width = WIDTH * node.total / whole if whole else 0.0
    if width < NARROWEST:
        return
    letters = int((width - 6) / LETTER)
    label = name if len(name) <= letters else f"{name[: letters - 1]}…"
    tip = title(node.frame, f": {signed_size(node.total)}, {share(node.total, whole)}")
    tone = sum(node.frame.name.encode()) % 4
    yield Box(left, depth * ROW, width, label if letters > 3 else "", tip, tone)
    names = {} if full else apart(frame.name for frame in node.calls)
    for call in node.sorted_calls():
        said = called(call.frame, names, lines)
        yield from boxes(call, whole, left, depth + 1, name=said, full=full, lines=lines)
        left += WIDTH * call.total / whole
