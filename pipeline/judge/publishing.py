"""The gate: from the keys, the memory limit and the health checks to one yes or no.

docs/verdicts.md has the same rules as a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.judge.accepted import accepted_doubts, accepting
from pipeline.judge.gained import fatter, fewer_elsewhere, fewer_misses, leaner
from pipeline.judge.keys import with_interval
from pipeline.judge.known import CountedJudgement, SelfJudgement
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.regressions import asked_about, regressions
from pipeline.judge.topic import Topic
from pipeline.judge.usual import wider_margins
from pipeline.judge.verdict import Verdict


@dataclass(frozen=True)
class Clause:
    """A part of the answer, in words; ``quotes`` is the subject whose reason they give in full."""

    words: str
    quotes: Topic | None = None


@dataclass(frozen=True)
class Answer:
    """Yes or no, and why."""

    allowed: bool
    clauses: tuple[Clause, ...]

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return "; ".join(one.words for one in self.clauses)

    @property
    def quotes(self) -> tuple[Topic, ...]:
        """The subjects whose reasons stand in that sentence."""
        return tuple(one.quotes for one in self.clauses if one.quotes is not None)


def may_publish(
    result: VerifyResult, allow_neutral: bool, allow_regression: Collection[str] = ()
) -> tuple[bool, str]:
    """Return (yes or no, why in a sentence) for a judged build."""
    answer = answer_to(result, allow_neutral, allow_regression)
    return answer.allowed, answer.reason


def answer_to(
    result: VerifyResult, allow_neutral: bool, allow_regression: Collection[str] = ()
) -> Answer:
    """Return the answer for a judged build; each rule that objects is heard.

    ``allow_regression`` are the regressions that the user accepts, by name.
    """
    doubts = accepted_doubts(result, allow_regression)
    result = accepting(result, allow_regression)
    rules = (_unhealthy, _misjudged, _worse, _too_much_memory, _not_shown_harmless, _unseen)
    objections = [clause for rule in rules for clause in rule(result)]
    for name, sentence in asked_about(result, allow_regression).items():
        objections.append(Clause(f"{sentence} (--allow-regression {name} would accept this)"))
    if objections:
        return Answer(False, tuple(objections))
    answer = _gained(result, allow_neutral)
    return replace(answer, clauses=(*answer.clauses, *_beside(result, doubts)))


def _beside(result: VerifyResult, doubts: Sequence[str]) -> Iterator[Clause]:
    """Yield what is said of a build that passes: what was accepted, and by which margins."""
    yield from map(Clause, doubts)
    for name, sentence in regressions(result).items():
        yield Clause(f"--allow-regression {name} accepts that {sentence}")
    if wider := wider_margins(result.margins):
        yield Clause(f"by wider margins than usual: {wider}", Topic.MARGINS)


def _named_keys(result: VerifyResult) -> tuple[tuple[Topic, str, Key], tuple[Topic, str, Key]]:
    keys = result.keys
    return (
        (Topic.THROUGHPUT, "throughput", keys.throughput),
        (Topic.ICACHE, "I-cache", keys.icache),
    )


def _unhealthy(result: VerifyResult) -> Iterator[Clause]:
    if not result.health.sound:
        yield Clause(result.health.reason, Topic.HEALTH)


def _misjudged(result: VerifyResult) -> Iterator[Clause]:
    for one in result.self_judgements:
        if one.wrong:
            yield Clause(f"the judge calls {_calls(one)}: nothing it says counts")


def _unseen(result: VerifyResult) -> Iterator[Clause]:
    """Object where "not worse" is all there is, and a known loss was not seen."""
    if result.keys.throughput.verdict is Verdict.GO:
        return
    for one in result.self_judgements:
        if not one.passed and not one.wrong:
            yield Clause(_blind(one), Topic.SELF_CHECK if one.ratio is None else None)


_UNTOLD = {
    "known slowdown": "given a library made 2 % slower on purpose, it could not tell",
    "same build, I-cache": "given the misses of one build twice, it could not call them equal",
    "known bloat, I-cache": "given a library with 10 % more misses on purpose, it could not tell",
}


def _blind(judged: SelfJudgement | CountedJudgement) -> str:
    """Say that the check failed, not the build."""
    found = with_interval(judged.ratio) if judged.ratio else ""
    within = ""
    if isinstance(judged, SelfJudgement):
        within = f" within {judged.throughput.seconds:.0f} s"
    return (
        f"the judge's check of itself failed: {_UNTOLD[judged.name]}{within} "
        f"({found or judged.reason}), so it may miss as much in this build"
    )


_KNOWN = {
    "same build": "a build against itself",
    "known slowdown": "a slowdown of 2 %",
    "same build, I-cache": "the misses of a build against its own",
    "known bloat, I-cache": "10 % more misses",
}


def _calls(judged: SelfJudgement | CountedJudgement) -> str:
    return f"{_KNOWN[judged.name]} {judged.verdict.value} ({judged.reason})"


def _too_much_memory(result: VerifyResult) -> Iterator[Clause]:
    if not result.rss.holds:
        yield Clause(f"the memory limit is broken: {result.rss.reason}")


def _worse(result: VerifyResult) -> Iterator[Clause]:
    for topic, name, key in _named_keys(result):
        if key.verdict is Verdict.NO_GO:
            yield Clause(f"{name} is NO-GO: {key.reason}", topic)


def _not_shown_harmless(result: VerifyResult) -> Iterator[Clause]:
    """Object where a loss is possible, whatever the verdict: older records call some NEUTRAL."""
    key = result.keys.throughput
    if key.verdict is not Verdict.NO_GO and not key.not_worse:
        words = f"throughput is {key.verdict.value} and a loss is not excluded: {key.reason}"
        yield Clause(words, Topic.THROUGHPUT)


def _mildly(key: Key) -> str:
    """Return what a key that is neither GO nor an objection says, in a few words."""
    if key.verdict is Verdict.INCONCLUSIVE and key.not_worse:
        return "INCONCLUSIVE, but a loss beyond its margin is excluded"
    return key.verdict.value


def _gained(result: VerifyResult, allow_neutral: bool) -> Answer:
    gains = tuple(_gains(result))
    if gains:
        return Answer(True, (*gains, *_no_gains(result)))
    if unknown := tuple(_unknown(result)):
        return Answer(False, unknown)
    return _neutral(result, allow_neutral)


def _is_gain(key: Key, result: VerifyResult) -> bool:
    return fewer_misses(result) if key is result.keys.icache else key.verdict is Verdict.GO


def _gains(result: VerifyResult) -> Iterator[Clause]:
    """Yield what the build may be published for."""
    for topic, name, key in _named_keys(result):
        if _is_gain(key, result):
            yield Clause(f"{name} is GO: {key.reason}", topic)
    if less := leaner(result):
        yield Clause(less)


def _no_gains(result: VerifyResult) -> Iterator[Clause]:
    """Yield what else the keys of a build with a gain say."""
    elsewhere = fewer_elsewhere(result)
    for topic, name, key in _named_keys(result):
        if topic is Topic.ICACHE and elsewhere:
            yield Clause(elsewhere)
        elif not _is_gain(key, result):
            yield Clause(f"{name} is {_mildly(key)}")
    if more := fatter(result):
        yield Clause(more)


def _unknown(result: VerifyResult) -> Iterator[Clause]:
    """Yield which keys are not shown harmless, behind what that means."""
    before = "no key is GO, and not every key is shown harmless: "
    for topic, name, key in _named_keys(result):
        if not key.not_worse:
            yield Clause(f"{before}{name}: {key.reason}", topic)
            before = ""


def _neutral(result: VerifyResult, allow_neutral: bool) -> Answer:
    elsewhere = fewer_elsewhere(result)
    if not allow_neutral:
        why = elsewhere or "no key is GO: neither key shows a gain"
        return Answer(False, (Clause(f"{why} (--allow-neutral would accept this)"),))
    gain = "no gain is shown in this profile's programs" if elsewhere else "no key is GO"
    worse = "none but memory" if fatter(result) is not None else "none"
    said = Clause(f"{gain}, {worse} is worse, and --allow-neutral accepts that")
    return Answer(True, (said, *((Clause(elsewhere),) if elsewhere else ())))
