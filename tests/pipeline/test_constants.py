"""docs/constants.md names each number that the allocator's sources name, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.core.paths import Tree

TREE = Tree.here()
ENUM = re.compile(r"^\s*enum \{(.*?)\}", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", re.M | re.S)
MEMBER = re.compile(r"\s*([A-Z]\w*)\s*=\s*(.+?)\s*", re.S)
DEFINE = re.compile(r"^ *# *define +([A-Z]\w*) +([^\n]*?\d[^\n]*?)(?: */\*.*)?$", re.M)
NUMBER = re.compile(
    r"\(?(?:\(size_t\)|\(unsigned long\))?\(?-?(?:0x[\da-f]+|\d+)[ul]*(?: << \d+)?\)?\)?"
)
FILE = re.compile(r"`(\w+/\w+\.[ch])`")
NAMED = re.compile(r"`(\w+) = ([^`]+)`")
SWITCHES = "base/variant.h"
"""What a build chooses, not a number."""

Constant = tuple[str, str, str]
"""Its file below allocator/, its name, and its value as it is written there."""


def _in_enums(text: str) -> Iterator[tuple[str, str]]:
    for body in ENUM.findall(text):
        if "#include" in body:
            continue  # its values follow from a table
        for member in COMMENT.sub("", body).split(","):
            if (found := MEMBER.fullmatch(member)) and re.search(r"\b\d", found[2]):
                yield found[1], " ".join(found[2].split())


def _in_defines(text: str) -> Iterator[tuple[str, str]]:
    for name, value in DEFINE.findall(text):
        if NUMBER.fullmatch(value):
            yield name, value


def named_in(folder: Path) -> set[Constant]:
    """Return each number that an enum without a name, or a macro, gives a name to."""
    return {
        (path.relative_to(folder).as_posix(), name, value)
        for path in folder.rglob("*.[ch]")
        if path.relative_to(folder).as_posix() != SWITCHES
        for text in [path.read_text("utf-8")]
        for name, value in (*_in_enums(text), *_in_defines(text))
    }


def named_on_page(text: str) -> set[Constant]:
    """Return what the tables of the page say."""
    return {
        (found[1], name, value.replace("\\|", "|"))
        for line in text.splitlines()
        if line.startswith("|") and (found := FILE.search(line))
        for name, value in NAMED.findall(line)
    }


def other_values(page: set[Constant], sources: set[Constant]) -> list[str]:
    """Return a sentence for each constant whose value alone differs, as in a trial."""
    said = {(file, name): value for file, name, value in page - sources}
    return [
        f"{name}: docs/constants.md says {said[file, name]}, {file} says {value}; "
        "for a trial take no notice, else change the page"
        for file, name, value in sorted(sources - page)
        if (file, name) in said
    ]


def test_a_value_that_differs_is_told_with_both() -> None:
    page, sources = {("x/a.c", "FEW", "4"), ("x/a.c", "OLD", "1")}, {("x/a.c", "FEW", "8")}
    (said,) = other_values(page, sources | {("x/a.c", "NEW", "1")})
    assert said.startswith("FEW: docs/constants.md says 4, x/a.c says 8; for a trial")
    assert not other_values(sources, sources)


def test_what_counts_as_a_constant(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.c").write_text(
        "enum {\n    FEW = 2, /* so, and so */\n    MANY = 1 << 4,\n    NEXT\n};\n"
        "enum mode { CALM = 1 };\n#define MOST ((size_t)128) /* pages */\n#define CALL(x) f(x, 1)\n"
    )
    assert named_in(tmp_path) == {
        ("x/a.c", "FEW", "2"),
        ("x/a.c", "MANY", "1 << 4"),
        ("x/a.c", "MOST", "((size_t)128)"),
    }


def test_every_constant_is_on_the_page_and_none_else() -> None:
    page = named_on_page((TREE.root / "docs" / "constants.md").read_text("utf-8"))
    sources = named_in(TREE.root / "allocator")
    assert other_values(page, sources) == []
    assert sources - page == set(), "write them into docs/constants.md: what does each decide?"
    assert page - sources == set(), "the sources have no such constant: take it out of the page"
