"""Edge counts by sampling: the processor's branch stacks, where the machine has them.

Takes the place of bolt-instrument and bolt-train with ``--branch-stacks``. Programs run at full
speed with the library as it is; perf samples the last branches taken, and perf2bolt turns the
samples into edges. Samples grow with time as counts do, so the same factors weight them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.core.console import StageLine
from pipeline.core.errors import ChildError, DataError, PipelineError, ToolError
from pipeline.core.preload import through_env
from pipeline.core.process import run
from pipeline.core.receipt import Notes
from pipeline.profile.workload import Command, Program
from pipeline.stages.bolt.train import FDATA, STAGE, EdgeProfile, require_hot, summary
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import Prepared, prepare, run_workload
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.train import Training, each_workload, training_parts
from pipeline.toolchain.fdata import Edges

# User mode only: the library is never in the kernel, and no rights are needed for that.
RECORD = ("record", "--quiet", "-e", "cycles:u", "-j", "any,u")
LIMIT_S = 120.0


def sample_branches(
    shop: Workshop, setup: Setup, plain: Baseline, training: Training, library: Library
) -> EdgeProfile:
    """Sample the training workloads; require_branch_stacks tells whether this machine can."""
    parts = {
        **training_parts(shop, setup, library),
        "factors": training.factors,
        "must_be_hot": list(shop.profile.layout.must_be_hot),
        "record": RECORD,
    }

    def work(room: Path, line: StageLine) -> Notes:
        total = Edges()

        def count(one: Program | Command) -> dict[str, Any]:
            data = _record(shop, one, prepare(shop, one, plain), library.path, room)
            return _add(shop, one, library.path, data, training.factors[one.name], total)

        rows = each_workload(setup, line, count)
        require_hot(shop, total)
        total.write(room / FDATA)
        return {"workloads": rows, "branches": len(total.taken)}

    made = shop.do(STAGE, parts, work, summary=summary)
    return EdgeProfile(made.path(FDATA), made.digest(FDATA), made, exact=False)


def require_branch_stacks(shop: Workshop) -> None:
    """Raise ToolError, with perf's own words, unless this machine records branch stacks."""
    hint = "leave out --branch-stacks: BOLT's instrumentation works everywhere"
    if not shop.tools.has("perf"):
        raise ToolError("--branch-stacks needs perf, which is missing", hint=hint)
    log = shop.log(STAGE, "branch-stacks")
    output = log.with_suffix(".data")
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        run([shop.tools.path("perf"), *RECORD, "-o", output, "/bin/true"], log=log, timeout_s=20)
    except PipelineError as error:
        words = f"this machine has no branch stacks: {error.message}"
        raise ToolError(words, hint=hint, log=log) from error
    finally:
        output.unlink(missing_ok=True)


def _record(
    shop: Workshop, workload: Program | Command, prepared: Prepared, library: Path, room: Path
) -> Path:
    """Run a workload under perf and return perf's data file."""
    data = room / f"{workload.name}.data"
    perf = (str(shop.tools.path("perf")), *RECORD, "-o", str(data), "--")
    sampled = replace(prepared, argv=(*perf, *through_env(library), *prepared.argv))
    run_workload(workload, sampled, log=shop.log(STAGE, workload.name))
    return data


def _add(
    shop: Workshop,
    workload: Program | Command,
    library: Path,
    data: Path,
    factor: int,
    total: Edges,
) -> dict[str, Any]:
    """Add the samples in ``data``, times ``factor``, to ``total``."""
    output = data.with_suffix(".fdata")
    perf2bolt = shop.tools.path("llvm-bolt").with_name("perf2bolt")
    try:
        run(
            [perf2bolt, library, "-p", data, "-o", output],
            timeout_s=LIMIT_S,
            log=shop.log(STAGE, f"{workload.name}.perf2bolt"),
        )
    except ChildError as error:
        words = f'the samples of workload "{workload.name}" cannot be read: {error.message}'
        raise DataError(words, log=error.log) from error
    good = total.add_file(output, factor)
    data.unlink()
    output.unlink(missing_ok=True)
    return {"processes": 1, "lost": 0, "corrupt": [] if good else [output.name]}
