"""Words that only this project uses: a page that needs one links to the glossary at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.core.paths import Tree

ROOT = Tree.here().root
GLOSSARY = ROOT / "docs" / "glossary.md"
GENERATED = {"messages.md", "experiments.md", "glossary.md"}
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED]
PAGES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
RESULTS = sorted((ROOT / "docs/results").glob("*.md"))
FORMS = {
    "Lane": "lanes?",
    "Arm": "arm|arms|armed|arming",
    "Shed": "sheds?|shedding",
    "Spare run": "spare runs?",
    "carrier": "carriers?",
    "door": "doors?",
    "Home": "homes of|its home range",
    "Excess": "excess",
    "Probe": "probe segments?",
    "Seat": "seats?",
    "Stale magazine": "stale magazines?",
}
"""How each word looks in a text. Home and Probe have another, usual meaning when alone."""

_CODE = re.compile(r"`[^`]*`|^    .*$|\]\([^)]*\)", re.MULTILINE)  # and addresses of links


def unexplained(text: str) -> list[str]:
    """Return the words of ours that stand in a page above its first link to the glossary."""
    above = re.split(r"\]\([^)]*glossary\.md", text, maxsplit=1)[0]
    above = above[: above.rfind("\n\n")] if above != text else above  # their own paragraph may
    plain = _CODE.sub("", above)
    return [term for term, form in FORMS.items() if re.search(rf"\b({form})\b", plain)]


def test_each_word_that_is_marked_ours_is_looked_for() -> None:
    marked = re.findall(r"\*([^*\n]+)\*+ \(ours\)", GLOSSARY.read_text("utf-8"))
    assert set(marked) == set(FORMS)


@pytest.mark.parametrize("page", [*PAGES, *RESULTS], ids=lambda page: page.name)
def test_a_page_explains_our_words(page: Path) -> None:
    assert unexplained(page.read_text("utf-8")) == []


def test_each_page_links_the_glossary() -> None:
    pages = [page for page in PAGES if page.name != "exit-codes.md"]  # which is generated
    assert [page.name for page in pages if "glossary.md" not in page.read_text("utf-8")] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n\nA class sheds.\n\nSee [it](glossary.md).", ["Shed"]),
        ("# A\n\nA class sheds.", ["Shed"]),
        ("# A\n\nA class [sheds](glossary.md#memory).", []),
        ("# A\n\nA `seat`.", []),
    ],
)
def test_a_word_without_a_link_is_found(text: str, found: list[str]) -> None:
    assert unexplained(text) == found
