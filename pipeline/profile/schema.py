"""The schema of a profile file: what may stand in ``training/profiles/NAME.toml``.

Every field says what is allowed; pydantic enforces it and unknown keys are refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

# Plays a trace, which is the workload: it may train (one trace) and judge (another one).
REPLAY = "bench/replay"
_SUFFIXES = {"": 1, "k": 1_000, "M": 1_000_000}


def parse_count(value: object) -> int:
    """Turn 2000, "200k" or "20M" into a number of operations; ValueError for anything else."""
    match = re.fullmatch(r"(\d+)([kM]?)", str(value))
    if isinstance(value, bool) or match is None or int(match[1]) == 0:
        raise ValueError('must be a count above 0, such as 5000, "200k" or "20M"')
    return int(match[1]) * _SUFFIXES[match[2]]


def parse_position(value: object) -> int:
    """Turn 0, 2000 or "200k" into a number of events; ValueError for anything else."""
    return 0 if value == 0 and not isinstance(value, bool) else parse_count(value)


def parse_counted(value: object) -> object:
    """Take true, false, or the name of a program without its folder; ValueError for the rest."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip():
        raise ValueError('must be true, or the name of the program to count, such as "my-server"')
    return without_folder(value)


def without_folder(name: str) -> str:
    """Take the name of a program; ValueError where its folder stands in front of it."""
    if "/" in name:
        raise ValueError(f"give the program's name without its folder: {Path(name).name!r}")
    return name


def _ordered(sizes: tuple[int, int]) -> tuple[int, int]:
    if sizes[0] > sizes[1]:
        raise ValueError("the smallest size comes first")
    return sizes


Count = Annotated[int, BeforeValidator(parse_count)]
Counted = Annotated[bool | str, BeforeValidator(parse_counted)]
ProgramName = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(without_folder)]
Size = Annotated[int, Field(ge=1, le=1 << 40)]
Sizes = Annotated[tuple[Size, Size], AfterValidator(_ordered)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Budget = Annotated[float, Field(gt=0, le=86400)]
Margin = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=60)]
Symbol = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.$]*$")]
Role = Literal["train", "verify"]


