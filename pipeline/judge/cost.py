"""How the stage cost measures: a variant in pairs with production's library, and no verdict."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.judge.keys import with_interval
from pipeline.judge.memory_key import memory_key
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import JudgeRequest
from pipeline.judge.samples import Record
from pipeline.judge.statistics import Interval
from pipeline.judge.throughput import measure


class Cost(Record):
    """Ratios to production's library of ``version``: of speed, of its parts, and of memory."""

    version: str
    speed: Interval
    programs: Interval | None
    loops: Interval | None
    memory: Interval | None
    pairs: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        parts = (
            ("speed", self.speed),
            ("real programs", self.programs),
            ("loops", self.loops),
            ("memory", self.memory),
        )
        said = [f"{name} {with_interval(one)}" for name, one in parts if one]
        return f"Against production {self.version}: {', '.join(said)}."


def cost(request: JudgeRequest, version: str, progress: Callable[[str], None]) -> Cost:
    """Run ``request.tuned`` in pairs with ``request.baseline``, production's ``version``."""
    sides = stage({"baseline": request.baseline, "tuned": request.tuned}, request.logs)
    runner = PairedRunner(sides, request.logs / "throughput")
    found = measure(request, runner.block, progress)
    return Cost(
        version=version,
        speed=found.overall,
        programs=found.programs,
        loops=found.loops,
        memory=memory_key(found, request.seed).ratio,
        pairs=found.pairs,
    )
