"""What to do about a build that was judged and not published, in one sentence.

It alone says how long a judgement would have to go on: one question has one number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import TYPE_CHECKING

from pipeline.core.budget import LEAST_S
from pipeline.core.variant import asked_for, split_line
from pipeline.judge.gained import fatter
from pipeline.judge.health import PLAIN_RUNS, compare_logs
from pipeline.judge.keys import suspects_of
from pipeline.judge.known import SelfJudgement
from pipeline.judge.outcome import NOISY, TOO_NOISY
from pipeline.judge.regressions import regressions
from pipeline.judge.selfcheck import LOSS
from pipeline.judge.statistics import half_width, is_wide
from pipeline.judge.verdict import Verdict

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult
    from pipeline.judge.samples import Throughput

SURPLUS = 1.5
"""What comes may be noisier than what was seen."""

MOST_NOISE = 0.6
"""The part of the squared width of the whole that makes a workload the one to look at."""

MOST_S = 3600.0
"""Whoever would have to wait longer is told that the machine is the trouble."""

UNKNOWN = 4.0
"""Times as long, where nothing tells how much longer: half the width of all intervals."""

USUAL_S = 50.0
"""About as long as a build without --quick times its runs: usually 60 s, or a little less."""

CHECKED = 3
"""A full build judges so many times for as long: itself, and twice where the answer is known."""

AGAIN = "--from verify"
"""Judges once more."""

BORDER = (
    "the change is about as large as the margin, and more time would not tell on which side it lies"
)
STAYS = "the version that is current stays, until a build gains more"

LITTLE_S = 120.0
"""A quick build that needs no more is judged again for so long: a full one takes longer."""


class Cure(Enum):
    """What may decide a build that is undecided."""

    A_LITTLE = auto()  # more time for a quick build
    FULL = auto()
    LONGER = auto()
    QUIET = auto()  # a quiet machine: it is too noisy for any time that people would wait
    NONE = auto()  # the change lies on a border


def advice(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return what to do next about a build of this line of versions.

    ``words`` are the options of the build that was judged: a command that accepts its result has
    them, too, so that nothing is judged anew; one that judges anew is for the same processors.
    """
    if not result.health.sound:
        return _healthy(result, line)
    lost = [name for name in regressions(result) if name not in words]
    if lost and not _is_worse(result):
        accepting = _command(line, *words, *_accepted(lost))
        return f"the report names what became slower; {accepting} accepts that"
    if _is_worse(result):
        return "the report names what became worse, and by how much"
    return _step(result, line, words) or "the report says what could not be counted or shown"