class Strict(BaseModel):
    """A table of the file: no unknown keys, never changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Program(Strict):
    """One of our own C programs, from training/ (role train) or bench/ (role verify).

    ``ops`` is the length of a run, ``quick_ops`` the one for ``--quick``, ``count_ops`` the one
    for counting under valgrind, which is about 50 times slower. ``sizes`` are the smallest and
    largest request in bytes. ``allowance`` is how much this workload may lose, as a fraction
    (verify; without it, as the gate has it).
    """

    kind: Literal["program"]
    name: Name
    role: Role
    program: Annotated[str, Field(pattern=r"^(training|bench)/[a-z0-9_]+$")]
    ops: Count
    quick_ops: Count
    count_ops: Count | None = None
    args: tuple[str, ...] = ()
    sizes: Sizes | None = None
    env: dict[str, str] = {}
    weight: Annotated[float, Field(gt=0)]
    allowance: Margin | None = None
    timeout_s: Seconds = 60

    @model_validator(mode="after")
    def _folder_fits_role(self) -> Program:
        folder = "training/" if self.role == "train" else "bench/"
        if self.program != REPLAY and not self.program.startswith(folder):
            raise ValueError(
                f"role {self.role!r} takes programs from {folder}, "
                "so that training and judging never share code"
            )
        if self.role == "train" and self.count_ops is not None:
            raise ValueError("count_ops is for role 'verify' only")
        return self

    def environment(self) -> dict[str, str]:
        """Return the variables the program is run with."""
        if self.sizes is None:
            return dict(self.env)
        low, high = (str(size) for size in self.sizes)
        return dict(self.env) | {"HAKMEM_BENCH_MIN_SIZE": low, "HAKMEM_BENCH_MAX_SIZE": high}

    def arguments(self, ops: int) -> tuple[str, ...]:
        """Return the arguments for a run of ``ops`` operations."""
        return (*self.args, "--ops", str(ops))

    def essence(self) -> str:
        """Return what the workload does, to recognise the same one under two names."""
        return repr((self.program, self.args, self.sizes, sorted(self.env.items())))


class Trace(Strict):
    """A recorded program, replayed: ``trace`` is a file, ``record`` a command to record.

    The process with the most events is played, from event ``first`` on, at most ``events`` of
    them. ``ops``, ``quick_ops`` and ``count_ops`` are lengths of a run as for programs: beyond the
    length of the trace it is played again. A command is recorded when the profile is built first,
    in the root of the tree or with ``scratch`` in an empty folder; ``needs`` are
    programs that it calls beside ``record[0]``, and files that it reads, by their whole path.
    """

    kind: Literal["trace"]
    name: Name
    role: Role
    trace: Annotated[str, Field(min_length=1)] | None = None
    record: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    needs: tuple[str, ...] = ()
    scratch: bool = False
    first: Annotated[int, BeforeValidator(parse_position)] = 0
    events: Count | None = None
    ops: Count
    quick_ops: Count
    count_ops: Count | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    weight: Annotated[float, Field(gt=0)]
    timeout_s: Seconds = 60

    @model_validator(mode="after")
    def _one_source(self) -> Trace:
        if (self.trace is None) == (self.record is None):
            raise ValueError("either trace (a file) or record (a command), one of the two")
        if self.record is None and (self.needs or self.scratch or self.env):
            raise ValueError("needs, scratch and env are for record (a command)")
        if self.role == "train" and self.count_ops is not None:
            raise ValueError("count_ops is for role 'verify' only")
        return self

    def program(self, file: Path) -> Program:
        """Return the program that plays the trace ``file``."""
        return Program(
            kind="program",
            name=self.name,
            role=self.role,
            program=REPLAY,
            ops=self.ops,
            quick_ops=self.quick_ops,
            count_ops=self.count_ops,
            args=("--trace", str(file), *self.args),
            weight=self.weight,
            timeout_s=self.timeout_s,
        )

    def essence(self) -> str:
        """Return what the workload does, to recognise the same one under two names."""
        return repr((self.trace, self.record, self.first, self.events, sorted(self.env.items())))


class Command(Strict):
    """An ordinary program of the machine, preloaded; skipped with a notice where it is missing.

    Role train: it is trained on. Role verify: it must run correctly, with the same output as
    without the library; one with a weight is timed as well, with all processes that it waits for,
    or with ``time_of = "NAME"`` only those of that name which have the library.
    ``threads`` says how many of them keep a CPU busy (verify, timed): the two runs of a pair with
    one share a CPU. ``allowance`` is how much it may lose. With ``counted = true`` (verify) the
    library's misses inside ``argv[0]`` itself count for the I-cache key, by its weight; with
    ``counted = "NAME"`` those inside the processes of that program which ``argv`` starts. It starts
    in the root of the tree, or with ``scratch = true`` in an empty folder of its own. ``needs`` are
    programs that it calls beside ``argv[0]``, and files that it reads, by their whole path.
    """

    kind: Literal["command"]
    name: Name
    role: Role
    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    needs: tuple[str, ...] = ()
    env: dict[str, str] = {}
    scratch: bool = False
    counted: Counted = False
    weight: Annotated[float, Field(gt=0)] | None = None
    threads: Annotated[int, Field(ge=1)] | None = None
    time_of: ProgramName | None = None
    allowance: Margin | None = None
    timeout_s: Seconds = 60

    @model_validator(mode="after")
    def _weight_fits_role(self) -> Command:
        if self.role == "train" and self.weight is None:
            raise ValueError("a training command needs a weight (its share of the work, above 0)")
        if self.role == "train" and self.counted:
            raise ValueError("counted is for commands of role 'verify'")
        timed = self.role == "verify" and self.weight is not None
        only_timed = (self.threads, self.allowance, self.time_of)
        if not timed and any(one is not None for one in only_timed):
            raise ValueError("threads, allowance and time_of are for commands that are timed: of "
                             "role 'verify', with a weight")  # fmt: skip
        return self

    @property
    def counted_below(self) -> str | None:
        """The program whose processes are counted, where it is not ``argv[0]`` itself."""
        return self.counted if isinstance(self.counted, str) else None

    @property
    def timed(self) -> bool:
        """Whether the judge times this command, beside looking at its output."""
        return self.role == "verify" and self.weight is not None

    def essence(self) -> str:
        """Return what the workload does, to recognise the same one under two names."""
        return repr((self.argv, sorted(self.env.items())))


Workload = Annotated[Program | Command | Trace, Field(discriminator="kind")]


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
