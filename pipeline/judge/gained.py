"""What a build is shown to be better in, for which it may be published, and to need more of."""

from __future__ import annotations

from pipeline.judge.counts import RealProgram
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
        ("fewer I-cache misses", fewer_misses(result)),
        ("less memory", leaner(result) is not None),
    )
    return tuple(words for words, is_gain in found if is_gain)


def fewer_misses(result: VerifyResult) -> bool:
    """Return whether fewer misses are a gain: if a counted program is one that the profile runs."""
    return result.keys.icache.verdict is Verdict.GO and result.own_counted is not False


def fewer_elsewhere(result: VerifyResult) -> str | None:
    """Return why fewer misses are no gain of this profile, and what to do; None if they are one."""
    if result.keys.icache.verdict is not Verdict.GO or fewer_misses(result):
        return None
    names = ", ".join(one.name for one in result.programs if one.status == "counted")
    failed = "; ".join(f"{one.name} could not be counted: {one.detail}"
                       for one in own_uncounted(result))  # fmt: skip
    return (
        f"I-cache is GO, which is no gain here: misses were counted in {names}, and no verify "
        "command of this profile runs any of these; "
        f"{failed or 'counted = true in a verify command counts its program, too'}"
    )


def own_uncounted(result: VerifyResult) -> list[RealProgram]:
    """Return the programs of the profile's verify commands that could not be counted."""
    return [one for one in result.programs if one.own and one.status != "counted"]


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
