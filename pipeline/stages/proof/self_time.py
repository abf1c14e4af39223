"""self-time: in which functions of the library each verify workload spends its time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import UNSTRIPPED
from pipeline.stages.build.workloads import command_keys, machine_key, workload_keys
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.request import judge_request

if TYPE_CHECKING:
    from pipeline.evidence.model import SelfTimes

STAGE, FILE = "self-time", "self-time.json"


def self_time(shop: Workshop, setup: Setup, plain: Baseline, tuned: Library) -> SelfTimes:
    """Sample each timed workload in one run. Needs perf."""
    parts = {
        "tuned": tuned.digest,
        "programs": setup.programs,
        "workloads": workload_keys(shop, setup.verifying),
        "tools": shop.tool_keys,
        "machine": machine_key(),
        "commands": command_keys(shop, setup.verifying),
    }

    def work(room: Path, line: StageLine) -> Notes:
        from pipeline.evidence.model import SelfTimes
        from pipeline.fleet.self_time import self_time as sampled
        from pipeline.toolchain.text_map import read_text_map

        text, perf = read_text_map(tuned.artifact.path(UNSTRIPPED)), shop.tools.path("perf")
        found = []
        for bench in judge_request(shop, setup, plain, tuned).benches:
            line.step(f"sampling {bench.name}")
            log = shop.log(STAGE, bench.name)
            found.append(sampled(perf, bench, tuned.path, text, room / "perf.data", log))
        result = SelfTimes(workloads=tuple(found))
        (room / FILE).write_text(result.model_dump_json(indent=1), encoding="utf-8")
        return {"samples": sum(one.samples for one in found)}

    made = shop.do(STAGE, parts, work, summary=lambda notes: f"{notes['samples']} samples")
    from pipeline.evidence.model import SelfTimes

    return SelfTimes.model_validate_json(made.path(FILE).read_text(encoding="utf-8"))
