"""Reading a profile of workloads: every error names the file, the key, and what is allowed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pipeline.core.errors import ProfileError
from pipeline.core.nested import parse
from pipeline.core.paths import Tree
from pipeline.core.spelling import did_you_mean
from pipeline.profile.schema import Profile

# At most so many mistakes are shown at once; the rest is counted.
SHOWN_MISTAKES = 5
WORKLOAD_KINDS = ("program", "command", "trace")

Model = TypeVar("Model", bound=BaseModel)


def profile_names(tree: Tree) -> list[str]:
    """Return the names of the profiles in this tree, sorted."""
    return sorted(path.stem for path in tree.profiles.glob("*.toml"))


def load_profile(tree: Tree, name: str) -> Profile:
    """Return the profile ``name`` of this tree; ProfileError if it is unknown or not valid."""
    return parse_profile(require_profile(tree, name))


VALID_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,49}")
"""What `pipeline init` takes as a name."""


def require_profile(tree: Tree, name: str) -> Path:
    """Return the file of the profile ``name``; ProfileError if there is none."""
    names = profile_names(tree)
    if name not in names:
        shown = name if VALID_NAME.fullmatch(name) else "NAME"
        make = (
            f"take one of these; `.venv/bin/pipeline init {shown} -- YOUR PROGRAM` makes a new one"
        )
        raise ProfileError(
            f"unknown profile {name!r}; known: {', '.join(names) or 'none'}",
            hint=did_you_mean(name, names, make, "--profile {}"),
        )
    return tree.profiles / f"{name}.toml"


def parse_profile(path: Path) -> Profile:
    """Return the profile in the file ``path``; ProfileError names file, key and what is allowed."""
    profile = read_as(Profile, path, page="docs/profiles.md")
    if profile.name != path.stem:
        raise ProfileError(
            f"{path}: name: is {profile.name!r}; must be {path.stem!r}, like the file"
        )
    return profile


def read_as(model: type[Model], path: Path, page: str) -> Model:
    """Return the TOML file ``path`` as a ``model``; ``page`` of the documentation has its keys.

    Raises ProfileError with file, key and what is allowed for each of the first mistakes.
    """
    table = _read_table(path)
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise ProfileError(
            _sentences(model, path, table, error.errors()), hint=f"{page} describes every key"
        ) from error


def _read_table(path: Path) -> dict[str, Any]:
    """Return a TOML file as a table; ProfileError names the line that is not valid."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        table: dict[str, Any] = parse(tomllib.loads, text)
        return table
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"{path}: not valid TOML: it is not UTF-8 text: {error}") from error
    except ValueError as error:
        last = max(1, len(text.splitlines()))
        said = str(error).replace("at end of document", f"at line {last}, the end of the file")
        raise ProfileError(
            f"{path}: not valid TOML: {said}",
            hint="mend that line, or one before it that was not closed"
            if isinstance(error, tomllib.TOMLDecodeError)
            else "no key of such a file has tables in tables like that",
        ) from error


def _sentences(
    model: type[BaseModel], path: Path, table: dict[str, Any], mistakes: list[ErrorDetails]
) -> str:
    """Return one line for each of the first mistakes: file, key, what is allowed."""
    lines = [
        f"{path}: {_key(table, mistake)}: {_problem(model, mistake)}"
        for mistake in mistakes[:SHOWN_MISTAKES]
    ]
    if len(mistakes) > SHOWN_MISTAKES:
        lines.append(f"and {len(mistakes) - SHOWN_MISTAKES} more")
    return "\n  ".join(lines)


def _key(table: dict[str, Any], mistake: ErrorDetails) -> str:
    """Return the key as a person would say it: ``workload "session-server", weight``."""
    place = [p for p in mistake["loc"] if p not in WORKLOAD_KINDS or p == mistake["loc"][-1]]
    if len(place) >= 2 and place[0] == "workload" and isinstance(place[1], int):
        place[:2] = [_workload_name(table, place[1])]
    said = (f"number {p + 1}" if isinstance(p, int) else str(p) for p in place)
    return ", ".join(said) or "the whole file"


def _workload_name(table: dict[str, Any], index: int) -> str:
    try:
        return f'workload "{table["workload"][index]["name"]}"'
    except (LookupError, TypeError):
        return f"workload number {index + 1}"


def _problem(model: type[BaseModel], mistake: ErrorDetails) -> str:
    if mistake["type"] == "extra_forbidden":
        *place, wrong = mistake["loc"]
        near = did_you_mean(str(wrong), _keys(model, place))
        return f"unknown key; {near}" if near else "unknown key"
    if mistake["type"] == "missing":
        return "is missing"
    if mistake["type"] == "string_type":
        return f"is {mistake['input']!r}; must be text: write it in quotes"
    text = mistake["msg"].removeprefix("Value error, ")
    given = mistake.get("input")
    shown = isinstance(given, str | int | float) and mistake["loc"]
    return f"is {given!r}; {text}" if shown else text


def _keys(kind: Any, place: Sequence[str | int]) -> set[str]:
    """Return the keys of the table at ``place``; more than those where several kinds may stand."""
    models = [*_models(kind)]
    if not place:
        return {one.alias or name for model in models for name, one in model.model_fields.items()}
    inside = [
        field.annotation
        for model in models
        for name, field in model.model_fields.items()
        if place[0] == (field.alias or name)
    ]
    if place[0] in WORKLOAD_KINDS or not inside:  # which kind it is, or the key of a row
        return _keys(kind, place[1:])
    return {key for one in inside for key in _keys(one, place[1:])}


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """Yield the tables that an annotation speaks of: a table, rows of tables, one of several."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for one in get_args(kind):
        yield from _models(one)
