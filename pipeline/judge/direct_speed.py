"""How the stage against-current measures: pairs with the current library, and speed alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from pydantic import FiniteFloat

from pipeline.judge.accepted import WHOLE
from pipeline.judge.keys import throughput_key
from pipeline.judge.model import Key
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import JudgeRequest
from pipeline.judge.samples import Record
from pipeline.judge.throughput import measure
from pipeline.judge.verdict import Verdict


class DirectSpeed(Record):
    """A new library in pairs with that of ``version``, whose digest is ``library``.

    ``key`` is the verdict over all workloads, ``seconds`` what it took by the clock on the wall.
    """

    version: str
    library: str
    key: Key
    pairs: int
    seconds: FiniteFloat

    @property
    def is_open(self) -> bool:
        """Whether it could not be decided."""
        return self.key.verdict is Verdict.INCONCLUSIVE

    @property
    def is_slower(self) -> bool:
        """Whether a loss was shown."""
        return self.key.verdict is Verdict.NO_GO

    @property
    def how(self) -> str:
        """How this was judged, with what it took."""
        return f"judged directly, in {self.seconds:.0f} s"


def direct_speed(
    request: JudgeRequest, version: str, library: str, progress: Callable[[str], None]
) -> DirectSpeed:
    """Run ``request.tuned`` in pairs with ``request.baseline``, the library of ``version``."""
    asked, started = over_all(request), time.monotonic()
    sides = stage({"baseline": asked.baseline, "tuned": asked.tuned}, asked.logs)
    found = measure(asked, PairedRunner(sides, asked.logs / "throughput").block, progress)
    return DirectSpeed(
        version=version,
        library=library,
        key=throughput_key(found, asked.margins),
        pairs=found.pairs,
        seconds=time.monotonic() - started,
    )


def over_all(request: JudgeRequest) -> JudgeRequest:
    """Return the request without limits for single workloads: the question is all of them.

    So all of the time goes into that: a loss of one would end the runs before it is answered.
    """
    benches = tuple(replace(one, allowance=WHOLE) for one in request.benches)
    return replace(request, benches=benches)
