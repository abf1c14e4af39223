"""Running `pipeline versus`: what the judge is asked, and its pairs of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pipeline.core.descendants import children, last_of_line
from pipeline.core.repeating import repeating
from pipeline.judge import environment
from pipeline.judge.judging import describe
from pipeline.judge.keys import throughput_key
from pipeline.judge.memory_key import memory_key, rss_guard
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.samples import SIDES, Throughput
from pipeline.judge.schedule import BLOCK, plan
from pipeline.judge.summarise import Samples, summarise
from pipeline.judge.throughput import measure
from pipeline.judge.whole_command import TIME_OF, told, told_in
from pipeline.report.times import times_of
from pipeline.versus.model import Compared, Ran, Row, VersusResult
from pipeline.versus.ran import Watch
from pipeline.versus.side import SideOfTwo

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    ``warmup`` are pairs of each workload that do not count. With ``pairs`` (even) each workload
    has so many, and there is one look; without, pairs go on until the verdict is clear.
    """

    warmup: int = 0
    pairs: int | None = None


@dataclass(frozen=True)
class Subject:
    """What runs with both libraries: a command, or the workloads of a profile."""

    command: tuple[str, ...] | None = None
    profile: str | None = None


def compare(
    a: SideOfTwo,
    b: SideOfTwo,
    subject: Subject,
    request: JudgeRequest,
    effort: Effort,
    progress: Progress,
) -> VersusResult:
    """Return where ``b`` stands against ``a`` in the workloads of ``request``.

    Raises WorkloadError when a run fails, ArtifactError when a library is none.
    """
    load = environment.load()
    request = replace(
        request,
        baseline=a.library,
        tuned=b.library,
        benches=tuple(_with_variables(bench, a, b) for bench in request.benches),
    )
    found, ran = _measured(request, subject, effort, progress)
    return VersusResult(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        a=_compared(a),
        b=_compared(b),
        command=subject.command,
        profile=subject.profile,
        rows=rows_of(found),
        throughput=found,
        speed=throughput_key(found, request.margins),
        memory=memory_key(found, request.seed),
        guard=rss_guard(found, request.margins),
        environment=environment.record({}, load),
        ran=ran,
    )


def _with_variables(bench: BenchCommand, a: SideOfTwo, b: SideOfTwo) -> BenchCommand:
    return replace(bench, side_env=dict(zip(SIDES, (a.env, b.env), strict=True)))


def _measured(
    request: JudgeRequest, subject: Subject, effort: Effort, progress: Progress
) -> tuple[Throughput, tuple[Ran, ...]]:
    """Return what pairs say, and which processes a command that is timed as a whole has."""
    sides = stage({"baseline": request.baseline, "tuned": request.tuned}, request.logs)
    runner = PairedRunner(sides, request.logs)
    ran: tuple[Ran, ...] = ()
    if subject.command is not None:
        with _named(progress):
            ran = _ran(request.benches[0], runner, sides["baseline"])
    if effort.warmup:
        progress("warm-up")
        _pairs(request, runner, effort.warmup + effort.warmup % BLOCK, progress)
    if effort.pairs is None:
        return measure(request, runner.block, progress), ran
    return _of_pairs(request, runner, effort.pairs, progress), ran


@contextmanager
def _named(progress: Progress) -> Iterator[None]:
    """Tell of the first run, and where that takes long, which processes have not ended yet."""
    first = "a first run, which does not count"

    def remind() -> None:
        names = ", ".join(name for one in children(os.getpid()) for name in last_of_line(one))
        progress(f"{first}: the command has not ended; still running: {names}")

    progress(first)
    with repeating(remind, LONG_S):
        yield


LONG_S = 10.0
"""A first run that takes longer is one that may hang."""


def _ran(bench: BenchCommand, runner: PairedRunner, library: Path) -> tuple[Ran, ...]:
    if TIME_OF in told_in(bench.argv):
        runner.warm_up(bench)
        return ()
    watch = Watch(bench.argv[0], library)
    with watch.watching():
        runner.warm_up(bench)
    return watch.found()


def _of_pairs(
    request: JudgeRequest, runner: PairedRunner, pairs: int, progress: Progress
) -> Throughput:
    """Return what just so many pairs say; that they do not decide is no matter of more of them."""
    samples = _pairs(request, runner, pairs, progress)
    found = summarise(request, samples, share=1.0, looks=1, seconds=0.0)
    return found.model_copy(
        update={
            "stopped": f"not decided by {found.pairs} pairs",
            "pairs_to_decide": None,
            "seconds_to_decide": None,
        }
    )


def _pairs(request: JudgeRequest, runner: PairedRunner, pairs: int, progress: Progress) -> Samples:
    """Run so many pairs of each workload."""
    samples: Samples = {bench.name: [] for bench in request.benches}
    benches = {bench.name: bench for bench in request.benches}
    done, total = 0, pairs * len(benches)
    for block in plan({name: range(pairs) for name in benches}, request.seed):
        progress(f"pair {done + 1} of {total}: {block[0].workload}")
        samples[block[0].workload] += runner.block(benches[block[0].workload], block)
        done += BLOCK
    return samples


def rows_of(found: Throughput) -> tuple[Row, ...]:
    """Return the figures of each workload."""
    return tuple(
        Row(
            workload=one.name,
            clock=one.clock,
            a=times_of(one, "baseline"),
            b=times_of(one, "tuned"),
            a_peak_kib=one.baseline_rss_kib,
            b_peak_kib=one.tuned_rss_kib,
        )
        for one in found.workloads
    )


def _compared(side: SideOfTwo) -> Compared:
    facts = describe(side.library)
    return Compared(
        name=side.name,
        library=str(side.library),
        sha256=facts.sha256,
        text_bytes=facts.text_bytes,
        env=side.env,
    )


@dataclass(frozen=True)
class Timed:
    """A command that is timed: how many threads it has, where that is known.

    With ``time_of`` only the processes of that name which have the library are timed. It starts in
    ``folder`` (None: where the pipeline is).
    """

    command: tuple[str, ...]
    threads: int | None = None
    time_of: str | None = None
    folder: Path | None = None

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.time_of or Path(self.command[0]).name


def command_request(runner: Path, timed: Timed, budget_s: float, logs: Path) -> JudgeRequest:
    """Return what the judge is asked about one command, which ``runner`` (bench/command) runs."""
    place = ("--in", str(timed.folder)) if timed.folder else ()
    line = (str(runner), *told(timed.threads, timed.time_of), *place, *timed.command)
    bench = BenchCommand(timed.name, line, timeout_s=COMMAND_LIMIT_S)
    nothing = Path()  # both libraries are put in by compare()
    return JudgeRequest(nothing, nothing, (bench,), logs, time_budget_s=budget_s)


COMMAND_LIMIT_S = 600.0
"""A command that runs longer hangs, or is no benchmark."""
