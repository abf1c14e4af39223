"""The schema of a profile file: what may stand in ``training/profiles/NAME.toml``.

Every field says what is allowed; pydantic enforces it and unknown keys are refused.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from pipeline.profile.values import Budget, Margin, Name, Symbol
from pipeline.profile.workload import Command, Program, Strict, Trace, Workload


class Layout(Strict):
    """Which symbol lists are used, and which functions must be hot in every training."""

    name: Name
    must_be_hot: Annotated[tuple[Symbol, ...], Field(min_length=1)] = ("hak_malloc", "hak_free")


CountedProgram = Literal["gcc", "python3", "redis", "sqlite3"]
COUNTED_PROGRAMS: tuple[CountedProgram, ...] = get_args(CountedProgram)


class Gate(Strict):
    """Margins of the judge, as fractions, and how much it may measure.

    ``pairs`` of runs come before the first look; ``..._s`` are seconds of timed runs that may be
    spent while nothing is decided, ``self_check_s`` on each half of the judge's check of itself.
    ``chain`` is whether builds that are not quick make the chain of builds and random layouts.
    ``programs`` are those that the I-cache key counts the library's misses in.
    """

    throughput_margin: Margin = 0.01
    workload_allowance: Margin = 0.05
    icache_margin: Margin = 0.05
    rss_margin: Margin = 0.10
    pairs: Annotated[int, Field(ge=10, le=200, multiple_of=2)] = 10
    budget_s: Budget = 60
    quick_budget_s: Budget = 20
    thorough_budget_s: Budget = 3600
    self_check_s: Budget = 60
    seed: Annotated[int, Field(ge=0)] = 1
    chain: bool = True
    programs: Annotated[tuple[CountedProgram, ...], Field(min_length=1)] = COUNTED_PROGRAMS


class Tune(Strict):
    """What tuning may not trade away.

    ``unseen_waste`` is the most that a request above 64 bytes, of a size which no training has
    shown, may leave unused of its block, as a fraction.
    """

    unseen_waste: Annotated[float, Field(ge=0.125, le=0.5)] = 0.25


class Profile(Strict):
    """A whole profile."""

    schema_version: Literal[1]
    name: Name
    description: Annotated[str, Field(min_length=1, max_length=200)]
    layout: Layout
    gate: Gate = Gate()
    tune: Tune = Tune()
    workload: Annotated[tuple[Workload, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _workloads_are_apart(self) -> Profile:
        _refuse_twice([w.name for w in self.workload], "two workloads are named")
        both = {w.essence() for w in self.training} & {w.essence() for w in self.verifying}
        shared = [w.name for w in self.workload if w.essence() in both]
        if shared:
            raise ValueError(
                f"the same workload both trains and verifies: {', '.join(shared)}; give one of "
                "them another input, such as another file or number"
            )
        if not self.training:
            raise ValueError("at least one workload needs role = 'train'")
        if all(w.kind == "command" and not w.timed for w in self.verifying):
            raise ValueError(
                "at least one program, trace or command with a weight needs role = 'verify'"
            )
        return self

    @property
    def training(self) -> tuple[Program | Command | Trace, ...]:
        """The workloads that are trained on, in the order of the file."""
        return tuple(w for w in self.workload if w.role == "train")

    @property
    def verifying(self) -> tuple[Program | Command | Trace, ...]:
        """The workloads that judge, in the order of the file."""
        return tuple(w for w in self.workload if w.role == "verify")


def _refuse_twice(names: list[str], sentence: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{sentence} {', '.join(twice)}")
