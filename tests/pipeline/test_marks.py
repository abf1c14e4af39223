"""The marks in the source and the symbol lists say the same about what is hot and what is cold."""

from pathlib import Path

import pytest

from pipeline.core.paths import Tree
from pipeline.layout import marks
from pipeline.profile.load import parse_profile
from pipeline.stages.build.check_names import check_names
from pipeline.toolchain.symbols import read_lists

ROOT = Path(__file__).parents[2]
HERE = Tree.here()
PROFILES = sorted((ROOT / "training/profiles").glob("*.toml"))
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


@pytest.mark.parametrize("path", PROFILES, ids=lambda p: p.stem)
def test_no_profile_and_no_list_names_what_the_sources_lack(path: Path) -> None:
    profile = parse_profile(path)
    check_names(HERE, profile, read_lists(HERE.layout(profile.layout.name)))


def test_every_profile_has_the_lists_that_it_names() -> None:
    for path in PROFILES:
        assert ROOT / "layouts" / parse_profile(path).layout.name in LISTS, path


@pytest.mark.parametrize("layout", LISTS, ids=lambda p: p.name)
def test_the_lists_are_those_of_the_profile_of_that_name(layout: Path) -> None:
    profile = parse_profile(ROOT / "training/profiles" / f"{layout.name}.toml")
    assert profile.layout.name == layout.name
