"""One measurement: a block of pairs of a candidate library against the default one.

:func:`measure` is a pure function of its job, as far as a clock can be: it takes and returns plain
frozen data that can be sent to another process or machine, and changes nothing.
"""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.errors import DataError
from pipeline.core.processor import ANY, machine, nearest
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import BenchCommand
from pipeline.judge.samples import PairSample
from pipeline.judge.schedule import plan

VERSION = 2
"""Goes up when what is measured, or how, changes: older results are then not used."""


@dataclass(frozen=True)
class File:
    """A file and the SHA-256 it must have, wherever it is read."""

    path: Path
    digest: str

    def check(self) -> Path:
        """Return the path. DataError when the file is not there or not the one that is meant."""
        if not self.path.is_file():
            raise DataError(
                f"there is no file {self.path} on {platform.node()}",
                hint="workers need the same tree at the same path, for example on a shared disk",
            )
        if digest_file(self.path) != self.digest:
            raise DataError(
                f"{self.path} on {platform.node()} has changed since it was built",
                hint="start the search again",
            )
        return self.path


@dataclass(frozen=True)
class Job:
    """What to measure.

    ``name`` is the candidate's, for people. ``pairs`` says which numbers of pairs of which
    workload; the numbers decide order and stack placement. ``context`` is the digest of whatever
    else decides the result: programs, their inputs, the judge. ``processor`` is the kind that may
    measure it.
    """

    name: str
    default: File
    candidate: File
    benches: tuple[BenchCommand, ...]
    pairs: Mapping[str, tuple[int, int]]
    seed: int
    context: str
    processor: str = ANY

    def check_processor(self) -> None:
        """Raise DataError on another kind of processor than the one that the search is for."""
        here = machine().name
        if self.processor not in (ANY, *nearest(here)):
            raise DataError(
                f"{platform.node()} has {here}, and this search is for {self.processor}",
                hint=f"start workers on machines with {self.processor}, or search for `--cpu any`",
            )

    @property
    def key(self) -> str:
        """Return the digest by which a result is found again."""
        return digest_value(
            {
                "version": VERSION,
                "default": self.default.digest,
                "candidate": self.candidate.digest,
                "pairs": {name: list(numbers) for name, numbers in self.pairs.items()},
                "seed": self.seed,
                "context": self.context,
                "processor": self.processor,
            }
        )


class Result(BaseModel):
    """What a job has measured; ``seconds`` is the time it took, ``host`` where that was."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    name: str
    host: str
    seconds: float
    samples: dict[str, tuple[PairSample, ...]]


def measure(job: Job) -> Result:
    """Run all pairs of a job, interleaved over its workloads.

    Raises WorkloadError when a program fails, DataError when a file is not the one that is meant
    or this is another kind of processor.
    """
    job.check_processor()
    started = time.monotonic()
    samples: dict[str, list[PairSample]] = {name: [] for name in job.pairs}
    benches = {bench.name: bench for bench in job.benches}
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        room = Path(folder)
        sides = stage({"baseline": job.default.check(), "tuned": job.candidate.check()}, room)
        runner = PairedRunner(sides, room / "logs")
        wanted = {name: range(*numbers) for name, numbers in job.pairs.items()}
        for block in plan(wanted, job.seed):
            for pair in block:
                samples[pair.workload].append(runner(benches[pair.workload], pair))
    return Result(
        key=job.key,
        name=job.name,
        host=platform.node(),
        seconds=time.monotonic() - started,
        samples={name: tuple(pairs) for name, pairs in samples.items()},
    )
