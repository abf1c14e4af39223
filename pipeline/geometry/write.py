"""Writing geometry.toml: only what differs from the default, each value with its reason."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.core.files import replace_text
from pipeline.core.processor import ANY
from pipeline.geometry.code import CHOICES
from pipeline.geometry.difference import changed_fields
from pipeline.geometry.load import NOT_MEASURED
from pipeline.geometry.model import Constant, Geometry, Setting, SizeClass

_HEAD = """\
# How the allocator is cut for this profile, where that is not the default: docs/geometry.md says
# what each value means and may be. It may be edited by hand; `pipeline build` reads it.
schema_version = 1
"""
_KIND = """\
# How the allocator is cut on one kind of processor, beside what geometry.toml says for all of them:
# docs/geometry.md. It may be edited by hand; `pipeline build` reads it on such a machine.
schema_version = 1
processor = "{name}"
"""
_WIDTH = 100
_UNSAID = "no reason was given"


def write_toml(geometry: Geometry, default: Geometry, path: Path) -> None:
    """Write what ``geometry`` has otherwise than ``default`` to ``path``."""
    replace_text(path, render_toml(geometry, default))


def write_default(result: str, worth: Mapping[str, str], path: Path, processor: str = ANY) -> None:
    """Write to ``path`` that all is as the default: the ``result`` of a search that chose nothing.

    ``worth`` says what each change was measured to be worth, by its name.
    """
    lines = [f"{_text(name)} = {_text(words)}" for name, words in worth.items()]
    search = ["# All is as the default: a search has measured changes and chosen none of them."]
    search += ["[search]", f"result = {_text(result)}", "", "[search.worth]", *lines]
    replace_text(path, "\n".join([_head(processor), *search]) + "\n")


def render_toml(geometry: Geometry, default: Geometry) -> str:
    """Return the text of the file; :func:`~pipeline.geometry.load.parse_geometry` reads it back."""
    parts = [_head(geometry.processor)]
    for one in geometry.constants:
        standard = default.value(one.name)
        if one.value != standard:
            parts.append(_constant(one, standard))
    for setting in geometry.code:
        before = default.setting(setting.name).value
        if setting.value != before:
            parts.append(_setting(setting, before))
    if [one.values for one in geometry.classes] != [one.values for one in default.classes]:
        alike = [one.size for one in geometry.classes] == [one.size for one in default.classes]
        classes = _changes(geometry, default) if alike else _classes(geometry, default)
        parts.append("\n".join(classes) + "\n")
    return "\n".join(parts)


def _head(processor: str) -> str:
    return _HEAD if processor == ANY else _KIND.format(name=processor)


def _wrapped(words: str) -> str:
    """Return words as the lines of a comment."""
    return textwrap.fill(words, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _text(words: str) -> str:
    """Return a TOML string; JSON's are the same."""
    return json.dumps(words, ensure_ascii=False)


def _words(why: str, worth: str) -> list[str]:
    return [f"why = {_text(why or _UNSAID)}", f"worth = {_text(worth or NOT_MEASURED)}"]


def _constant(one: Constant, standard: int) -> str:
    lines = [
        _wrapped(one.help),
        f"[constants.{one.name}]",
        f"value = {one.value}  # default {standard}, from {one.lowest} to {one.highest}",
        *_words(one.why, one.worth),
    ]
    return "\n".join(lines) + "\n"


def _setting(one: Setting, before: str) -> str:
    choice = CHOICES[one.name]
    lines = [
        _wrapped(choice.help),
        f"[code.{one.name}]",
        f"value = {_text(one.value)}  # default {before}; it may be {', '.join(choice.allowed)}",
        *_words(one.why, one.worth),
    ]
    return "\n".join(lines) + "\n"


def _changes(geometry: Geometry, default: Geometry) -> Iterator[str]:
    """Return one row for each class that is changed: all others are as in the table below it."""
    yield "# Classes that are cut otherwise; the others stay."
    yield "[class]"
    told: dict[tuple[str, str], int] = {}
    for one, before in zip(geometry.classes, default.classes, strict=True):
        fields = changed_fields(before, one)
        if fields:
            said = one.model_copy(
                update={
                    "why": one.why or geometry.classes_why or _UNSAID,
                    "worth": one.worth or geometry.classes_worth or NOT_MEASURED,
                }
            )
            words = _row_words(_briefly(said, told))
            changed = [f"{name} = {new}" for name, _, new in fields]
            yield f"{one.size} = {{ {', '.join([*changed, *words])} }}{_remark(one, before)}"


def _classes(geometry: Geometry, default: Geometry) -> Iterator[str]:
    before = {one.size: one for one in default.classes}
    gone = [str(size) for size in before if size not in {one.size for one in geometry.classes}]
    yield "# The whole table of size classes: bytes, pages of a slab, depth of a magazine."
    if gone:
        yield _wrapped(f"Not in it: the default's classes of {', '.join(gone)} bytes.")
    yield "[classes]"
    yield from _words(geometry.classes_why, geometry.classes_worth)
    yield "table = ["
    told: dict[tuple[str, str], int] = {}
    for one in geometry.classes:
        yield _row(_briefly(one, told), before.get(one.size))
    yield "]"


def _briefly(one: SizeClass, told: dict[tuple[str, str], int]) -> SizeClass:
    """Return a class that refers to the first one with the same words, if there was one."""
    first = told.setdefault((one.why, one.worth), one.size)
    if not one.why or first == one.size:
        return one
    return one.model_copy(update={"why": f"as {first}", "worth": ""})


def _row(one: SizeClass, before: SizeClass | None) -> str:
    fields = [
        f"size = {one.size}",
        f"pages = {one.pages}",
        f"depth = {one.depth}",
        *_row_words(one),
    ]
    return f"    {{ {', '.join(fields)} }},{_remark(one, before)}"


def _row_words(one: SizeClass) -> list[str]:
    said = (("why", one.why), ("worth", one.worth))
    return [f"{key} = {_text(text)}" for key, text in said if text]


def _remark(one: SizeClass, before: SizeClass | None) -> str:
    if before is None:
        return "  # new"
    was = ", ".join(f"{name} {old}" for name, old, _ in changed_fields(before, one))
    return f"  # default: {was}" if was else ""
