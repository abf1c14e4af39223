"""The marks in the source and the symbol lists say the same about what is hot and what is cold."""

from pathlib import Path

import pytest

from pipeline.layout import marks

ROOT = Path(__file__).parents[2]
# Other folders have a geometry alone: several profiles share the lists of one.
LISTS = sorted(path.parent for path in (ROOT / "layouts").glob("*/hot.txt"))


def marked(mark: str) -> frozenset[str]:
    return marks.marked(ROOT / "allocator", mark)


def listed(path: Path) -> list[str]:
    """Return the symbols of a list, in order."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def test_there_are_marks() -> None:
    assert {"hak_malloc", "hak_free"} <= marked("HAK_HOT")
    assert {"hak_fatal", "attach"} <= marked("HAK_COLD")


@pytest.mark.parametrize("layout", LISTS, ids=lambda p: p.name)
def test_marked_functions_are_listed(layout: Path) -> None:
    assert marked("HAK_HOT") <= set(listed(layout / "hot.txt"))
    assert marked("HAK_COLD") <= set(listed(layout / "cold.txt"))


@pytest.mark.parametrize("layout", LISTS, ids=lambda p: p.name)
def test_no_function_is_hot_and_cold(layout: Path) -> None:
    hot, cold = listed(layout / "hot.txt"), listed(layout / "cold.txt")
    assert not set(hot) & set(cold)
    assert not set(hot) & marked("HAK_COLD")
    assert not set(cold) & marked("HAK_HOT")
    assert len(hot) == len(set(hot)) and len(cold) == len(set(cold))
