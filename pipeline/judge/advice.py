"""What to do about a build that was judged and not published, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.judge.build_again import (
    accepting_words,
    again_as_long,
    build_command,
    kept,
    profile_file,
    same_build,
)
from pipeline.judge.gained import fatter, fewer_elsewhere, own_uncounted
from pipeline.judge.health import PLAIN_RUNS, compare_logs
from pipeline.judge.how_long import Cure, cure, unseen
from pipeline.judge.keys import suspects_of
from pipeline.judge.more_time import more_time
from pipeline.judge.outcome import NOISY, TOO_NOISY
from pipeline.judge.regressions import regressions
from pipeline.judge.statistics import is_wide
from pipeline.judge.verdict import Verdict

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult


def advice(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return what to do next about a build of this line of versions.

    ``words`` are the options of the build that was judged: a command that accepts its result has
    them, too, so that nothing is judged anew; one that judges anew is for the same processors.
    """
    if not result.health.sound:
        return _healthy(result, line)
    lost = [name for name in regressions(result) if name not in words]
    if lost and not _is_worse(result):
        accepting = build_command(line, *words, *accepting_words(lost))
        return f"the report names what became slower; {accepting} accepts that"
    if _is_worse(result):
        return "the report names what became worse, and by how much"
    return _step(result, line, words) or "the report says what could not be counted or shown"


def next_step(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return the next step for the report itself: "" where that is to read on, and no command."""
    if not result.health.sound:
        return _healthy(result, line)
    return "" if regressions(result) or _is_worse(result) else _step(result, line, words)


def _step(result: VerifyResult, line: str, words: Sequence[str] = ()) -> str:
    """Return the command that goes on where nothing is shown to be worse; "" if there is none."""
    if _lacks_own(result):
        return _counting_own(result, line, words)
    if _is_undecided(result):
        said, seems = more_time(result, line, same_build(words)), _seeming(result, line, words)
        if cure(result) is Cure.QUIET:  # it names the load, and the command, already
            return said + seems
        if vague := _vague(result, line, words):
            return said + vague + seems
        return said + seems + _busy(result, line, words)
    if all(key.not_worse for key in (result.keys.throughput, result.keys.icache)):
        return _as_neutral(result, line, words)
    return ""


def _as_neutral(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    neutral = build_command(line, *words, "--allow-neutral")
    fat = fatter(result) is not None
    worse = "nothing but memory became worse" if fat else "nothing became worse either"
    return f"{worse}: {neutral} publishes it"


def _lacks_own(result: VerifyResult) -> bool:
    """Return whether only a program of the profile is missing among those that were counted."""
    harmless = result.keys.throughput.not_worse and not unseen(result)
    return harmless and fewer_elsewhere(result) is not None


def _counting_own(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say how a program of the profile is counted, too: then fewer misses are a gain."""
    failed = ", ".join(one.name for one in own_uncounted(result))
    file, other = profile_file(line), _other_gain(result, line, words)
    if failed:
        return f"{failed} could not be counted: mend that in {file} (docs/profiles.md); {other}"
    return (
        "misses fell, but in programs that the profile does not run: put `counted = true` into a "
        f"verify command of {file}, or `counted` with the name of the server that a script starts, "
        f"and build again to count its program, too; {other}"
    )


def _other_gain(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say what may publish a build in which only speed can still gain."""
    if _is_undecided(result):
        return f"as to speed, {more_time(result, line, same_build(words))}"
    return _as_neutral(result, line, words)


def _healthy(result: VerifyResult, line: str) -> str:
    """Say how a build comes to a health check that it passes."""
    failed = [one.name for one in result.health.failed]
    if failed:
        logs = f"build/pipeline/{line}/logs/verify/health"
        return (
            f"{compare_logs(failed, logs)}. Without the library it does the same in {PLAIN_RUNS} "
            "runs. Where that rightly depends on malloc, or on which of two processes prints "
            f"first, mend the check in {profile_file(line)}; where it crashed, run it "
            "with the guard build (docs/guard.md)"
        )
    return (
        f"{profile_file(line)} needs a health check that runs here: "
        'a workload with kind = "command" and role = "verify"'
    )


def _vague(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Say what to do first where a loss is only possible because anything is; "" for none."""
    doubts = [] if result.throughput.alone else suspects_of(result.throughput)
    names = [one.name for one in doubts if is_wide(one.ratio, NOISY)]
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    again = again_as_long(result, line, kept(words, "--cpu", "--verify-time"))
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
        f"{build_command(line, *words, *accepting_words(names))} accepts that, and `allowance` in "
        f"{profile_file(line)} does so for each build"
    )


def _busy(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    around = result.environment
    if around.load_before <= around.cores:
        return ""
    again = again_as_long(result, line, kept(words, "--cpu", "--verify-time"))
    return (
        f". The machine was busy (load {around.load_before:.0f} on {around.cores} CPUs): "
        f"when it is quiet, {again} may be enough"
    )


def _is_worse(result: VerifyResult) -> bool:
    keys = result.keys.throughput, result.keys.icache
    lost = any(key.verdict is Verdict.NO_GO for key in keys)
    return lost or not result.rss.holds or _misjudged(result)


def _misjudged(result: VerifyResult) -> bool:
    return any(one.wrong for one in result.self_judgements)


def _is_undecided(result: VerifyResult) -> bool:
    return result.keys.throughput.verdict is Verdict.INCONCLUSIVE or unseen(result)
