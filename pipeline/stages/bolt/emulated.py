"""bolt-emulate: BOLT's edge counts for another architecture, by an emulator.

Only our own training programs are compiled for it. What they count is weighed by their weights in
the profile, and by the counts themselves: no clock decides, as in every training.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.profile.workload import Command, Program
from pipeline.stages.bolt.instrument import Counted, bolt_instrument, fresh_folder
from pipeline.stages.bolt.train import FDATA, EdgeProfile, require_hot
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import prepare, train_on
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.train import each_workload, training_parts, work_factors
from pipeline.toolchain.fdata import Edges

STAGE = "bolt-emulate"


def count_emulated(
    shop: Workshop, setup: Setup, plain: Baseline, linked: Library, runtime: Path
) -> EdgeProfile:
    """Run the training programs of ``setup`` with BOLT's counters, under the emulator.

    ``runtime`` is BOLT's run-time library for the architecture. DataError if a function that must
    be hot was never entered.
    """
    counted = bolt_instrument(shop, linked, runtime)
    parts = {
        **training_parts(shop, setup, counted.library),
        "must_be_hot": list(shop.profile.layout.must_be_hot),
    }

    def work(room: Path, line: StageLine) -> Notes:
        files = room / "counts"

        def count(one: Program | Command) -> dict[str, Any]:
            work = _count_one(shop, one, plain, counted, files / one.name)
            return {"weight": one.weight, "work": work}

        rows = each_workload(setup, line, count)
        factors = work_factors({name: (row["weight"], row["work"]) for name, row in rows.items()})
        total = Edges()
        for name, factor in factors.items():
            _add(total, files / name, factor)
        require_hot(shop, total)
        total.write(room / FDATA)
        shutil.rmtree(files)
        return {"workloads": rows, "branches": len(total.taken)}

    made = shop.do(STAGE, parts, work, summary=_summary)
    return EdgeProfile(made.path(FDATA), made.digest(FDATA), made)


def _count_one(
    shop: Workshop, workload: Program | Command, plain: Baseline, counted: Counted, kept: Path
) -> int:
    """Keep what a workload counts in the folder ``kept``; return the sum of it."""
    fresh_folder(counted.prefix.parent)
    log = shop.log(STAGE, workload.name)
    prepared = prepare(shop, workload, plain)
    train_on(workload, prepared, counted.library.path, plain, log=log, target=shop.target)
    kept.parent.mkdir(exist_ok=True)
    shutil.move(counted.prefix.parent, kept)
    alone = Edges()
    _add(alone, kept, 1)
    return sum(alone.taken.values())


def _add(edges: Edges, folder: Path, factor: int) -> None:
    for file in sorted(folder.glob("*.fdata")):
        edges.add_file(file, factor)


def _summary(notes: Notes) -> str:
    ours = ", ".join(notes["workloads"])
    return f"{notes['branches']:,} branches under the emulator, of {ours}"
