"""The gate: from the keys, the memory limit and the health checks to one yes or no.

docs/verdicts.md has the same rules as a table.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.judge.accepted import accepting
from pipeline.judge.gained import fatter, leaner
from pipeline.judge.keys import with_interval
from pipeline.judge.known import CountedJudgement, SelfJudgement
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.regressions import asked_about, regressions
from pipeline.judge.usual import wider_margins
from pipeline.judge.verdict import Verdict

Answer = tuple[bool, str]


def may_publish(
    result: VerifyResult, allow_neutral: bool, allow_regression: Collection[str] = ()
) -> Answer:
    """Return (yes or no, why in a sentence) for a judged build; each rule that objects is heard.

    ``allow_regression`` are the regressions that the user accepts, by name.
    """
    result = accepting(result, allow_regression)
    rules = (_unhealthy, _misjudged, _worse, _too_much_memory, _not_shown_harmless, _unseen)
    objections = [reason for rule in rules if (reason := rule(result))]
    for name, sentence in asked_about(result, allow_regression).items():
        objections.append(f"{sentence} (--allow-regression {name} would accept this)")
    if objections:
        return False, "; ".join(objections)
    accepted = [f"--allow-regression {name} accepts that {sentence}"
                for name, sentence in regressions(result).items()]  # fmt: skip
    allowed, reason = _gained(result, allow_neutral)
    wider = wider_margins(result.margins)
    margins = [f"by wider margins than usual: {wider}"] if wider else []
    return allowed, "; ".join([reason, *accepted, *margins])


def _named_keys(result: VerifyResult) -> tuple[tuple[str, Key], tuple[str, Key]]:
    return ("throughput", result.keys.throughput), ("I-cache", result.keys.icache)


def _unhealthy(result: VerifyResult) -> str | None:
    return None if result.health.sound else result.health.reason


def _misjudged(result: VerifyResult) -> str | None:
    wrong = [one for one in _self_judgements(result) if one.wrong]
    return (
        "; ".join(f"the judge calls {_calls(one)}: nothing it says counts" for one in wrong) or None
    )


def _unseen(result: VerifyResult) -> str | None:
    """Object where "not worse" is all there is, and a known loss was not seen."""
    if result.keys.throughput.verdict is Verdict.GO:
        return None
    weak = [one for one in _self_judgements(result) if not one.passed and not one.wrong]
    return "; ".join(map(_blind, weak)) or None


_UNTOLD = {
    "known slowdown": "given a library made 2 % slower on purpose, it could not tell",
    "same build, I-cache": "given the misses of one build twice, it could not call them equal",
    "known bloat, I-cache": "given a library with 10 % more misses on purpose, it could not tell",
}


def _blind(judged: SelfJudgement | CountedJudgement) -> str:
    """Say that the check failed, not the build."""
    found = with_interval(judged.ratio) if judged.ratio else ""
    within = f" within {judged.throughput.seconds:.0f} s" if hasattr(judged, "throughput") else ""
    return (
        f"the judge's check of itself failed: {_UNTOLD[judged.name]}{within} "
        f"({found or judged.reason}), so it may miss as much in this build"
    )


def _self_judgements(result: VerifyResult) -> tuple[SelfJudgement | CountedJudgement, ...]:
    return result.self_check.judgements if result.self_check else ()


_KNOWN = {
    "same build": "a build against itself",
    "known slowdown": "a slowdown of 2 %",
    "same build, I-cache": "the misses of a build against its own",
    "known bloat, I-cache": "10 % more misses",
}


def _calls(judged: SelfJudgement | CountedJudgement) -> str:
    return f"{_KNOWN[judged.name]} {judged.verdict.value} ({judged.reason})"


def _too_much_memory(result: VerifyResult) -> str | None:
    return None if result.rss.holds else f"the memory limit is broken: {result.rss.reason}"


def _worse(result: VerifyResult) -> str | None:
    lost = [(name, key) for name, key in _named_keys(result) if key.verdict is Verdict.NO_GO]
    return "; ".join(f"{name} is NO-GO: {key.reason}" for name, key in lost) or None


def _not_shown_harmless(result: VerifyResult) -> str | None:
    key = result.keys.throughput
    if key.verdict is Verdict.INCONCLUSIVE and not key.not_worse:
        return f"throughput is INCONCLUSIVE and a loss is not excluded: {key.reason}"
    return None


def _mildly(key: Key) -> str:
    """Return what a key that is neither GO nor an objection says, in a few words."""
    if key.verdict is Verdict.INCONCLUSIVE and key.not_worse:
        return "INCONCLUSIVE, but a loss beyond its margin is excluded"
    if key.verdict is Verdict.NEUTRAL and not key.not_worse:
        return f"NEUTRAL as a whole: {key.reason}"
    return key.verdict.value


def _gained(result: VerifyResult, allow_neutral: bool) -> Answer:
    keys = _named_keys(result)
    gains = [f"{name} is GO: {key.reason}" for name, key in keys if key.verdict is Verdict.GO]
    others = [f"{name} is {_mildly(key)}" for name, key in keys if key.verdict is not Verdict.GO]
    if less := leaner(result):
        gains.append(less)
    if more := fatter(result):
        others.append(more)
    if gains:
        return True, "; ".join(gains + others)
    unknown = [f"{name}: {key.reason}" for name, key in keys if not key.not_worse]
    if unknown:
        return False, "no key is GO, and not every key is shown harmless: " + "; ".join(unknown)
    if allow_neutral:
        worse = "none but memory" if more else "none"
        return True, f"no key is GO, {worse} is worse, and --allow-neutral accepts that"
    return False, "no key is GO: neither key shows a gain (--allow-neutral would accept this)"
