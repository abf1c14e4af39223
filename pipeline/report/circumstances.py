"""What a reviewer would not guess of a build: what it was judged by, and what else was judged.

None of it is measured: files that are not committed, a gate that lets more pass than that of the
version before, another judgement of the same library, a recording of nearly nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.judge.accepted import WHOLE, accepted
from pipeline.judge.keys import share
from pipeline.judge.model import VerifyResult
from pipeline.judge.topic import Topic
from pipeline.report import text
from pipeline.report.model import Finding, Source

if TYPE_CHECKING:
    from pipeline.report.history_model import Point

MOST_FILES = 4
MOST_RUNS = 2


def uncommitted(source: Source | None, profile: str) -> Iterator[Finding]:
    """Yield that a build has files that are in no commit; its new profile alone is no doubt."""
    if source is None or source.clean is not False:
        return
    names = text.first_of(source.changed, MOST_FILES)
    mine = source.changed == (f"training/profiles/{profile}.toml",)
    kind = Finding.note if mine else Finding.doubt
    detail = f"{names}; its commit alone does not make this library again, until they are in one"
    yield kind("built from files that are not committed", detail, "reproduce")


def lenient(result: VerifyResult, names: Collection[str]) -> Iterator[Finding]:
    """Yield which losses --allow-regression accepted: the gate would have stopped the build."""
    if found := accepted(result, names):
        yield Finding.doubt("accepted by --allow-regression", "; ".join(found), "workloads")


def suspicious(*notes: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what stages noted that runs which ended well show to be suspicious."""
    for what, why, *topic in (doubt for one in notes for doubt in one.get("doubts", ())):
        yield Finding.doubt(what, why, "training", Topic(topic[0]) if topic else None)


def told_once(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings; runs that wrote to stderr, as many servers do at their end, as one."""
    wrote = [one for one in found if one.topic is Topic.STDERR]
    if len(wrote) < 2:
        return tuple(found)
    said = [f"{one.what.removesuffix(text.WROTE)}{one.detail}" for one in wrote]
    detail = text.first_of(said, MOST_RUNS)
    one = Finding.doubt(f"{len(wrote)} runs {text.WROTE}", detail, wrote[0].anchor, Topic.STDERR)
    return (*(other for other in found if other not in wrote), one)


def laxer(result: VerifyResult, before: VerifyResult, version: str) -> Iterator[Finding]:
    """Yield which workloads may lose more than when the version before was judged."""
    earlier = {one.name: one.allowance for one in before.throughput.workloads}
    raised = [
        f"{one.name} {share(one.allowance) if one.allowance < WHOLE else 'any part of its speed'} "
        f"(then {share(earlier[one.name])})"
        for one in result.throughput.workloads
        if one.allowance > earlier.get(one.name, WHOLE)
    ]
    if raised:
        what = f"workloads may lose more than when {version} was judged"
        yield Finding.doubt(what, ", ".join(raised), "keys")


def judged_besides(
    points: Sequence[Point], library: str, version: str, created: str
) -> Iterator[Finding]:
    """Yield what other judgements said of a library with the same bytes, the newest first.

    A verdict that was kept, of ``created``, may be older than they are.
    """
    same = [one for one in points if one.library == library and one.version != version]
    for one in reversed(same):
        absent = "published then, removed since" if one.removed else "not published"
        outcome = "published" if one.published else absent
        gain = f"throughput {text.change(one.gain)} {text.between(one.gain_low, one.gain_high)}"
        when = "again later" if one.created > created else "before"
        what = f"the same library was judged {when}, {text.day(one.created)}"
        yield Finding.doubt(what, f"{one.version}, {outcome}: {gain}", "keys")
