"""Records of what the judge is asked: two libraries, the workloads, the margins, the budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pipeline.core.budget import MIN_PAIRS
from pipeline.judge.left_out import LeftOut
from pipeline.judge.tasks import Task

Side = Literal["baseline", "tuned"]
Kind = Literal["loop", "program"]
Mode = Literal["quick", "default", "thorough"]

COUNTING_SLOWDOWN = 10
"""Time limit of a counted run, in time limits of a timed run."""


@dataclass(frozen=True)
class BenchCommand:
    """One workload, ready to run: one that a profile trains or judges by, or a row of bench/.

    ``argv`` is the timed run, with an absolute program path; ``elsewhere`` are the same run of the
    same program with its code at other places. ``count_argv`` is a shorter run for counting, or
    None to leave this workload uncounted. ``env`` is added to the clean environment, and
    ``count_env`` on top of it in simulated runs: time passes 50 to 100 times slower there, so
    whatever a library does by the clock must be switched off. ``side_env`` has variables for timed
    runs of one side: a difference other than the library. ``weight`` is this workload's share of
    time, above 0; shares need not sum to 1. ``allowance`` is how much this workload may lose (a
    fraction; 1: any loss; None: as Margins has it). ``kind`` says whether it is a program of the
    machine or a loop of ours. ``timeout_s`` limits one timed run; a counted run gets
    COUNTING_SLOWDOWN times as long.
    """

    name: str
    argv: tuple[str, ...]
    elsewhere: tuple[tuple[str, ...], ...] = ()
    count_argv: tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    count_env: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0
    allowance: float | None = None
    side_env: Mapping[Side, Mapping[str, str]] = field(default_factory=dict)
    timeout_s: float = 60.0
    kind: Kind = "loop"

    def at(self, place: int) -> tuple[str, ...]:
        """Return the timed run with the program's code at a place; all come in turn."""
        places = (self.argv, *self.elsewhere)
        return places[place % len(places)]

    def __post_init__(self) -> None:
        if not self.name or not self.argv:
            raise ValueError("a bench command needs a name and a program")
        if not Path(self.argv[0]).is_absolute():
            raise ValueError(f"{self.name}: the program needs an absolute path: {self.argv[0]}")
        if self.count_argv is not None and not self.count_argv:
            raise ValueError(f"{self.name}: count_argv is empty; None means do not count")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ValueError(f"{self.name}: weight must be above 0, got {self.weight}")
        if self.allowance is not None and not 0 < self.allowance <= 1:
            raise ValueError(f"{self.name}: the allowance must be above 0, and 1 at most")


@dataclass(frozen=True)
class HealthCommand:
    """A real program that must behave the same with and without the tuned library.

    ``argv[0]`` may be a bare name, looked up on PATH; a program that is not installed is skipped
    and named. It starts in ``cwd`` (None: where the pipeline is), or with ``scratch`` in an empty
    folder, a fresh one for each of the two runs.
    """

    name: str
    argv: tuple[str, ...]
    timeout_s: float = 120.0
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    scratch: bool = False


@dataclass(frozen=True)
class Margins:
    """Borders of the verdicts, as fractions (0.01 is one per cent).

    ``throughput``: half width of the band around equal. ``workload``: how much a single workload
    may be shown to lose before it vetoes a gain of the whole. ``icache``: how far misses must
    fall (GO) or rise (NO-GO). ``rss``: how far peak memory may rise; below ``rss_slack_kib`` a
    rise is never counted, because a page more or less is nothing in a small program.
    """

    throughput: float = 0.01
    workload: float = 0.05
    icache: float = 0.05
    rss: float = 0.10
    rss_slack_kib: int = 1024

    def __post_init__(self) -> None:
        for name in ("throughput", "workload", "icache", "rss"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"margin {name} must lie between 0 and 1")
        if self.rss_slack_kib < 0:
            raise ValueError("margin rss_slack_kib must not be negative")


@dataclass(frozen=True)
class CacheGeometry:
    """An instruction cache: bytes, ways, bytes per line."""

    size: int
    ways: int
    line: int = 64

    def __post_init__(self) -> None:
        way = self.ways * self.line
        sets, rest = divmod(self.size, way) if way > 0 else (0, 0)
        if rest or sets < 1 or sets & (sets - 1) or self.line & (self.line - 1):
            raise ValueError(f"not a cache: {self.size} B in {self.ways} ways of {self.line} B")

    def __str__(self) -> str:
        whole = self.size == self.ways * self.line
        ways = "fully associative" if whole else f"{self.ways}-way"
        return f"{self.size / 1024:g} KiB, {ways}, {self.line} B lines"


@dataclass(frozen=True)
class Tools:
    """Programs that the judge counts with; without perf the hardware counts nothing."""

    valgrind: Path = Path("valgrind")
    perf: Path | None = None


@dataclass(frozen=True)
class JudgeRequest:
    """Everything one judgement needs.

    ``pairs`` (even, at least MIN_PAIRS) of each workload come before the first look; while the
    verdict is INCONCLUSIVE more are added until ``time_budget_s`` seconds of timed runs are used
    up. ``logs`` is a folder of this judgement alone.
    ``tasks`` are those of real programs that are counted as a whole, with ``count_env``.
    ``slowed`` is a library built with HAKMEM_SLOWDOWN, by which the judge is judged for
    ``self_check_s`` seconds a time; None leaves that out.
    ``mode`` and ``left_out`` (what the caller leaves out) go into the result.
    """

    baseline: Path
    tuned: Path
    benches: tuple[BenchCommand, ...]
    logs: Path
    health: tuple[HealthCommand, ...] = ()
    margins: Margins = field(default_factory=Margins)
    pairs: int = MIN_PAIRS
    time_budget_s: float = 120.0
    seed: int = 1
    tools: Tools = field(default_factory=Tools)
    tasks: tuple[Task, ...] = ()
    count_env: Mapping[str, str] = field(default_factory=dict)
    slowed: Path | None = None
    self_check_s: float = 60.0
    mode: Mode = "default"
    left_out: tuple[LeftOut, ...] = ()

    def __post_init__(self) -> None:
        if self.pairs < MIN_PAIRS or self.pairs % 2:
            raise ValueError(f"pairs must be even and at least {MIN_PAIRS}, got {self.pairs}")
        for name in ("time_budget_s", "self_check_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        names = [bench.name for bench in self.benches]
        if not names:
            raise ValueError("there is no verify workload to judge with")
        if len(set(names)) != len(names):
            raise ValueError(f"workload names must be unique: {names}")
