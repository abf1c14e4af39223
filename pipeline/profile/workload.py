"""What may stand in a ``[[workload]]`` of a profile: a program, a trace or a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pipeline.profile.values import (
    Count,
    Counted,
    Margin,
    Name,
    ProgramName,
    Seconds,
    Sizes,
    parse_position,
)

# Plays a trace, which is the workload: it may train (one trace) and judge (another one).
REPLAY = "bench/replay"
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
