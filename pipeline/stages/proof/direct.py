"""One library judged directly against another one, instead of against the baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.request import judge_request

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult

STAGE = "diff"


def judge_directly(shop: Workshop, older: Path, newer: Path) -> VerifyResult:
    """Judge ``newer`` with ``older`` in the place of the baseline, by the bench programs of now.

    Nothing is published, and nothing but logs is kept.
    """
    from pipeline.judge.judging import judge

    setup = configure(shop)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    library = Library(newer, "", plain.library.artifact)
    request = replace(
        judge_request(shop, setup, plain, library),
        baseline=older,
        logs=shop.log(STAGE, "").parent,
    )
    with shop.console.stage(STAGE) as line:
        result = judge(request, line.step)
        line.done(f"throughput {result.keys.throughput.verdict.value}")
    return result
