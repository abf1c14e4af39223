"""The table of modes in docs/allocator.md is that of the code, both ways."""

from __future__ import annotations

import re

from pipeline.core.paths import Tree

TREE = Tree.here()
CODE = (TREE.root / "allocator/magazine/mode.c").read_text("utf-8")
PAGE = (TREE.root / "docs/allocator.md").read_text("utf-8")
HEADER = (TREE.root / "allocator/magazine/mode.h").read_text("utf-8")
TYPES = (TREE.root / "allocator/base/heap_types.h").read_text("utf-8")

Transitions = dict[tuple[str, str], str]
"""Mode and event, and the mode after it."""


def names(enum: str, text: str) -> list[str]:
    """Return the values of an enum without the prefix; the last one only counts them."""
    body = re.search(rf"enum {enum} \{{(.*?)\}}", text, re.S)
    assert body is not None
    return re.findall(r"\bHAK_([A-Z_]+)\b", re.sub(r"/\*.*?\*/", "", body[1], flags=re.S))[:-1]


def of_code() -> Transitions:
    events = names("hak_event", HEADER)
    rows = re.findall(r"\[HAK_([A-Z]+)\] *= *\{([^}\n]*)\}", CODE)
    return {
        (mode.lower(), event): after.lower()
        for mode, row in rows
        for event, after in zip(events, re.findall(r"HAK_([A-Z]+)", row), strict=True)
    }


def of_page() -> Transitions:
    head, _, *rest = PAGE[PAGE.index("| mode | `") :].splitlines()
    events = re.findall(r"`([A-Z_]+)`", head)
    rows = [re.findall(r"\w+", line) for line in rest[: rest.index("")]]
    return {
        (mode, event): after
        for mode, *row in rows
        for event, after in zip(events, row, strict=True)
    }


def test_the_page_has_the_transitions_of_the_code() -> None:
    modes, events = names("hak_mode", TYPES), names("hak_event", HEADER)
    assert len(of_code()) == len(modes) * len(events) > 0
    assert of_page() == of_code()


def test_nothing_else_sets_a_mode() -> None:
    sources = (TREE.root / "allocator").glob("*/*.[ch]")
    setting = re.compile(r"(?:->|\.)mode = ")
    found = {path.name for path in sources if setting.search(path.read_text("utf-8"))}
    assert found == {"mode.c"}
