"""What is said where more time, or a quiet machine, may decide a build."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.core.budget import LEAST_S
from pipeline.judge.build_again import again_as_long, build_command
from pipeline.judge.gained import fewer_misses
from pipeline.judge.how_long import (
    MOST_S,
    SURPLUS,
    USUAL_S,
    Cure,
    cure,
    minutes_beside,
    seconds_apart,
    seconds_known,
    unseen,
)
from pipeline.judge.selfcheck import LOSS
from pipeline.judge.statistics import half_width, is_wide
from pipeline.judge.verdict import Verdict

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult

MOST_NOISE = 0.6
"""The part of the squared width of the whole that makes a workload the one to look at."""

CHECKED = 3
"""A full build judges so many times for as long: itself, and twice where the answer is known."""

BORDER = (
    "the change is about as large as the margin, and more time would not tell on which side it lies"
)

STAYS = "the version that is current stays, until a build gains more"


def to_decide(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return what decides the speed of a published build, or that nothing does; "" if decided."""
    timed = result.throughput
    if result.keys.throughput.verdict is not Verdict.INCONCLUSIVE:
        return ""
    if result.mode == "quick" and timed.seconds < USUAL_S:
        full = build_command(line, *words)
        return f"its speed is undecided: {full}, without --quick, judges for longer"
    if timed.seconds_to_decide is None:
        return f"its speed is undecided: {BORDER}"
    seconds = SURPLUS * timed.seconds_to_decide
    if seconds > MOST_S:
        return f"its speed is undecided: {too_noisy(result, line, words)}"
    minutes = max(2, math.ceil(seconds / 60))
    again = build_command(line, *words, f"--verify-time {minutes}m")
    return (
        f"its speed is undecided: {again} judges again, enough to decide it if the noise stays "
        f"as it is: up to {CHECKED * minutes + minutes_beside(result)} minutes in all; "
        f"{_beside(result)}"
    )


def more_time(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say what may decide the build."""
    match cure(result):
        case Cure.A_LITTLE:
            return _a_little(result, line, words)
        case Cure.FULL:
            full = build_command(line, *words)
            return f"a quick run often decides nothing: {full}, without --quick, does more"
        case Cure.QUIET:
            return too_noisy(result, line, words)
        case Cure.LONGER:
            return _longer(result, line, words)
        case Cure.NONE:
            return f"{BORDER}: {STAYS}"


def _a_little(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    seconds = math.ceil(max(LEAST_S, SURPLUS * (seconds_known(result) or 0)))
    again = build_command(line, *words, "--quick", f"--verify-time {seconds}s")
    counting = minutes_beside(result)
    return (
        f"{again} judges again, for up to {seconds} s of runs and {counting} min of counting; "
        "other stages are kept"
    )


def too_noisy(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say that no time that people would wait is enough on this machine, and what may be."""
    around = result.environment
    return (
        f"{_obstacle(result)} to decide within an hour (load {around.load_after:.0f} on "
        f"{around.cores} CPUs): when the machine is quiet, {again_as_long(result, line, words)} "
        "judges again"
    )


def _obstacle(result: VerifyResult) -> str:
    """Return why it takes so long: the noise, or a change that is close to the margin."""
    wide = is_wide(result.throughput.overall, result.margins.throughput)
    return "too noisy" if wide or unseen(result) else "too close to the margin, with this noise,"


def _longer(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    needed, seen = seconds_apart(result)
    minutes = max(2, math.ceil(SURPLUS * max(needed, seen) / 60))
    counting, beside = minutes_beside(result), _beside(result)
    again = build_command(line, *words, f"--verify-time {minutes}m")
    return (
        f"{again} judges again, {_enough(result, seen > needed)}, if the noise stays as it is: up "
        f"to {CHECKED * minutes + counting} minutes in all ({minutes} of the build's runs, "
        f"{(CHECKED - 1) * minutes} of the judge's check of itself, {counting} of counting). "
        f"{beside[0].upper()}{beside[1:]}{_noisy(result)}"
    )


def _noisy(result: VerifyResult) -> str:
    """Name the workload that most of the width comes from: more time may not be the best cure."""
    timed = result.throughput
    widths = {one.name: (one.weight * half_width(one.ratio)) ** 2 for one in timed.workloads}
    most = max(timed.workloads, key=lambda one: widths[one.name])
    if timed.alone or widths[most.name] < MOST_NOISE * sum(widths.values()):
        return ""
    several = most.kind == "program" and most.threads != 1
    cure = (
        ": if no two of its threads work at once, `threads = 1` narrows its interval several times"
        if several
        else ""
    )
    return f". Most of the noise is that of {most.name}{cure}"


def _beside(result: VerifyResult) -> str:
    """Say what a full build does beside the judgement: a quick one left most of it out."""
    if result.mode == "quick":
        return "a full build trains for longer, too, so its other stages are made first"
    return "other stages are kept"


def _enough(result: VerifyResult, check: bool) -> str:
    """Say what the time is enough for: a loss is excluded sooner than a gain is shown."""
    if check:
        return f"enough for its check of itself to see the {LOSS * 100:g} %"
    if fewer_misses(result):
        return "enough to exclude a loss"
    return "enough to decide throughput"
