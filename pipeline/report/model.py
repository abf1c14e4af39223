"""What a report says, independent of how it looks. None means unknown, and a reason stands by."""

from __future__ import annotations

from typing import Annotated, Literal

from pipeline.core.processor import ANY, nearest
from pipeline.core.variant import PRODUCTION
from pipeline.evidence.model import CurvePoint, Evidence
from pipeline.geometry.code import MARCH
from pipeline.geometry.model import Difference
from pipeline.judge.accepted import accepted
from pipeline.judge.cost import Cost
from pipeline.judge.decided import decided_by
from pipeline.judge.direct_speed import DirectSpeed
from pipeline.judge.gained import gains
from pipeline.judge.model import VerifyResult
from pipeline.judge.samples import Record, older
from pipeline.judge.statistics import Interval
from pipeline.judge.topic import Topic
from pipeline.judge.verdict import Verdict
from pipeline.layout.check import Finding as ContractFinding
from pipeline.report.code_model import CodeMap, FunctionRow
from pipeline.report.compared_model import Comparison
from pipeline.report.made_model import Layout, StageRow, Training
from pipeline.report.times import WorkloadTimes

REPORT_VERSION: Literal[3] = 3


class SummaryRow(Record):
    """One row of the short table; ``verdict`` is None where the row is for information only.

    ``interval`` is that of ``ratio``; None where it has none, and in older records.
    """

    name: str
    unit: str
    baseline: float | None
    tuned: float | None
    ratio: float | None
    interval: Interval | None = None
    verdict: Verdict | Literal["holds", "broken"] | None


class Finding(Record):
    """Something that got worse, or could not be shown; ``anchor`` is the section about it.

    A note is what nobody can act on; older reports call it a doubt, too.
    ``topic`` is its subject where other texts may be about that, too; None in older reports.
    """

    kind: Literal["regression", "doubt", "note"]
    what: str
    detail: str
    anchor: str
    topic: Topic | None = None

    @classmethod
    def regression(cls, what: str, detail: str, anchor: str, topic: Topic | None = None) -> Finding:
        """Return that something got worse."""
        return cls(kind="regression", what=what, detail=detail, anchor=anchor, topic=topic)

    @classmethod
    def doubt(cls, what: str, detail: str, anchor: str, topic: Topic | None = None) -> Finding:
        """Return that something could not be shown, or needs a look."""
        return cls(kind="doubt", what=what, detail=detail, anchor=anchor, topic=topic)

    @classmethod
    def note(cls, what: str, detail: str, anchor: str, topic: Topic | None = None) -> Finding:
        """Return what is good to know, and asks nothing of anybody."""
        return cls(kind="note", what=what, detail=detail, anchor=anchor, topic=topic)


class Decision(Record):
    """What people decided of a version after it was judged; ``said`` is the same in a sentence."""

    what: Literal["rejected", "set aside"]
    since: str
    reason: str
    said: str


class Source(Record):
    """What to check out and to type for the same build.

    ``clean`` tells whether the files were as committed, ``changed`` which were not, also those
    that git does not know and a build may read. ``command`` is None for a rebuild.
    """

    commit: str | None
    clean: bool | None
    command: str | None
    changed: tuple[str, ...] = ()


