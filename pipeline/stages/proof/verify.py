"""verify: hand baseline and tuned library to the judge, and keep what it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import command_keys, machine_key, task_keys, workload_keys
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.request import STAGE, budget_s, judge_request, judged_tasks, self_check_s

if TYPE_CHECKING:  # numpy and scipy come with the judge: a build that judges nothing skips them
    from pipeline.judge.model import VerifyResult

VERDICT = "verdict.json"


@dataclass(frozen=True)
class Verdict:
    """The judge's answer, as a file in an artifact."""

    artifact: Artifact

    def result(self) -> VerifyResult:
        """Return the answer as the judge gave it."""
        from pipeline.judge.model import VerifyResult

        text = self.artifact.path(VERDICT).read_text(encoding="utf-8")
        return VerifyResult.model_validate_json(text)


def verify(
    shop: Workshop, setup: Setup, plain: Baseline, tuned: Library, slowed: Library | None
) -> Verdict:
    """Judge the tuned library against the baseline. A bad verdict is a result, not an error.

    ``slowed`` is the library to check the judge with; None leaves that out.
    """
    parts = {
        "baseline": plain.library.digest,
        "tuned": tuned.digest,
        "slowed": slowed.digest if slowed else "none",
        "programs": setup.programs,
        "workloads": workload_keys(shop, setup.verifying),
        "gate": shop.profile.gate.model_dump(),
        "tools": shop.tool_keys,
        "mode": shop.options.mode,
        "machine": machine_key(),
        "seconds": [budget_s(shop), self_check_s(shop)],
        "tasks": task_keys(shop, judged_tasks(shop)),
        "commands": command_keys(shop, setup.verifying),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("loading the judge")
        from pipeline.judge.judging import judge

        request = judge_request(shop, setup, plain, tuned, slowed)
        result = judge(request, line.step, shop.console.notice)
        (room / VERDICT).write_text(result.model_dump_json(indent=1), encoding="utf-8")
        return _noted(result)

    made = shop.do(STAGE, parts, work, summary=_summary)
    for name, why in made.receipt.notes["failed"].items():
        shop.console.notice(f"misses were not counted in {name}: {why}")
    return Verdict(made)


def _noted(result: VerifyResult) -> Notes:
    from pipeline.judge.icache import uncounted

    keys = {"throughput": result.keys.throughput, "I-cache": result.keys.icache}
    return {
        "keys": {name: key.verdict.value for name, key in keys.items()},
        "source": result.counting.source,
        "failed": uncounted(result.programs),
        "unsound": [one.name for one in result.health.failed],
    }


def _summary(notes: Notes) -> str:
    keys = ", ".join(f"{name} {verdict}" for name, verdict in notes["keys"].items())
    unsound = ", ".join(notes["unsound"])
    health = f", health check failed: {unsound}" if unsound else ""
    return f"{keys} (counted by {notes['source']}){health}"
