"""The text map for people: one row per function by address, with a bar for its heat."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.layout.check import Promise
from pipeline.toolchain.text_model import Function, TextMap

BAR_WIDTH, NARROW_BAR = 20, 10
# Columns below which the bar is shorter and aliases are left out.
WIDE = 110
# Heat differs by powers of ten, so the bar is logarithmic; its colours are those of embers.
COLOURS = ("blue", "cyan", "green", "yellow", "red")


def show_map(text: TextMap, promise: Promise, console: Console) -> None:
    """Print all functions by address, with the borders of the hot range and of the sections."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    for title, justify in (("address", "right"), ("bytes", "right"), ("lines", "right")):
        table.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("heat", no_wrap=True)
    table.add_column(promise.counted, justify="right", no_wrap=True)
    table.add_column("function", overflow="fold")
    hottest = max((f.heat.blocks for f in text.functions if f.heat), default=0)
    zone = ""
    for function in text.functions:
        if (now := _zone(function, promise)) != zone:
            zone = now
            table.add_row("", "", "", "", "", Text(f"── {zone} ──", style="bold dim"))
        table.add_row(*_cells(function, hottest, console.width >= WIDE))
    console.print(table)
    console.print(_summary(text, promise), highlight=False)


def _zone(function: Function, promise: Promise) -> str:
    names = set(function.names)
    if function.part == "cold":
        return f"cold halves ({function.section})"
    if names & set(promise.lists.hot):
        return "hot.txt"
    return "cold.txt" if names & set(promise.lists.cold) else f"not listed ({function.section})"


def _cells(function: Function, hottest: int, wide: bool) -> Iterator[str | Text]:
    yield f"{function.address:x}"
    yield f"{function.size:,}"
    yield str(function.lines)
    yield _bar(function, hottest, BAR_WIDTH if wide else NARROW_BAR)
    yield "" if function.heat is None else f"{function.heat.entries:,}"
    others = f"  = {', '.join(function.aliases)}" if function.aliases and wide else ""
    yield Text(function.name).append(others, style="dim")


def _bar(function: Function, hottest: int, width: int) -> Text:
    if function.heat is None:
        return Text("" if function.part == "cold" else "unknown", style="dim")
    if not function.heat.blocks or hottest < 2:
        return Text("·", style="dim")
    level = log10(1 + function.heat.blocks) / log10(1 + hottest)
    colour = COLOURS[min(int(level * len(COLOURS)), len(COLOURS) - 1)]
    return Text("█" * max(1, round(level * width)), style=colour)


def _summary(text: TextMap, promise: Promise) -> str:
    hot = [f for f in text.functions if f.part != "cold" and set(f.names) & set(promise.lists.hot)]
    away = sum(f.size for f in text.functions if f.part == "cold")
    size = sum(f.size for f in text.functions)
    lines = sum(f.lines for f in hot)
    return (
        f"{len(text.functions)} functions and halves, {size:,} bytes; hot.txt: {len(hot)} in "
        f"{sum(f.size for f in hot):,} bytes on {lines} lines; cold halves: {away:,} bytes"
    )
