"""The pages on the allocator say what the code does: transitions of modes, files of functions."""

from __future__ import annotations

import re

import pytest
from test_allocator_order import ALLOCATOR, FUNCTION, ORDER, VARIANTS, code_of

from pipeline.core.paths import Tree

TREE = Tree.here()
CODE = (TREE.root / "allocator/magazine/mode.c").read_text("utf-8")
NAMES = ("allocator", "block-paths", "promises")
PAGE = "\n".join((TREE.root / f"docs/{name}.md").read_text("utf-8") for name in NAMES)
HEADER = (TREE.root / "allocator/magazine/mode.h").read_text("utf-8")
TYPES = (TREE.root / "allocator/base/types.h").read_text("utf-8")

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


@pytest.mark.parametrize(
    ("page", "row"),
    [("allocator", r"^\| (`\w+/`(?:, `\w+/`)*) \|"), ("architecture", r"^ {4}(\w+/) ")],
)
def test_the_folders_stand_in_the_order_of_their_includes(page: str, row: str) -> None:
    text = (TREE.root / f"docs/{page}.md").read_text("utf-8")
    rows = re.findall(row, text, re.M)
    found = [folder for one in rows for folder in re.findall(r"\w+(?=/)", one)]
    assert {*VARIANTS} <= {*found}
    assert [folder for folder in found if folder not in VARIANTS] == list(reversed(ORDER))


WALKED = re.compile(r"^ {4,}(hak_\w+)\b.*?\s(\w+/\w+\.[ch])\b", re.M)
"""A line of the walks through malloc and free: a function and its file."""


def test_the_functions_of_the_walks_are_where_the_page_says() -> None:
    walked = WALKED.findall(PAGE)
    assert len(walked) > 20
    texts = {file: code_of(ALLOCATOR / file) for _, file in walked}
    defined = {file: {name for name, _ in FUNCTION.findall(text)} for file, text in texts.items()}
    assert [(name, file) for name, file in walked if name not in defined[file]] == []


def test_every_file_that_the_page_names_exists() -> None:
    folders = "|".join(path.name for path in ALLOCATOR.iterdir() if path.is_dir())
    named = set(re.findall(rf"`((?:{folders})/\w+\.[ch])`", PAGE))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ALLOCATOR / name).is_file()] == []
