"""bench/results/NAME.toml: what is run for a table of docs/results, and how the table looks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.harness.allocators import REPOSITORY
from bench.harness.arguments import Missing
from pipeline.core.errors import UsageError

RECIPES = REPOSITORY / "bench" / "results"
_BUILT = {
    "LIB": "clang/lib/libhakmem.so",
    "GUARD": "guard/lib/libhakmem-guard.so",
    "HARDENED": "hardened/lib/libhakmem-hardened.so",
    "RESEARCH": "research/lib/libhakmem-research.so",
    "COUNTING": "counting/lib/libhakmem.so",
    "PROGRAMS": "clang/bench",
    "COMPILER": "tuned-compiler/lib/libhakmem.so",
    "INTERPRETER": "tuned-interpreter/lib/libhakmem.so",
    "KEY_VALUE": "tuned-key-value/lib/libhakmem.so",
    "PEERS": "peers",
    "VERDICT": "pipeline/mixed/verify/*/verdict.json",
}
"""What stands for something built, and where it lies in build/, in the folder of its preset.

Of several the newest is meant."""
_HOW = "cmake --preset {0} && cmake --build --preset {0} -j2"
_TUNED = """\
.venv/bin/python -m pipeline.geometry.write_tables {0} build/tuned-{0}/tables
  cmake --preset clang -B build/tuned-{0} -DHAKMEM_GEOMETRY=$PWD/build/tuned-{0}/tables
  cmake --build build/tuned-{0} --target hakmem -j2"""
_OTHER = {
    **{f"tuned-{name}": _TUNED.format(name) for name in ("compiler", "interpreter", "key-value")},
    "counting": """\
mkdir -p build/counting/tables && cp allocator/base/*.def build/counting/tables
  sed -i '/HAK_COUNT_MALLOCS/s/ 0,/ 1,/' build/counting/tables/constants.def
  cmake --preset clang -B build/counting -DHAKMEM_GEOMETRY=$PWD/build/counting/tables
  cmake --build build/counting --target hakmem -j2""",
    "peers": "bench/peers/build",
    "pipeline": ".venv/bin/pipeline build --profile mixed",
}
"""How to build what has no preset: the library with a profile's geometry or with
`count_mallocs = 1`, other allocators, and what was judged."""
_WORD = re.compile(rf"\b({'|'.join(_BUILT)})\b")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Run(_Table):
    """A command: one that figures.READERS names, or one program.

    A program runs for each row and column, with what they add to its arguments. It fails where the
    library of a word `LD_PRELOAD=` is not the one that its malloc comes from.
    """

    command: tuple[str, ...] = Field(min_length=1)
    repetitions: int = Field(default=1, ge=1)
    rows: dict[str, tuple[str, ...]] = {}
    columns: dict[str, tuple[str, ...]] = {}


class Recipe(_Table):
    """How one table is measured, and how it looks."""

    name: str
    title: str
    page: str
    corner: str
    columns: dict[str, tuple[str, str]] = {}
    """By heading: whose figure (of which allocator, say), and which figure (figures.py)."""
    listed: dict[str, str] = {}
    """In place of columns: figures that are ratios, by what they are called (listed.py)."""
    rows: dict[str, str] = {}
    """Names of rows on the page, where they differ."""
    turned: bool = False
    """Whether what was measured as a row is a column of the page."""
    quartiles: bool = False
    report: str | None = None
    """Where a build that is run leaves its report, whose figures make the tables (builds.py)."""
    run: tuple[Run, ...] = Field(min_length=1)

    def wanted(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return whose figures are kept, of all that were measured, and which."""
        listed = [(who, figure) for who in names for figure in self.listed.values()]
        return [*self.columns.values(), *listed]


def names() -> list[str]:
    """Return the names of all recipes."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def load(name: str) -> Recipe:
    """Read a recipe. Raises UsageError where there is none, or where it is wrong."""
    if name not in names():
        raise UsageError(f"there is no bench/results/{name}.toml", hint="--list shows all")
    text = (RECIPES / f"{name}.toml").read_text(encoding="utf-8")
    try:
        return Recipe.model_validate({"page": f"{name}.md", "name": name} | tomllib.loads(text))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"bench/results/{name}.toml: {error}") from None


def filled(command: tuple[str, ...], root: Path = REPOSITORY) -> tuple[str, ...]:
    """Return the command with LIB and the like replaced. Raises Missing for what is not built.

    `TRIALS:PATTERNS` names both sides of these trials of the ledger, which are compiled for it.
    """

    def place(found: re.Match[str]) -> str:
        built = sorted((root / "build").glob(_BUILT[found[0]]), key=lambda at: at.stat().st_mtime)
        if not built:
            preset = _BUILT[found[0]].partition("/")[0]
            how = _OTHER.get(preset) or _HOW.format(preset)
            where = root / "build" / _BUILT[found[0]]
            raise Missing(f"{found[0]} is not built ({where}); do that with\n  {how}")
        return str(built[-1])

    return tuple(one for word in command for one in _expanded(_WORD.sub(place, word)))


def _expanded(word: str) -> tuple[str, ...]:
    from bench.harness.tables import trials  # all that compiles a library comes with it

    mark, _, patterns = word.partition(":")
    return trials.words(patterns) if mark == "TRIALS" else (word,)
