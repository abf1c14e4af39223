"""The records of the evidence: frozen, and the same after a trip through JSON.

``None`` means that something was not measured, everywhere; ``left_out`` says why. Misses are I1
misses per operation in the library, summed over the workloads under instruction pressure by their
weights.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from pipeline.judge.counts import CountingSource
from pipeline.judge.left_out import AllLeftOut
from pipeline.judge.request import CacheGeometry, Mode
from pipeline.judge.samples import Record, older
from pipeline.judge.statistics import Interval

EVIDENCE_VERSION: Literal[2] = 2
Share = Annotated[float, Field(ge=0, le=1)]


class PerOperation(Record):
    """What one build costs per operation, weighted over workloads with or without pressure.

    ``branches`` are conditional and indirect ones. ``lines`` are the 64 B lines of library code
    that were touched at all; the mean of the workloads.
    """

    build: Literal["baseline", "tuned"]
    pressure: bool
    workloads: tuple[str, ...]
    instructions: FiniteFloat | None = None
    branches: FiniteFloat | None = None
    i1_misses: FiniteFloat | None = None
    lines: FiniteFloat | None = None


class CurvePoint(Record):
    """The misses of both builds in one instruction cache."""

    geometry: CacheGeometry
    baseline: FiniteFloat | None
    tuned: FiniteFloat | None


class StaticText(Record):
    """What can be said of a library's code without running it.

    Hot are the functions of hot.txt, cold those of cold.txt, halves that were split off and what
    lies in a section for unlikely code. Lines of 64 B and pages of 4 KiB are those that hot code
    spans, from its first to its last byte. Bytes are None where the library has no symbols.
    """

    build: Literal["baseline", "tuned"]
    text_bytes: int
    hot_bytes: int | None = None
    cold_bytes: int | None = None
    hot_lines: int | None = None
    hot_pages: int | None = None


class ProgramShare(Record):
    """The library inside one real program: its part of all instructions and all I1 misses.

    Shares are fractions, 0 to 1. ``status`` is ``skipped`` where the program is not installed;
    ``detail`` says so in words. ``command`` is the program with its arguments.
    """

    name: str
    command: str
    status: Literal["counted", "skipped", "failed"]
    detail: str
    baseline_instructions: Share | None = None
    tuned_instructions: Share | None = None
    baseline_i1_misses: Share | None = None
    tuned_i1_misses: Share | None = None
    total_instructions: int | None = None


class FunctionShare(Record):
    """A function of the library and its share of all samples of a workload, 0 to 1."""

    name: str
    share: Share


class SelfTime(Record):
    """Where the samples of one run of a workload lie; ``reason`` says why there are none.

    ``inside`` is the library's share, 0 to 1. ``functions`` come by falling share, without those
    that have too few samples.
    """

    name: str
    samples: int = 0
    inside: Share | None = None
    functions: tuple[FunctionShare, ...] = ()
    reason: str = ""


class SelfTimes(Record):
    """The verify workloads, each sampled by the clock in one run with the tuned library."""

    workloads: tuple[SelfTime, ...]


class LayoutNull(Record):
    """Random layouts of the same code, for the distribution that the tuned one is held against.

    ``misses`` has one figure per random layout, in the order of ``seeds``. ``percentile`` is the
    share of random layouts, in per cent, that have as few misses as the tuned one or fewer: 0 is
    better than all of them, 100 worse than all. ``rank`` is the place of the tuned one among all,
    1 for the fewest misses and behind those with as many; ``p_value`` bounds the chance that one
    more random layout had such a rank. Both are None in records from before there were any.
    """

    source: CountingSource
    workloads: tuple[str, ...]
    seeds: tuple[int, ...]
    misses: tuple[FiniteFloat, ...]
    tuned: FiniteFloat
    baseline: FiniteFloat
    percentile: float = Field(ge=0, le=100)
    rank: int | None = Field(default=None, ge=1)
    p_value: Share | None = None
    reason: str


class AblationStep(Record):
    """One build of the chain, each with all that the one before it has, and something more.

    Instructions, misses and hot lines are the library's in the tasks of the chain: the geometric
    mean of a task. ``speed`` is its throughput as a ratio to the last step's, in paired runs of
    training workloads; None for the last step itself. ``as_few_misses`` and ``as_fast`` tell
    whether it is shown to be not worse than the best of all steps on that key.
    """

    name: str
    adds: str
    instructions: FiniteFloat | None
    i1_misses: FiniteFloat | None
    hot_lines: FiniteFloat | None
    text_bytes: int
    speed: Interval | None
    pairs: int | None
    as_few_misses: bool
    as_fast: bool


class Ablation(Record):
    """The chain from the baseline to the full build; ``chosen`` is the step that is judged.

    It is published if the gate lets it pass. ``tasks`` were counted and ``workloads`` timed, all of
    the training; none in records from when the workloads of the verdict chose, and counts were per
    operation.
    """

    steps: tuple[AblationStep, ...]
    chosen: str
    reason: str
    icache_margin: float
    throughput_margin: float
    tasks: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()


class Evidence(Record):
    """All evidence of one build. ``left_out`` is what was not measured."""

    schema_version: Annotated[Literal[2], older(1, 2)] = EVIDENCE_VERSION
    mode: Mode
    left_out: AllLeftOut = ()
    per_operation: tuple[PerOperation, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    curve_workloads: tuple[str, ...] = ()
    static: tuple[StaticText, ...] = ()
    programs: tuple[ProgramShare, ...] = ()
    self_times: SelfTimes | None = None
    layout_null: LayoutNull | None = None
    ablation: Ablation | None = None
