"""What a build is shown to be better in, for which it may be published, and to need more of."""

from __future__ import annotations

from pipeline.judge.keys import compare
from pipeline.judge.model import VerifyResult
from pipeline.judge.verdict import Verdict


def gains(result: VerifyResult) -> tuple[str, ...]:
    """Return what is shown to be better, in a few words each: what a build is published for."""
    keys, programs = result.keys, result.throughput.programs
    in_programs = programs is None or compare(programs, keys.throughput.margin) is Verdict.GO
    speed = "speed" if in_programs else "speed over all workloads"
    found = (
        (speed, keys.throughput.verdict is Verdict.GO),
        ("fewer I-cache misses", keys.icache.verdict is Verdict.GO),
        ("less memory", leaner(result) is not None),
    )
    return tuple(words for words, is_gain in found if is_gain)


def leaner(result: VerifyResult) -> str | None:
    """Return the gain in memory, which is one only where throughput is shown to be not worse."""
    memory = result.keys.memory
    if memory is None or memory.verdict is not Verdict.GO or not result.keys.throughput.not_worse:
        return None
    return f"memory is GO: {memory.reason}"


def fatter(result: VerifyResult) -> str | None:
    """Return that more memory is shown to be needed: it decides nothing, and has to be said."""
    memory = result.keys.memory
    if memory is None or memory.verdict is not Verdict.NO_GO:
        return None
    return f"memory is NO-GO, which decides nothing: {memory.reason}"
