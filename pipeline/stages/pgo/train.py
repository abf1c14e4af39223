"""train: run every training workload and collect its counts.

A profile states the share of the library's *work* that each workload stands for. Raw counts grow
with the length of a run, so each workload's counts are multiplied by (wished share) / (sum of its
counts), scaled to whole numbers. No clock decides: two trainings have the same factors. See
docs/profiles.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core.console import StageLine
from pipeline.core.errors import DataError
from pipeline.core.process import first_line
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.profile.workload import Command, Program
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.doubts import DOUBTS, Doubt, idle, tell_doubts, words_to_stderr
from pipeline.stages.build.workloads import command_keys, prepare, train_on, workload_keys
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.profdata import total_count

STAGE, SECOND = "train", "context-train"
FACTORS = "factors.json"
# The largest factor. Rounding to whole numbers then costs a run of 1000 times the work 1 %.
SCALE = 100_000

Row = dict[str, Any]


@dataclass(frozen=True)
class Training:
    """Raw profiles, one folder per workload, and the whole-number factor of each workload."""

    artifact: Artifact
    factors: dict[str, int]
    processes: dict[str, int]

    def raw(self, workload: str) -> list[Path]:
        """Return the raw profiles that the processes of a workload have written."""
        prefix = f"raw/{workload}/"
        return [
            self.artifact.path(n) for n in self.artifact.receipt.outputs if n.startswith(prefix)
        ]


def train(shop: Workshop, setup: Setup, programs: Baseline, library: Library) -> Training:
    """Run the training workloads with counters, and weigh them by their work."""
    parts = {**training_parts(shop, setup, library), "sources": setup.sources}

    def work(room: Path, line: StageLine) -> Notes:
        def count(one: Program | Command) -> Row:
            row = _count(shop, STAGE, room, one, programs, library)
            return {"weight": one.weight, "work": _work(shop, room, one), **row}

        rows = each_workload(setup, line, count)
        factors = work_factors({n: (r["weight"], r["work"]) for n, r in rows.items()})
        (room / FACTORS).write_text(json.dumps(factors, indent=1), encoding="utf-8")
        doubts = [doubt for one in setup.training for doubt in _doubts(shop, one, rows[one.name])]
        return {"workloads": rows, "skipped": list(setup.skipped), DOUBTS: doubts}

    made = shop.do(STAGE, parts, work, summary=_summary)
    tell_doubts(shop, made)
    rows = made.receipt.notes["workloads"]
    factors = json.loads(made.path(FACTORS).read_text(encoding="utf-8"))
    return Training(made, factors, {name: row["processes"] for name, row in rows.items()})


def train_again(
    shop: Workshop, setup: Setup, programs: Baseline, library: Library, first: Training
) -> Training:
    """Run them with the counters of the second pass; factors are the first one's."""
    parts = {**training_parts(shop, setup, library), "factors": first.factors}

    def work(room: Path, line: StageLine) -> Notes:
        def count(one: Program | Command) -> Row:
            return _count(shop, SECOND, room, one, programs, library)

        return {"workloads": each_workload(setup, line, count)}

    made = shop.do(SECOND, parts, work, summary=_summary)
    rows = made.receipt.notes["workloads"]
    return Training(made, first.factors, {name: row["processes"] for name, row in rows.items()})


def training_parts(shop: Workshop, setup: Setup, library: Library) -> dict[str, Any]:
    """Return the parts of the key of every stage that runs the training on ``library``."""
    return {
        "library": library.digest,
        "programs": setup.programs,
        "workloads": workload_keys(shop, setup.training),
        "commands": command_keys(shop, setup.training),
    }


def work_factors(shares: dict[str, tuple[float, int]]) -> dict[str, int]:
    """Return whole-number factors from (wished share, sum of counts) per workload, 1..SCALE."""
    wanted = {name: share / work for name, (share, work) in shares.items() if work}
    top = max(wanted.values(), default=1.0)
    return {name: max(1, round(SCALE * wanted.get(name, 0.0) / top)) for name in shares}


def each_workload(
    setup: Setup, line: StageLine, run: Callable[[Program | Command], Row]
) -> dict[str, Row]:
    """Return what ``run`` makes of each training workload, by name."""
    rows = {}
    for number, workload in enumerate(setup.training, start=1):
        line.step(f"{workload.name} ({number} of {len(setup.training)})")
        rows[workload.name] = run(workload)
    return rows


def _work(shop: Workshop, room: Path, workload: Program | Command) -> int:
    tool, log = shop.tools.path("llvm-profdata"), shop.log(STAGE, f"{workload.name}.work")
    return total_count(tool, sorted((room / "raw" / workload.name).iterdir()), log)


def _count(
    shop: Workshop,
    stage: str,
    room: Path,
    workload: Program | Command,
    programs: Baseline,
    library: Library,
) -> Row:
    """Run a workload with counters; DataError if no process of it wrote a profile."""
    raw = room / "raw" / workload.name
    raw.mkdir(parents=True)
    # %c: counters are mapped from the file, nothing is lost. %p: one file per process.
    # %m: a process that execs another program adds to its file instead of replacing it.
    counted = train_on(
        workload,
        prepare(shop, workload, programs),
        library.path,
        programs,
        log=shop.log(stage, workload.name),
        env={"LLVM_PROFILE_FILE": f"{raw}/%c%p-%m.profraw"},
    )
    processes = len(list(raw.glob("*.profraw")))
    if processes == 0:
        raise DataError(
            f'workload "{workload.name}" ran, but no process of it wrote a profile',
            hint="is it statically linked, or does it clear LD_PRELOAD?",
            log=counted.log,
        )
    seconds = round(counted.cpu_seconds, 3)
    return {"seconds": seconds, "processes": processes, "stderr": first_line(counted.stderr)}


def _doubts(shop: Workshop, workload: Program | Command, row: Row) -> list[Doubt]:
    """Return what is suspicious about a training run."""
    name, log = workload.name, shop.log(STAGE, workload.name)
    starts = isinstance(workload, Command)
    return [
        *idle(name, row["work"], row["seconds"], log, starts=starts),
        *words_to_stderr(name, row["stderr"], log),
    ]


def _summary(notes: Notes) -> str:
    rows = notes["workloads"].values()
    return f"{len(rows)} workloads, {sum(row['processes'] for row in rows)} processes"
