"""The result of a judgement: frozen, self-describing, and the same after a trip through JSON.

``None`` means unknown, everywhere. No field uses 0 for "could not be measured".
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from pipeline.judge.request import CacheGeometry, Kind, Margins, Mode, Side
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

SCHEMA_VERSION: Literal[2] = 2


class Record(BaseModel):
    """Base of all results: immutable, and strict about names when read back."""

    model_config = ConfigDict(frozen=True, extra="forbid")


SIDES: tuple[Side, Side] = ("baseline", "tuned")
Clock = Literal["cpu", "wall"]
CountingSource = Literal["hardware", "valgrind", "static"]


class RunSample(Record):
    """One timed process: its rate by ``clock``, its rate by wall time, its peak memory in KiB.

    ``clock`` is the CPU time of all threads, or wall time for programs that print no CPU time.
    ``threads`` is None where the program does not say.
    """

    ops_per_sec: float = Field(gt=0, allow_inf_nan=False)
    wall_ops_per_sec: float = Field(gt=0, allow_inf_nan=False)
    clock: Clock
    threads: int | None
    peak_rss_kib: int = Field(gt=0)


class PairSample(Record):
    """One baseline run and one tuned run, next to each other in time.

    ``together``: both at once, taking turns on one CPU; else one after the other. ``place`` is
    where the code of a program of ours lay.
    """

    round: int
    first: Side
    padding: int
    together: bool
    baseline: RunSample
    tuned: RunSample
    place: int = 0


class WorkloadThroughput(Record):
    """One workload's pairs and what they say; ``allowance`` is how much it may lose (a fraction).

    ``ratio`` is tuned / baseline in operations per second of ``clock``, ``wall`` the same in wall
    time; it is None for pairs that ran together, whose wall time means nothing. ``rss`` is tuned /
    baseline in peak memory, None in records from before there was one. ``kind`` is whether it is a
    program of the machine or a loop of ours: then an operation is one run of the whole program.
    """

    name: str
    weight: float
    allowance: float
    argv: tuple[str, ...]
    env: dict[str, str]
    clock: Clock
    threads: int | None
    samples: tuple[PairSample, ...]
    ratio: Interval
    wall: Interval | None
    baseline_ops_per_sec: float
    tuned_ops_per_sec: float
    baseline_rss_kib: float
    tuned_rss_kib: float
    rss: Interval | None = None
    kind: Kind = "loop"
    noise: float = Field(description="median absolute deviation of the log ratios, scaled to 1 sd")


class Throughput(Record):
    """All workloads; ``overall`` is the weighted geometric mean of their median ratios.

    ``programs`` and ``loops`` are the same of a part of them; None where there is none of it.

    ``pairs`` is how many there are over all workloads, ``looks`` how often a verdict was sought.
    ``pairs_to_decide`` and ``seconds_to_decide`` say how much it would take in all to decide, if
    the estimate stays where it is; None when no number of pairs would.
    """

    workloads: tuple[WorkloadThroughput, ...]
    overall: Interval
    programs: Interval | None = None
    loops: Interval | None = None
    pairs: int
    looks: int
    stopped: str
    seconds: float
    pairs_to_decide: int | None = None
    seconds_to_decide: float | None = None


class Measured(Record):
    """A count per operation: the middle one of the repeats, the smallest and the largest."""

    value: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class LibraryCounts(Record):
    """What one library did in one workload. Unknown counts are None.

    ``instructions`` to ``dtlb_misses`` are per operation, in the library alone; simulation tells
    instructions, branches (conditional and indirect) and I1 misses, the rest is hardware's.
    ``total_instructions`` are per operation, benchmark and libc included. ``hot_lines`` and
    ``hot_pages`` are the fewest 64 B lines and 4 KiB pages that hold 99 % of the instructions
    executed; ``lines`` and ``pages`` are all that were touched.
    """

    operations: int = Field(gt=0)
    instructions: Measured | None = None
    total_instructions: Measured | None = None
    i1_misses: Measured | None = None
    branches: Measured | None = None
    cycles: Measured | None = None
    itlb_misses: Measured | None = None
    l1d_misses: Measured | None = None
    dtlb_misses: Measured | None = None
    lines: int | None = None
    hot_lines: int | None = None
    pages: int | None = None
    hot_pages: int | None = None


class WorkloadCounts(Record):
    """Counts of one workload in one instruction cache (None for the machine's real one).

    ``env`` are the variables that counted runs have beyond timed ones.
    """

    name: str
    weight: float
    argv: tuple[str, ...]
    env: dict[str, str]
    geometry: CacheGeometry | None
    baseline: LibraryCounts
    tuned: LibraryCounts


class Counting(Record):
    """All counts; ``workloads`` decide.

    ``curve`` has the further cache geometries, for the workload that presses most on the I-cache.
    """

    source: CountingSource
    why: str
    scope: str
    workloads: tuple[WorkloadCounts, ...] = ()
    curve: tuple[WorkloadCounts, ...] = ()
    uncounted: tuple[str, ...] = ()


class ProgramCounts(Record):
    """What one library did in one run of a whole program, and all that the program did beside it.

    ``hot_lines`` are the fewest 64 B lines that hold 99 % of the library's instructions.
    """

    instructions: int = Field(gt=0)
    i1_misses: int = Field(ge=0)
    hot_lines: int = Field(gt=0)
    total_instructions: int = Field(gt=0)
    total_i1_misses: int = Field(ge=0)


class RealProgram(Record):
    """One task of a real program, simulated as a whole with both libraries.

    The counts are None where the program is not installed or has failed; ``detail`` says so.
    ``own`` tells whether the profile's workloads run it, too; None in records that do not know.
    """

    name: str
    command: str
    status: Literal["counted", "skipped", "failed"]
    detail: str
    baseline: ProgramCounts | None = None
    tuned: ProgramCounts | None = None
    weight: float = 1.0
    own: bool | None = None


class Key(Record):
    """One key: what was measured, what it says, and why in one sentence."""

    verdict: Verdict
    margin: float
    measure: str
    reason: str
    ratio: Interval | None = None
    not_worse: bool = Field(description="loss beyond the margin is excluded")


class Keys(Record):
    """The keys, never merged into one number.

    ``memory`` is about peak resident memory; None in records from before there was such a key.
    """

    throughput: Key
    icache: Key
    memory: Key | None = None


class Guard(Record):
    """The memory limit; ``ratio`` is tuned / baseline peak RSS, weighted geometric mean."""

    holds: bool
    margin: float
    ratio: FiniteFloat
    reason: str


class HealthCheck(Record):
    """One real program: plain, then preloaded with the tuned library."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    detail: str
    log: str | None = None


class Health(Record):
    """All health checks; sound when nothing failed and at least one program really ran."""

    checks: tuple[HealthCheck, ...]
    sound: bool
    reason: str


class Dose(Record):
    """How much of an injected slowdown one workload gets.

    ``rounds`` is what makes its time longer by ``loss`` (a fraction), computed from the time that
    ``probe_rounds`` took, many times as much: they made it longer by ``probe_loss``.
    """

    workload: str
    rounds: int = Field(gt=0)
    loss: float
    probe_rounds: int = Field(gt=0)
    probe_loss: float


class KnownJudgement(Record):
    """A judgement whose answer is known."""

    name: str
    verdict: Verdict
    expected: tuple[Verdict, ...]
    alarming: tuple[Verdict, ...]
    reason: str

    @property
    def passed(self) -> bool:
        """Return whether the judge said what is right."""
        return self.verdict in self.expected

    @property
    def wrong(self) -> bool:
        """Return whether the judge said what cannot be."""
        return self.verdict in self.alarming


class SelfJudgement(KnownJudgement):
    """One judgement whose answer is known: ``expected`` are the verdicts that are right.

    ``alarming`` are those that show the judge to be wrong; any other only shows it to be weak.
    """

    name: Literal["same build", "known slowdown"]
    throughput: Throughput
    doses: tuple[Dose, ...] = ()

    @property
    def ratio(self) -> Interval:
        """Return the change that was found over all workloads."""
        return self.throughput.overall


class Bloat(Record):
    """How much foreign code a real program was made to run every 256th malloc.

    ``lines`` of 64 B are what makes the library's misses rise by ``rise`` (a fraction), computed
    from the rise by ``probe_lines``.
    """

    task: str
    lines: int = Field(gt=0)
    rise: float
    probe_lines: int = Field(gt=0)
    probe_rise: float


class CountedJudgement(KnownJudgement):
    """One judgement by the I-cache key whose answer is known; else as SelfJudgement."""

    name: Literal["same build, I-cache", "known bloat, I-cache"]
    ratio: Interval | None
    doses: tuple[Bloat, ...] = ()


class SelfCheck(Record):
    """The judge judged: a build against itself, and against itself with a known loss.

    By both keys; None in records from before the I-cache key was checked, or without valgrind.
    """

    same_build: SelfJudgement
    slowdown: SelfJudgement
    same_counts: CountedJudgement | None = None
    bloat: CountedJudgement | None = None

    @property
    def judgements(self) -> tuple[SelfJudgement | CountedJudgement, ...]:
        """Return all judgements that were made."""
        counted = (one for one in (self.same_counts, self.bloat) if one is not None)
        return self.same_build, self.slowdown, *counted


class Library(Record):
    """A judged library file; ``text_bytes`` sums its executable sections."""

    path: str
    sha256: str
    file_bytes: int
    text_bytes: int


class Environment(Record):
    """Where it was measured. None means the machine does not tell.

    ``cpu`` is what the vendor sells it as, ``processor`` the kind, as in core/processor.py.
    """

    cpu: str | None
    processor: str | None = None
    cores: int
    kernel: str
    libc: str
    memory_mib: int | None
    governor: str | None
    transparent_hugepages: str | None
    aslr: str | None
    load_before: float
    load_after: float
    l1i: CacheGeometry
    l1i_source: Literal["sysfs", "fallback"]
    tools: dict[str, str]


class VerifyResult(Record):
    """The whole judgement of one tuned build against one baseline.

    ``left_out`` has one sentence for each thing that this mode did not do. ``self_check`` is None
    where the judge was not judged. ``programs`` are what the I-cache key is judged by; none in
    records from when loops were.
    """

    schema_version: Literal[2] = SCHEMA_VERSION
    mode: Mode
    left_out: tuple[str, ...]
    created: str
    seconds: float
    seed: int
    margins: Margins
    baseline: Library
    tuned: Library
    throughput: Throughput
    counting: Counting
    keys: Keys
    rss: Guard
    health: Health
    self_check: SelfCheck | None
    programs: tuple[RealProgram, ...] = ()
    environment: Environment
