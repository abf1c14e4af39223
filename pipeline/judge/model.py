"""The result of a judgement: frozen, self-describing, and the same after a trip through JSON.

``None`` means unknown, everywhere. No field uses 0 for "could not be measured".
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat

from pipeline.judge.counts import Counting, RealProgram
from pipeline.judge.known import CountedJudgement, SelfCheck, SelfJudgement
from pipeline.judge.left_out import AllLeftOut
from pipeline.judge.request import CacheGeometry, Margins, Mode
from pipeline.judge.samples import Record, Throughput, older
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

SCHEMA_VERSION: Literal[3] = 3


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


SILENT = "ended as plain, and printed nothing that could be compared"
"""What is said of a health check that passed by its exit code alone."""


def _silent(kept: dict[str, Any]) -> bool:
    """Return whether a check of an older record was silent: its words alone say so there."""
    return kept.get("detail") == SILENT


class HealthCheck(Record):
    """One real program: plain, then preloaded with the tuned library.

    ``stderr`` is the first line that it wrote there though it passed. ``silent``: it passed by its
    exit code alone.
    """

    name: str
    status: Literal["passed", "failed", "skipped"]
    detail: str
    stderr: str = ""
    log: str | None = None
    silent: bool = Field(default_factory=_silent)


class Health(Record):
    """All health checks; sound when nothing failed and at least one program really ran."""

    checks: tuple[HealthCheck, ...]
    sound: bool
    reason: str

    @property
    def failed(self) -> tuple[HealthCheck, ...]:
        """The programs that behave differently with the library."""
        return tuple(one for one in self.checks if one.status == "failed")

    @property
    def left_out(self) -> str:
        """How many checks were skipped, and why; "" where none was, or the reason says it."""
        skipped = [one for one in self.checks if one.status == "skipped"]
        if len(skipped) in (0, len(self.checks)):
            return ""
        were = "was" if len(skipped) == 1 else "were"
        why = "; ".join(f"{one.name}: {one.detail}" for one in skipped)
        return f"{len(skipped)} of {len(self.checks)} health checks {were} skipped ({why})"

    @property
    def silent(self) -> str:
        """That no program which passed has printed anything; "" where one has, or none passed."""
        passed = [one for one in self.checks if one.status == "passed"]
        if not passed or not all(one.silent for one in passed):
            return ""
        return f"no health check printed anything: {', '.join(one.name for one in passed)}"

    @property
    def word(self) -> str:
        """What is shown, in a word or two."""
        return "sound" if self.sound else "failed" if self.failed else "not shown"


class Library(Record):
    """A judged library file; ``text_bytes`` sums its executable sections."""

    path: str
    sha256: str
    file_bytes: int
    text_bytes: int


BUSY = 2.0
"""Load per CPU: above it the report says so. The judge itself runs two programs at a time."""


class Environment(Record):
    """Where it was measured. None means the machine does not tell.

    ``cpu`` is what the vendor sells it as, ``processor`` the kind, as in core/processor.py.
    ``pages_of_64_kib`` is what the system allows of them; older records do not tell.
    """

    cpu: str | None
    processor: str | None = None
    cores: int
    kernel: str
    libc: str
    memory_mib: int | None
    governor: str | None
    transparent_hugepages: str | None
    pages_of_64_kib: str | None = None
    aslr: str | None
    load_before: float
    load_after: float
    l1i: CacheGeometry
    l1i_source: Literal["sysfs", "fallback"]
    tools: dict[str, str]

    @property
    def kind(self) -> str:
        """The kind of processor, such as amd-zen3; where a record has none, what it is sold as."""
        return self.processor or self.cpu or "an unknown processor"

    @property
    def loads(self) -> str:
        """How loaded the machine was, in words."""
        return (
            f"load {self.load_before:.0f} before, {self.load_after:.0f} after, on {self.cores} CPUs"
        )

    @property
    def busy(self) -> bool:
        """Whether so much else ran beside the judgement that whoever reads it should know."""
        return max(self.load_before, self.load_after) > BUSY * self.cores


class VerifyResult(Record):
    """The whole judgement of one tuned build against one baseline.

    ``left_out`` is what this mode did not do; ``self_check`` is None where nobody judged the judge.
    ``programs`` are what the I-cache key is judged by; none in records from when loops were.
    ``own_counted``: a verify command of the profile runs one of them. If none does, I-cache GO is
    no gain; None in records from before that was asked: there it is one.
    """

    schema_version: Annotated[Literal[3], older(2, 3)] = SCHEMA_VERSION
    mode: Mode
    left_out: AllLeftOut
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
    own_counted: bool | None = None
    environment: Environment

    @property
    def self_judgements(self) -> tuple[SelfJudgement | CountedJudgement, ...]:
        """The judgements whose answer is known; none where the judge was not judged."""
        return self.self_check.judgements if self.self_check else ()
