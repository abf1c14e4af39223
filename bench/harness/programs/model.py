"""The whole programs: what each is, what it needs, and its input."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bench.harness.allocators import REPOSITORY
from bench.harness.rows import Row, Run
from bench.harness.runner import RunFailed
from pipeline.apps.model import Name
from pipeline.core.errors import PipelineError, UsageError
from pipeline.core.nested import parse
from pipeline.core.process import run

WHOLE = REPOSITORY / "bench" / "whole"
APPS = REPOSITORY / "tests" / "apps" / "suite"
INPUT_LIMIT_S = 120.0
WARM_MIB = 256
"""More than any of them takes: see ``warm_memory``."""


class Program(BaseModel):
    """One entry of ``bench/whole/programs.toml``, whose first lines say what each field means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    what: str
    needs: dict[str, str]
    input: str = ""
    run: str


@dataclass(frozen=True)
class ProgramRun(Run):
    """One program as a row of a comparison."""

    @property
    def name(self) -> str:
        """Name of the program: how many threads it has is its own affair."""
        return self.row.name

    def arguments(self, *, scale: float = 1.0, ops: int | None = None) -> list[str]:  # noqa: ARG002
        """Return the arguments of bench/command: a whole program has one length."""
        return list(self.row.options)


def load_programs(path: Path = WHOLE / "programs.toml") -> list[Program]:
    """Return the programs of the table in order; UsageError if it is not valid."""
    try:
        table = parse(tomllib.loads, path.read_text(encoding="utf-8"))
        return [Program.model_validate(entry) for entry in table["program"]]
    except (ValueError, KeyError) as error:
        raise UsageError(f"{path}: {error}") from error


def choose(names: Sequence[str], patterns: Iterable[str]) -> list[str]:
    """Return the names that fit a shell pattern, all without patterns; UsageError for none."""
    patterns = list(patterns)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UsageError(f"no program is called {pattern!r}", hint=f"of: {', '.join(names)}")
    return [n for n in names if not patterns or any(fnmatchcase(n, p) for p in patterns)]


def prepare(program: Program, folder: Path) -> ProgramRun:
    """Make a program's input in its folder; return how it is run there, or raise RunFailed."""
    folder.mkdir()
    lines = f"WHOLE={WHOLE} APPS={APPS}; export WHOLE APPS\n"
    try:
        run(["sh", "-ec", lines + program.input], cwd=folder, timeout_s=INPUT_LIMIT_S)
    except PipelineError as error:
        raise RunFailed(f"its input: {' '.join(error.message.split())}") from None
    words = ("--in", str(folder), "sh", "-ec", lines + program.run)
    return ProgramRun(Row(program.name, "command", 1, words, warm_mib=WARM_MIB), 1)
