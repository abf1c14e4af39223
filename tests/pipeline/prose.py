"""What a page of the documentation has to hold, so that a stranger can read it.

`faults` lists what a page breaks: where it stands and which rule. Pages are parsed, so code and
addresses count as one word and tables are told from text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST_SENTENCE = 30  # words
LONGEST_CELL = 25  # words
LONGEST_LINE = 130  # characters, outside of tables and code

_END_OF_SENTENCE = re.compile(r"[.!?][)\"']*\s+(?=[A-Z0-9`(\"'*_-])")
_WORD = re.compile(r"\w")


def faults(page: Path) -> list[str]:
    """Return what the page breaks, one line each; nothing if it holds all rules."""
    text = page.read_text(encoding="utf-8")
    tokens = _parse(text)
    return [
        *_opening(tokens),
        *_long_sentences(tokens),
        *_long_cells(tokens),
        *_long_lines(text, tokens),
        *_dead_links(page, tokens),
    ]


def _parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


def _opening(tokens: list[Token]) -> Iterator[str]:
    """Yield a fault unless the first paragraph says who the page is for and what they can do."""
    first = next((t for i, t in enumerate(tokens) if tokens[i - 1].type == "paragraph_open"), None)
    if first is None or not first.content.startswith("**For ") or "you " not in first.content:
        yield "1: the first paragraph does not say **For** whom it is and what you can do"


def _text(inline: Token) -> str:
    """Return what a reader sees; code and pictures are one word, which may begin a sentence."""
    words = [
        {"text": child.content, "softbreak": " ", "hardbreak": ". "}.get(child.type, "")
        or ("Code" if child.type in ("code_inline", "image") else "")
        for child in inline.children or []
    ]
    return "".join(words)


def _words(text: str) -> int:
    return sum(1 for word in text.split() if _WORD.search(word))


def _in_table(tokens: list[Token]) -> Iterator[tuple[Token, bool]]:
    """Yield each run of text with whether it is a cell."""
    inside = False
    for token in tokens:
        inside = inside + (token.type == "table_open") - (token.type == "table_close") > 0
        if token.type == "inline":
            yield token, inside


def _long_sentences(tokens: list[Token]) -> Iterator[str]:
    for token, cell in _in_table(tokens):
        for sentence in () if cell else _END_OF_SENTENCE.split(_text(token)):
            if (words := _words(sentence)) > LONGEST_SENTENCE:
                yield f"{_line(token)}: a sentence of {words} words: {sentence[:60]}..."


def _long_cells(tokens: list[Token]) -> Iterator[str]:
    for token, cell in _in_table(tokens):
        if cell and (words := _words(_text(token))) > LONGEST_CELL:
            yield f"{_line(token)}: a cell of {words} words: {_text(token)[:60]}..."


def _long_lines(text: str, tokens: list[Token]) -> Iterator[str]:
    free: set[int] = set()
    for token in tokens:
        if token.type in ("table_open", "fence", "code_block", "html_block") and token.map:
            free.update(range(*token.map))
    for number, line in enumerate(text.splitlines()):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            yield f"{number + 1}: a conflict that nobody has resolved"
        if len(line) > LONGEST_LINE and number not in free:
            yield f"{number + 1}: a line of {len(line)} characters"


def _dead_links(page: Path, tokens: list[Token]) -> Iterator[str]:
    for token, _ in _in_table(tokens):
        for child in token.children or []:
            target = child.attrGet("href") or child.attrGet("src")
            if isinstance(target, str) and not _resolves(page, target):
                yield f"{_line(token)}: a link to what is not there: {target}"


def _resolves(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True  # another site's
    path, _, anchor = target.partition("#")
    file = page.parent / path if path else page
    return file.exists() and (not anchor or anchor in _anchors(file))


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    tokens = _parse(page.read_text(encoding="utf-8"))
    titles = [tokens[i + 1] for i, t in enumerate(tokens) if t.type == "heading_open"]
    shown = ("".join(c.content for c in title.children or []) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in shown}
