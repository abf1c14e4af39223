"""bolt-train: run the training workloads again, for the edge counts that BOLT wants."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core.console import StageLine
from pipeline.core.errors import DataError
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.profile.workload import Command, Program
from pipeline.stages.bolt.instrument import Counted, fresh_folder
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import prepare, train_on
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.train import Training, each_workload, training_parts
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.loader_log import last_programs, tell_loaded

STAGE = "bolt-train"
FDATA = "bolt.fdata"
LOADER = "started"


@dataclass(frozen=True)
class EdgeProfile:
    """Weighted edge counts for BOLT, made with one library and good for that one only.

    ``exact`` tells counts of every edge from samples, in which edges may be missing.
    """

    path: Path
    digest: str
    artifact: Artifact
    exact: bool = True


def bolt_train(
    shop: Workshop, setup: Setup, plain: Baseline, training: Training, counted: Counted
) -> EdgeProfile:
    """Run the training workloads with BOLT's counters and add the counts up by time factors."""
    parts = {
        **training_parts(shop, setup, counted.library),
        "factors": training.factors,
        "must_be_hot": list(shop.profile.layout.must_be_hot),
    }

    def work(room: Path, line: StageLine) -> Notes:
        total = Edges()
        rows = each_workload(
            setup, line, lambda one: _count_one(shop, one, plain, training, counted, total)
        )
        require_hot(shop, total)
        total.write(room / FDATA)
        return {"workloads": rows, "branches": len(total.taken)}

    made = shop.do(STAGE, parts, work, summary=summary)
    for name, row in made.receipt.notes["workloads"].items():
        if row["corrupt"]:
            shop.console.notice(f'corrupt counts of "{name}" left out: {", ".join(row["corrupt"])}')
    return EdgeProfile(made.path(FDATA), made.digest(FDATA), made)


def _count_one(
    shop: Workshop,
    workload: Program | Command,
    plain: Baseline,
    training: Training,
    counted: Counted,
    total: Edges,
) -> dict[str, Any]:
    folder = counted.prefix.parent
    fresh_folder(folder)
    train_on(
        workload,
        prepare(shop, workload, plain),
        counted.library.path,
        plain,
        log=shop.log(STAGE, workload.name),
        env=tell_loaded(folder / LOADER),
    )
    files = sorted(folder.glob(f"{counted.prefix.name}.*.fdata"))
    factor = training.factors[workload.name]
    counted_ones = {path.name.split(".")[1] for path in files}
    programs = started(folder / LOADER, counted.library.path)
    without = sorted({name for pid, name in programs.items() if pid not in counted_ones})
    corrupt = [path.name for path in files if not total.add_file(path, factor)]
    shutil.rmtree(folder)
    # A process that _exits or is killed writes no BOLT profile; PGO's mapped counters lose none,
    # so the difference is what was lost.
    lost = max(0, training.processes[workload.name] - len(files))
    return {"processes": len(files), "lost": lost, "without": without, "corrupt": corrupt}


def require_hot(shop: Workshop, total: Edges) -> None:
    """Refuse a profile that is empty or lacks a function that must be hot.

    BOLT would leave such a function unoptimised, or move half of it to the cold part, and say
    nothing.
    """
    seen = total.functions()
    idle = [name for name in shop.profile.layout.must_be_hot if name not in seen]
    if idle:
        raise DataError(
            f"BOLT's training has no counts for {', '.join(idle)}",
            hint="read the logs of the workloads",
            log=shop.log(STAGE, "").parent,
        )


def started(prefix: Path, library: Path) -> dict[str, str]:
    """Return the program of each process that had the library, by its number."""
    programs = last_programs(prefix, library)
    return {number: Path(one.program).name for number, one in programs.items() if one.place}


def summary(notes: Notes) -> str:
    """Return how many branches and processes were counted, and which programs have no counts."""
    rows = notes["workloads"]
    counted = sum(row["processes"] for row in rows.values())
    lost = [
        f"{', '.join(row['without']) or 'processes'} of workload {name}"
        for name, row in rows.items()
        if row["lost"]
    ]
    text = f"{notes['branches']:,} branches from {counted} processes"
    if not lost:
        return text
    return f"{text}; without counts: {'; '.join(lost)} (killed, or ended by _exit, as sh and Go do)"
