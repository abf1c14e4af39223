"""A world in which the worth of every library is known: measuring is a formula with noise."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.samples import PairSample, RunSample
from pipeline.tune.engine import Local
from pipeline.tune.measure import File, Job, Result
from pipeline.tune.search import Measurer
from pipeline.tune.state import Journal
from pipeline.tune.trial import Candidate, Ground

DEFAULT = File(Path("/default.so"), "default")
BENCHES = (
    BenchCommand("one", ("/bench/one",), weight=2.0),
    BenchCommand("two", ("/bench/two",)),
)
NOISE = 0.01
TRUTH = {
    "fast": (1.05, 1.0),
    "lean": (1.0, 0.95),
    "fast-and-fat": (1.06, 1.08),
    "slow": (0.93, 1.0),
    "slow-and-lean": (0.97, 0.9),
    "nothing": (1.0, 1.0),
    "nothing-else": (1.0, 1.0),
}
LONG = 1e9


class World:
    """Measures by what is known of each library: (speed, memory) as ratios to the default.

    ``dies_after`` jobs it raises KeyboardInterrupt, as ctrl-C would.
    """

    def __init__(
        self, truth: Mapping[str, tuple[float, float]], dies_after: int | None = None
    ) -> None:
        self.truth = truth
        self.jobs: list[Job] = []
        self.now = 0.0
        self._dies_after = dies_after

    def clock(self) -> float:
        return self.now

    def measure(self, job: Job) -> Result:
        if self._dies_after is not None and len(self.jobs) >= self._dies_after:
            raise KeyboardInterrupt
        self.jobs.append(job)
        self.now += 1.0
        dice = random.Random(job.key)
        samples = {
            name: tuple(self._pair(job, number, dice) for number in range(*numbers))
            for name, numbers in job.pairs.items()
        }
        return Result(key=job.key, name=job.name, host="here", seconds=1.0, samples=samples)

    def _pair(self, job: Job, number: int, dice: random.Random) -> PairSample:
        same = job.candidate.digest == DEFAULT.digest
        speed, memory = (1.0, 1.0) if same else self.truth[job.candidate.digest]
        return PairSample(
            round=number,
            first="baseline",
            padding=0,
            together=True,
            baseline=run_sample(1e6 * (1 + dice.gauss(0, NOISE)), 10_000),
            tuned=run_sample(1e6 * speed * (1 + dice.gauss(0, NOISE)), round(10_000 * memory)),
        )


def run_sample(rate: float, rss_kib: int) -> RunSample:
    return RunSample(
        ops_per_sec=rate, wall_ops_per_sec=rate, clock="cpu", threads=1, peak_rss_kib=rss_kib
    )


def ground() -> Ground:
    request = JudgeRequest(Path("/default.so"), Path("/default.so"), BENCHES, Path("/logs"))
    return Ground(DEFAULT, BENCHES, {"one": 10, "two": 10}, 1.0, request, "context")


def measurer(world: World, path: Path) -> Measurer:
    return Measurer(ground(), Local(world.measure), Journal(path), lambda _: None, world.clock)


def single(name: str) -> Candidate:
    return Candidate((name,), File(Path(f"/{name}.so"), name))
