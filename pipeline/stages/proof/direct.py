"""One library judged directly against another one, instead of against the baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.pair import pair_request

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult

STAGE = "diff"
OF_SIDE = {"baseline": "older", "tuned": "newer"}


def judge_directly(shop: Workshop, older: Path, newer: Path) -> VerifyResult:
    """Judge ``newer`` with ``older`` in the place of the baseline, by the bench programs of now.

    Nothing is published, and nothing but logs is kept.
    """
    from pipeline.judge.judging import judge

    setup = configure(shop)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    library = Library(newer, "", plain.library.artifact)
    request = pair_request(shop, setup, plain, library, older, STAGE)
    with shop.console.stage(STAGE) as line:
        result = judge(request, lambda words: line.step(by_age(words)))
        line.done(f"throughput {result.keys.throughput.verdict.value}")
    return result


def by_age(words: str) -> str:
    """Return a line of the judge's progress with the sides named as this judgement has them.

    >>> by_age("counting gcc (tuned), 2 of 8")
    'counting gcc (newer), 2 of 8'
    """
    for side, age in OF_SIDE.items():
        words = words.replace(f"({side}", f"({age}")
    return words