def next_step(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return the next step for the report itself: "" where that is to read on, and no command."""
    if not result.health.sound:
        return _healthy(result, line)
    return "" if regressions(result) or _is_worse(result) else _step(result, line, words)


def to_decide(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return what decides the speed of a published build, or that nothing does; "" if decided."""
    timed = result.throughput
    if result.keys.throughput.verdict is not Verdict.INCONCLUSIVE:
        return ""
    if result.mode == "quick" and timed.seconds < USUAL_S:
        full = _command(line, *words)
        return f"its speed is undecided: {full}, without --quick, judges for longer"
    if timed.seconds_to_decide is None:
        return f"its speed is undecided: {BORDER}"
    seconds = SURPLUS * timed.seconds_to_decide
    if seconds > MOST_S:
        return f"its speed is undecided: {_too_noisy(result, line, words)}"
    minutes = max(2, math.ceil(seconds / 60))
    again = _command(line, *words, f"--verify-time {minutes}m")
    return (
        f"its speed is undecided: {again} judges again, enough to decide it if the noise stays "
        f"as it is: up to {CHECKED * minutes + _minutes_beside(result)} minutes in all; "
        f"{_beside(result)}"
    )


def same_build(words: Sequence[str]) -> list[str]:
    """Return of these options those that say what is built, not how it is judged."""
    return kept(words, "--cpu")


def kept(words: Sequence[str], *names: str) -> list[str]:
    """Return of these words the options with such a name, each with its value."""
    return [word for pair in pairwise(words) if pair[0] in names for word in pair]


def _accepted(names: Sequence[str]) -> list[str]:
    """Return the words that accept these losses."""
    return [word for name in names for word in ("--allow-regression", name)]


def _step(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return the command that goes on where nothing is shown to be worse; "" if there is none."""
    if _is_undecided(result):
        said, seems = _more(result, line, same_build(words)), _seeming(result, line, words)
        if _cure(result) is Cure.QUIET:  # it names the load, and the command, already
            return said + seems
        if vague := _vague(result, line, words):
            return said + vague + seems
        return said + seems + _busy(result, line, words)
    if all(key.not_worse for key in (result.keys.throughput, result.keys.icache)):
        neutral = _command(line, *words, "--allow-neutral")
        fat = fatter(result) is not None
        worse = "nothing but memory became worse" if fat else "nothing became worse either"
        return f"{worse}: {neutral} publishes it"
    return ""


def _healthy(result: VerifyResult, line: str) -> str:
    """Say how a build comes to a health check that it passes."""
    failed = [one.name for one in result.health.failed]
    if failed:
        logs = f"build/pipeline/{line}/logs/verify/health"
        return (
            f"{compare_logs(failed, logs)}. Without the library it does the same in {PLAIN_RUNS} "
            "runs. Where that rightly depends on malloc, or on which of two processes prints "
            f"first, mend the check in {_file(line)}; where it crashed, run it "
            "with the guard build (docs/guard.md)"
        )
    return (
        f"{_file(line)} needs a health check that runs here: "
        'a workload with kind = "command" and role = "verify"'
    )


def _cure(result: VerifyResult) -> Cure:
    """Return what may decide: a full run, unless a quick one had as much time, or needs little."""
    if result.mode == "quick" and result.throughput.seconds < USUAL_S:
        known = _seconds_known(result)
        little = known is not None and SURPLUS * known <= LITTLE_S
        return Cure.A_LITTLE if little else Cure.FULL
    if _on_border(result):
        return Cure.NONE
    return Cure.QUIET if SURPLUS * max(_seconds_apart(result)) > MOST_S else Cure.LONGER


def _more(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say what may decide the build."""
    match _cure(result):
        case Cure.A_LITTLE:
            return _a_little(result, line, words)
        case Cure.FULL:
            full = _command(line, *words)
            return f"a quick run often decides nothing: {full}, without --quick, does more"
        case Cure.QUIET:
            return _too_noisy(result, line, words)
        case Cure.LONGER:
            return _longer(result, line, words)
        case Cure.NONE:
            return f"{BORDER}: {STAYS}"


def _a_little(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    seconds = math.ceil(max(LEAST_S, SURPLUS * (_seconds_known(result) or 0)))
    again = _command(line, *words, "--quick", f"--verify-time {seconds}s")
    return f"{again} judges again, for up to {seconds} s of runs; other stages are kept"


def _on_border(result: VerifyResult) -> bool:
    """Tell whether throughput is undecided because the change is as large as the margin."""
    undecided = result.keys.throughput.verdict is Verdict.INCONCLUSIVE
    return undecided and _seconds_in_all(result) is None


def _vague(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say what to do first where a loss is only possible because anything is; "" for none."""
    doubts = [] if result.throughput.alone else suspects_of(result.throughput)
    names = [one.name for one in doubts if is_wide(one.ratio, NOISY)]
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    again = _again(result, line, kept(words, "--cpu", "--verify-time"))
    return (
        f". {' and '.join(names)} {verb} {TOO_NOISY}: when the machine is quiet, "
        f"{again} judges again, and may show no loss"
    )


def _seeming(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say what to do where more time shows the loss that it is hoped to exclude."""
    names = [one.name for one in suspects_of(result.throughput)]
    if not names or result.throughput.alone:
        return ""
    verb, they = ("does", "it seems") if len(names) == 1 else ("do", "they seem")
    return (
        f". If {' and '.join(names)} {verb} lose as much as {they} to, no time helps: "
        f"{_command(line, *words, *_accepted(names))} accepts that, and `allowance` in "
        f"{_file(line)} does so for each build"
    )


def _busy(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    around = result.environment
    if around.load_before <= around.cores:
        return ""
    again = _again(result, line, kept(words, "--cpu", "--verify-time"))
    return (
        f". The machine was busy (load {around.load_before:.0f} on {around.cores} CPUs): "
        f"when it is quiet, {again} may be enough"
    )


def _again(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Return the command that judges once more for the same time."""
    quick = ("--quick",) if result.mode == "quick" else ()
    return _command(line, *words, *quick, AGAIN)


def _file(line: str) -> str:
    return f"training/profiles/{split_line(line)[0]}.toml"


def _command(line: str, *more: str) -> str:
    return f"`{' '.join(('.venv/bin/pipeline build --profile', asked_for(line), *more))}`"


def _is_worse(result: VerifyResult) -> bool:
    keys = result.keys.throughput, result.keys.icache
    lost = any(key.verdict is Verdict.NO_GO for key in keys)
    return lost or not result.rss.holds or _misjudged(result)


def _misjudged(result: VerifyResult) -> bool:
    return any(one.wrong for one in result.self_judgements)


def _unseen(result: VerifyResult) -> bool:
    return any(not one.passed for one in result.self_judgements)


def _is_undecided(result: VerifyResult) -> bool:
    return result.keys.throughput.verdict is Verdict.INCONCLUSIVE or _unseen(result)


def _seconds_apart(result: VerifyResult) -> tuple[float, float]:
    """Return how long the build would have to be timed, and how long the judge's own check."""
    seen = _until_seen(result)
    return 0.0 if seen and _is_harmless(result) else _seconds_needed(result), seen


def _too_noisy(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    around = result.environment
    return (
        f"{_obstacle(result)} to decide within an hour (load {around.load_after:.0f} on "
        f"{around.cores} CPUs): when the machine is quiet, {_again(result, line, words)} "
        "judges again"
    )


def _obstacle(result: VerifyResult) -> str:
    """Return why it takes so long: the noise, or a change that is close to the margin."""
    wide = is_wide(result.throughput.overall, result.margins.throughput)
    return "too noisy" if wide or _unseen(result) else "too close to the margin, with this noise,"


def _longer(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    needed, seen = _seconds_apart(result)
    minutes = max(2, math.ceil(SURPLUS * max(needed, seen) / 60))
    counting = _minutes_beside(result)
    again = _command(line, *words, f"--verify-time {minutes}m")
    return (
        f"{again} judges again, {_enough(result, seen > needed)}, if the noise stays as it is: up "
        f"to {CHECKED * minutes + counting} minutes in all ({minutes} of the build's runs, "
        f"{(CHECKED - 1) * minutes} of the judge's check of itself, {counting} of counting); "
        f"{_beside(result)}{_noisy(result)}"
    )


def _minutes_beside(result: VerifyResult) -> int:
    """Return how long a judgement takes beside its timed runs, each as long as it took."""
    check = result.self_check
    timed = [check.same_build.throughput, check.slowdown.throughput] if check else []
    spent = sum(one.seconds for one in (result.throughput, *timed))
    return math.ceil(max(0.0, result.seconds - spent) / 60)


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
    return f"; most of the noise is that of {most.name}{cure}"


def _beside(result: VerifyResult) -> str:
    """Say what a full build does beside the judgement: a quick one left most of it out."""
    if result.mode == "quick":
        return "a full build trains for longer, too, so its other stages are made first"
    return "other stages are kept"


def _is_harmless(result: VerifyResult) -> bool:
    """Tell whether the build itself is decided: a gain in misses, and no loss of throughput."""
    return result.keys.icache.verdict is Verdict.GO and result.keys.throughput.not_worse


def _enough(result: VerifyResult, check: bool) -> str:
    """Say what the time is enough for: a loss is excluded sooner than a gain is shown."""
    if check:
        return f"enough for its check of itself to see the {LOSS * 100:g} %"
    if result.keys.icache.verdict is Verdict.GO:
        return "enough to exclude a loss"
    return "enough to decide throughput"


def _seconds_needed(result: VerifyResult) -> float:
    """Return about how long timed runs would have to go on, from their begin."""
    known = _seconds_known(result)
    return UNKNOWN * result.throughput.seconds if known is None else known


def _seconds_known(result: VerifyResult) -> float | None:
    """Return the seconds that the noise tells; None: a workload or the self-check is in doubt."""
    needed = _seconds_in_all(result)
    return None if needed is None or needed <= result.throughput.seconds else needed


def _seconds_in_all(result: VerifyResult) -> float | None:
    """Return about how long the interval would take to decide; None: it lies on a border."""
    if result.keys.icache.verdict is Verdict.GO:
        return _until_harmless(result)
    return result.throughput.seconds_to_decide


def _until_seen(result: VerifyResult) -> float:
    """Return the seconds until the judge would see the loss that it missed; 0 if it did see it."""
    known = [one for one in result.self_judgements if isinstance(one, SelfJudgement)]
    missed = [one.throughput for one in known if not one.passed]
    gap = math.log1p(-result.margins.throughput) + math.log1p(LOSS)
    return max((_seconds_to(one, gap) for one in missed), default=0.0)


def _seconds_to(throughput: Throughput, gap: float) -> float:
    """Return how long until half the interval is ``gap``; it narrows with the root of time."""
    half = half_width(throughput.overall)
    return throughput.seconds * max(1.0, (half / gap) ** 2)


def _until_harmless(result: VerifyResult) -> float | None:
    """Return the seconds until a loss is excluded: with an I-cache key of GO that is enough."""
    throughput = result.throughput
    overall = throughput.overall
    gap = math.log(overall.value) - math.log1p(-result.margins.throughput)
    if gap <= 0:
        return throughput.seconds_to_decide
    return _seconds_to(throughput, gap)