class ReportModel(Record):
    """Everything a reader of one version needs; a renderer adds no facts.

    ``code`` has the maps before (the baseline) and after (this version). ``previous`` is None
    where there is no version to compare with; ``previous_reason`` says why. ``programs`` are the
    digests of the bench programs by name, and of the files that timed commands name; none where the
    build does not know them. ``curve`` has the misses per operation by size of the instruction
    cache, the smallest first; none where nothing was counted. ``contract`` is what
    `pipeline layout check` says of this version; None where its code could not be read. ``origin``
    says of a rebuild what it was made from.
    ``geometry`` has what is cut otherwise than the default: none where all is as there, None where
    the report does not know. ``cut_for`` is the kind of processor that this was chosen for, "any"
    where it holds for all. ``variant`` is production or what is published beside it, and ``cost``
    what that costs against production's library; None where it was not measured. ``direct`` is its
    speed against the library that was current; None where that was not judged directly.
    ``decided`` is what people decided after that, ``damage`` which of its files are not as they
    were published; "" for none. ``current_since`` is the day on which it became the current
    version; "" where it is not. The kept file never has these three. ``withheld``: the
    gate lets it pass, and it is not published because --no-publish asked for that.
    ``stays`` says of a published version why it was not made current; None where it was.
    ``circumstances`` are those of the findings that nothing measured. ``quotes`` are the subjects
    whose reasons stand in ``reason``; none in older reports, where nobody knows.

    A field that is added gets a default that says unknown: older reports can still be read then.
    """

    schema_version: Annotated[Literal[3], older(2, 3)] = REPORT_VERSION
    profile: str
    version: str
    published: bool
    reason: str
    allow_neutral: bool
    allow_regression: tuple[str, ...] = ()
    programs: dict[str, str]
    findings: tuple[Finding, ...]
    circumstances: tuple[Finding, ...] = ()
    summary: tuple[SummaryRow, ...]
    verify: VerifyResult
    curve: tuple[CurvePoint, ...]
    evidence: Evidence | None
    evidence_reason: str
    code: tuple[CodeMap, CodeMap] | None
    code_reason: str
    functions: tuple[FunctionRow, ...]
    contract: tuple[ContractFinding, ...] | None = None
    origin: str | None = None
    geometry: tuple[Difference, ...] | None = None
    cut_for: str | None = None
    source: Source | None = None
    variant: str = PRODUCTION
    cost: Cost | None = None
    direct: DirectSpeed | None = None
    times: tuple[WorkloadTimes, ...] = ()
    decided: Decision | None = None
    damage: str = ""
    current_since: str = ""
    withheld: bool = False
    stays: str | None = None
    quotes: tuple[Topic, ...] = ()
    previous: Comparison | None
    previous_reason: str
    stages: tuple[StageRow, ...]
    training: Training | None
    layout: Layout | None

    @property
    def title(self) -> str:
        """What this version is, as the heading of a report."""
        beside = "" if self.variant == PRODUCTION else f", {self.variant}"
        return f"hakmem {self.version}, profile {self.profile}{beside}"

    @property
    def passed(self) -> bool:
        """Return whether the gate let it pass, published or not."""
        return self.published or self.withheld

    @property
    def outcome(self) -> str:
        """What came of the build, in a few words."""
        if self.withheld:
            return "Not published, as asked"
        return "Published" if self.published else "Not published"

    @property
    def since(self) -> str:
        """What has become of the version since, to stand behind the outcome; or ""."""
        then = f", then {self.decided.what}" if self.decided else ""
        return f"{then}, now DAMAGED" if self.damage else then

    @property
    def rejected(self) -> bool:
        """Return whether somebody has refused the version for good."""
        return self.decided is not None and self.decided.what == "rejected"

    @property
    def published_for(self) -> str:
        """What the build was published for, to stand behind the outcome; or ""."""
        if not self.published:
            return ""
        found = gains(self.verify)
        why = f" for {' and '.join(found)}" if found else ", though nothing is shown to be better"
        return f"{why}{self._accepted()}{self._behind(', but')}{self.beside}"

    @property
    def accepted(self) -> str:
        """Which losses --allow-regression accepted, with their figures; or ""."""
        return "; ".join(accepted(self.verify, self.allow_regression))

    def _accepted(self) -> str:
        return f" (accepted: {self.accepted})" if self.accepted else ""

    @property
    def beside(self) -> str:
        """That a published version was not made current, and whether it is by now; or ""."""
        if not self.stays:
            return ""
        now = f" at first; current since {self.current_since}" if self.current_since else ""
        return f", not made current{now}"

    def _behind(self, link: str) -> str:
        """Return what is worse than in the version before, over all workloads; or ""."""
        if self.previous is None:
            return ""
        worse = [row.name for row in self.previous.worse_overall]
        return f"{link} worse than {self.previous.version} ({', '.join(worse)})" if worse else ""

    @property
    def refused_for(self) -> str:
        """What speaks against a build that is not published, to stand behind the outcome."""
        if self.withheld:
            return self._accepted() + self._behind(";")
        if self.published:
            return ""
        found = decided_by(self.verify, self.allow_regression)
        return (f" ({found})" if found else "") + self._behind(";")

    @property
    def made_for(self) -> str | None:
        """Return which processors this version is for and which one judged it; None: unknown."""
        judged = self.verify.environment.processor
        if self.cut_for is None or judged is None:
            return None
        if self.cut_for == ANY:
            return f"built for all processors, judged on {judged}"
        needs = any(row.what == MARCH for row in self.geometry or ())
        beside = " alone" if needs else " (it runs on others, too)"
        said = f"built for {self.cut_for}{beside}, judged on {judged}"
        if self.cut_for in nearest(judged):
            return said
        return f"{said}: the verdict says nothing about {self.cut_for}"
