"""docs/results/data/NAME-PROCESSOR.json, and the tables that pages have of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from textwrap import fill
from typing import Any

from bench.harness import saved
from bench.harness.report import markdown_table
from bench.harness.tables import builds, listed
from bench.harness.tables.figures import FIGURES
from bench.harness.tables.marks import between
from bench.harness.tables.measure import Kept
from bench.harness.tables.recipe import Recipe
from pipeline.core.errors import UsageError
from pipeline.core.files import replace_text

DATA = saved.RESULTS / "data"
WIDTH = 128
_BY = """\
`bench/result {name}` measures this anew by [its commands](../../bench/results/{name}.toml)."""


@dataclass(frozen=True)
class Saved:
    """A file that was written: of when, and what it replaced; "" where it is the first."""

    path: Path
    made: str
    replaced: str


def place_of(recipe: Recipe, kind: str) -> Path:
    """Return the file of what was measured on a kind of processor."""
    return DATA / f"{recipe.name}-{kind}.json"


def save(recipe: Recipe, samples: Kept, environment: dict[str, object], kind: str) -> Saved:
    """Write what was measured on a kind of processor, in place of what is there of the same one."""
    medians = {
        row: {
            who: {figure: FIGURES[figure].whole(values) for figure, values in figures.items()}
            for who, figures in by_who.items()
        }
        for row, by_who in samples.items()
    }
    found = {
        "environment": environment,
        "runs": [run.model_dump(exclude_defaults=True) for run in recipe.run],
        "medians": medians,
        "samples": samples,
    }
    return _write(recipe, place_of(recipe, kind), found)


def save_build(recipe: Recipe, found: builds.Found) -> Saved:
    """Write what is kept of a build, in place of that of its profile, kind and processor."""
    return _write(recipe, place_of(recipe, builds.name_of(found)), {**found, "samples": None})


def _write(recipe: Recipe, path: Path, found: dict[str, Any]) -> Saved:
    replaced = _what_is_there(path)
    whole = {"table": recipe.name, **found}
    replace_text(path, json.dumps(whole, separators=(",", ":")) + "\n")
    return Saved(path, _what_is_there(path), replaced)


def _what_is_there(path: Path) -> str:
    """Return when, and at which load, the file at ``path`` was measured; "" where there is none."""
    if not path.exists():
        return ""
    where = read(path)["environment"]
    loads = [one for one in (where.get("load before"), *where.get("load", ())) if one is not None]
    load = f", at a load of {max(loads):.1f}" if loads else ""
    return f"of {str(where['date'])[:10]}{load}"


def check_place(path: Path, environment: dict[str, object]) -> None:
    """Raise UsageError where the file is of another processor, by family and model."""
    if path.exists():
        there = read(path)["environment"]["processor"]
        if there.rpartition("(")[2] != str(environment["processor"]).rpartition("(")[2]:
            raise UsageError(
                f"{path} is of {there}, this machine has {environment['processor']}",
                hint="name that file after its model, and begin again",
            )


def read(path: Path) -> dict[str, Any]:
    """Return a file of results."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def of_recipe(name: str) -> list[dict[str, Any]]:
    """Return all results of a recipe, the newest first."""
    files = map(read, sorted(DATA.glob(f"{name}-*.json")))
    found = [file for file in files if file["table"] == name]
    return sorted(found, key=lambda one: str(one["environment"]["date"]), reverse=True)


def update(recipe: Recipe) -> str:
    """Return the page of a recipe with its tables made anew. Raises UsageError without marks."""
    all_found = of_recipe(recipe.name)
    made = builds.tables(all_found) if recipe.report else list(_tables(recipe, all_found))
    parts = [_BY.format(name=recipe.name), *made]
    return between(recipe.page, f"<!-- bench/result {recipe.name} -->\n", "\n\n".join(parts))


def _tables(recipe: Recipe, all_found: Sequence[dict[str, Any]]) -> Iterator[str]:
    for found in all_found:
        yield _caption(recipe, found)
        yield "\n".join(markdown_table(_cells(recipe, found)))


def _caption(recipe: Recipe, found: dict[str, Any]) -> str:
    where = found["environment"]
    parts = [f"**{str(where['date'])[:10]}, {where['processor']}**"]
    parts += [f"{where['processors']} processors"] if "processors" in where else []
    parts += [f"load {where['load before']:.1f}"] if "load before" in where else []
    parts += [f"commit {where['commit']}"] if "commit" in where else []
    most = max(map(len, _lists(found["samples"]))) if found["samples"] else 0
    are_medians = all(FIGURES[figure].whole is median for _, figure in recipe.wanted([""]))
    parts += ["without its samples"] if not most else []
    parts += [f"medians of {most}"] if most > 1 and are_medians else []
    return fill(", ".join(parts) + ":", WIDTH)


def _lists(samples: Kept) -> list[list[float]]:
    return [values for row in samples.values() for who in row.values() for values in who.values()]


def _cells(recipe: Recipe, found: dict[str, Any]) -> list[list[str]]:
    if recipe.listed:
        return listed.cells(recipe, found)
    medians = found["medians"]
    columns = {
        heading: of
        for heading, of in recipe.columns.items()
        if any(of[1] in by_who.get(of[0], {}) for by_who in medians.values())
    }
    rows = [
        [recipe.rows.get(row, row), *(_cell(recipe, found, row, *of) for of in columns.values())]
        for row in medians
    ]
    return [[recipe.corner, *columns], *rows]


def _cell(recipe: Recipe, found: dict[str, Any], row: str, who: str, figure: str) -> str:
    value = found["medians"][row].get(who, {}).get(figure)
    if value is None:
        return ""
    digits = FIGURES[figure].digits
    text = f"{value:,.{digits if value < 1000 else 0}f}"
    samples = found["samples"][row][who][figure] if recipe.quartiles and found["samples"] else []
    if len(set(samples)) < 2:
        return text
    low, _, high = quantiles(samples, n=4)
    return f"{text} [{low:.{digits}f}, {high:.{digits}f}]"
