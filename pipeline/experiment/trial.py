"""What a run of a trial says, as the result that its entry keeps."""

from __future__ import annotations

import os
import shlex

from pipeline.core.paths import Tree
from pipeline.core.processor import machine
from pipeline.experiment.entry import Result, Trial
from pipeline.judge.keys import with_interval
from pipeline.judge.outcome import loses_in_one, memory_word, speed_word
from pipeline.judge.verdict import Verdict
from pipeline.release.commit import commit_of
from pipeline.release.version import in_short
from pipeline.report.text import many
from pipeline.versus.model import VersusResult

COMPILED = ("allocator/", "cmake/", "CMakeLists.txt", "VERSION", "bench/", "training/")
"""What both sides and the programs that run with them are made of."""


def result_of(commit: str, found: VersusResult) -> Result:
    """Return the verdict with date, processor and the commit that its sides were compiled at."""
    return Result(
        date=found.created[:10],
        processor=_processor(),
        commit=commit,
        verdict=_verdict(found),
        figures=_figures(found),
        ran=_ran(found),
    )


def _verdict(found: VersusResult) -> str:
    """Return what is shown of speed and memory, and which workload breaks a limit of its own."""
    words = [speed_word(found.speed), memory_word(found.memory)]
    words += [] if found.guard.holds else [found.guard.reason]
    words += [found.speed.reason] if loses_in_one(found.speed) else []
    return "; ".join(words)


def _figures(found: VersusResult) -> str:
    """Return the change of both keys with its interval, the pairs, and the machine's load."""
    speed, memory = (
        with_interval(key.ratio) if key.ratio else "unknown" for key in (found.speed, found.memory)
    )
    around = found.environment
    load = f"load {around.load_before:.1f} before and {around.load_after:.1f} after"
    return f"speed {speed}; peak memory {memory}; {found.throughput.pairs} pairs; {load}"


def _ran(found: VersusResult) -> str:
    """Return what ran: the workloads of a profile by their numbers of threads, or a command."""
    timed = found.throughput.workloads
    if found.command is not None:
        return f"{shlex.join(found.command)}, {_threads(timed[0].threads)}"
    names: dict[int | None, list[str]] = {}
    for one in timed:
        names.setdefault(one.threads, []).append(one.name)
    said = (f"{_threads(count)}: {', '.join(some)}" for count, some in names.items())
    return f"profile {found.profile}; {'; '.join(said)}"


def _threads(count: int | None) -> str:
    return "threads unknown" if count is None else many(count, "thread")


def _processor() -> str:
    kind = machine()
    return f"{kind.name}, {kind.described}, {os.cpu_count()} CPUs"


def commit_now(tree: Tree, profile: str | None) -> str:
    """Return the commit in short; "+" says that what is compiled was not as committed.

    A new profile counts only if it is ``profile``, by which the trial runs.
    """
    known = commit_of(tree.root, [path.rstrip("/") for path in COMPILED], profile)
    if known is None:
        return ""
    changed = any(path.startswith(COMPILED) for path in known["changed"])
    return in_short(known["commit"]) + ("+" if changed else "")


def unreached(trial: Trial, found: VersusResult) -> str:
    """Return why a trial of depths may say nothing; "" where a difference is shown."""
    undecided = (Verdict.NEUTRAL, Verdict.INCONCLUSIVE)
    if not trial.depths or {found.speed.verdict, found.memory.verdict} - {*undecided}:
        return ""
    return (
        "note: what ran may not reach these depths. A depth shows only where magazines of its "
        "class run full or empty: a build for research counts how often (docs/research.md, "
        "`retire` and `fallback`)"
    )
