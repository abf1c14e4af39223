"""Two libraries on the verify workloads of a profile, measured and judged as a build would be."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from pipeline.commands.build import open_workshop
from pipeline.core.console import open_console
from pipeline.core.paths import Tree
from pipeline.judge.keys import percent, rss_guard, spread, throughput_key
from pipeline.judge.model import Throughput
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import JudgeRequest
from pipeline.judge.throughput import measure
from pipeline.profile.load import load_profile
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Options
from pipeline.stages.proof.verify import judge_request


def compare_on(profile: str, default: Path, tuned: Path, budget_s: float) -> str:
    """Return what the judge finds in at most about ``budget_s`` seconds of runs, as lines.

    Raises ProfileError for an unknown profile, WorkloadError when a run fails.
    """
    tree, console = Tree.here(), open_console(False)
    with (
        open_workshop(tree, load_profile(tree, profile), Options(), console, wait=True) as shop,
        tempfile.TemporaryDirectory(prefix="hakmem-") as folder,
    ):
        setup = configure(shop)
        plain = baseline(shop, setup)
        setup = record(shop, setup)
        request = replace(
            judge_request(shop, setup, plain, plain.library, brief=True),
            baseline=default,
            tuned=tuned,
            time_budget_s=budget_s,
            logs=Path(folder),
        )
        sides = stage({"baseline": default, "tuned": tuned}, Path(folder))
        runner = PairedRunner(sides, Path(folder))
        return render(measure(request, runner.block, lambda _: None), request)


def render(found: Throughput, request: JudgeRequest) -> str:
    """Return a line for each workload, then the key and the guard with their reasons."""
    lines = [
        f"{one.name}: {percent(one.ratio.value)} {spread(one.ratio)}, peak memory "
        f"{one.baseline_rss_kib:.0f} -> {one.tuned_rss_kib:.0f} KiB"
        for one in found.workloads
    ]
    key, guard = throughput_key(found, request.margins), rss_guard(found, request.margins)
    return "\n".join([*lines, f"throughput {key.verdict.value}: {key.reason}", guard.reason])
