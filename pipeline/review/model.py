"""A review: two versions compared, and what a reviewer has to know of it, one remark each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipeline.judge.topic import Topic
from pipeline.layout.check import Finding as ContractFinding
from pipeline.report import text
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.findings import refused
from pipeline.report.model import ReportModel
from pipeline.report.relisted import Relisted, move

Level = Literal["error", "warning", "note"]

RULES: Mapping[str, str] = {
    "worse": "The build is not worse than the version before it in what was measured.",
    "rejected": "Nobody has rejected the build, and no rollback has set it aside.",
    "refused": "The judge does not refuse the build.",
    "layout": "The library is as layouts/ and the marks in the source promise.",
    "regression": "Nothing is worse than in the plain build of the same sources.",
    "doubt": "What was measured is decided.",
}


SAME_PLAIN = (
    "The plain builds of both sides are the same bytes: no source was changed. Where the two "
    "libraries differ, that comes from geometry, lists, training or flags, or is chance."
)


_IN_HEADLINE = 2


def identity(one: ContractFinding) -> tuple[str, str, bool]:
    """Return what tells whether two reports found the same; their texts may differ."""
    return one.symbol, one.rule, one.broken


@dataclass(frozen=True)
class Remark:
    """One thing to know; ``file`` is seen from the root of the tree, ``line`` counts from 1.

    Without a line it is about the build as a whole, and in no file more than in another.
    """

    level: Level
    rule: str
    what: str
    detail: str
    file: str
    line: int | None = None


@dataclass(frozen=True)
class Lists:
    """Where symbols stand: ``hot`` and ``cold`` map names to lines of their files."""

    hot_file: str
    cold_file: str
    hot: Mapping[str, int]
    cold: Mapping[str, int]

    def place(self, symbol: str) -> tuple[str, int]:
        """Return file and line of a symbol; the first line of hot.txt where it is not listed."""
        if symbol in self.cold and symbol not in self.hot:
            return self.cold_file, self.cold[symbol]
        return self.hot_file, self.hot.get(symbol, 1)


def _in_brief(rows: Sequence[ComparedRow]) -> str:
    """Return the first rows with their figures, and how many more there are."""
    figures = [" ".join(_figures(row)) for row in rows[:_IN_HEADLINE]]
    left = len(rows) - len(figures)
    return f"{', '.join(figures)}{f'; {left} more below' if left else ''}"


def _figures(row: ComparedRow) -> Iterator[str]:
    yield row.name
    if row.ratio is not None:
        yield text.change(row.ratio)
    if row.low is not None and row.high is not None:
        yield text.between(row.low, row.high)


@dataclass(frozen=True)
class Review:
    """``head`` is the build under review, ``comparison`` what it is against the version before.

    ``base`` is that version, ``base_mode`` the mode that it was built in. ``same``: both have the
    same library, so that there is nothing to compare; ``same_plain``: the same plain build, so that
    the sources of the library say the same. ``made_of`` are the commits of BASE and HEAD,
    ``other_geometry`` how HEAD is cut otherwise, ``relisted`` the functions whose list changed.
    ``listed_before`` are those that ran often and are not in hot.txt on either side.
    ``decided`` is what people decided of HEAD after
    it was judged; "" for nothing.
    """

    base: str
    base_mode: str
    head: ReportModel
    comparison: Comparison
    profile_file: str
    lists: Lists
    same: bool = False
    same_plain: bool = False
    made_of: tuple[str, str] = ("", "")
    other_geometry: tuple[str, ...] = ()
    decided: str = ""
    relisted: Relisted = field(default_factory=dict)
    found_before: frozenset[tuple[str, str, bool]] = frozenset()

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All remarks, errors first."""
        order = ("error", "warning", "note")
        return tuple(sorted(self._remarks(), key=lambda one: order.index(one.level)))

    @property
    def errors(self) -> tuple[Remark, ...]:
        """The remarks for which a change is not fit to land."""
        return tuple(one for one in self.remarks if one.level == "error")

    @property
    def rows(self) -> tuple[ComparedRow, ...]:
        """What was compared: the whole, then single workloads."""
        return (*self.comparison.rows, *self.comparison.workloads)

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        worse = self.comparison.worse
        if self.decided:
            return f"{self.head.version} is not fit to land: {self.decided}."
        if worse:
            return f"{self.head.version} is worse than {self.base}: {_in_brief(worse)}."
        if self.errors:
            return f"{self.head.version} is not fit to land: {self.errors[0].what}."
        if self.same:
            return f"BASE ({self.base}) and HEAD ({self.head.version}) are the same library."
        if {row.judgement for row in self.rows} - {"info"} == {"same"}:
            return f"{self.head.version} is level with {self.base} in all that was judged."
        better = [row.name for row in self.rows if row.judgement == "better"]
        gain = f", and better in {', '.join(better)}" if better else ""
        said = f"{self.head.version} is not shown to be worse than {self.base}{gain}"
        return f"{said}{''.join(f'; {one}' for one in self._undecided())}."

    def _undecided(self) -> Iterator[str]:
        """Yield what is open over all workloads, with the ends of its interval."""
        for row in self.comparison.rows:
            if row.judgement == "unclear" and row.low is not None and row.high is not None:
                yield f"{row.name} undecided: {text.change(row.low)} to {text.change(row.high)}"

    @property
    def about(self) -> tuple[str, ...]:
        """What stands behind the two sides, as far as the reports know it: a sentence each."""
        sides = (f"BASE is version {self.base}", f"This change is version {self.head.version}")
        made = [
            f"{side}{of and f', of {of}'}." for side, of in zip(sides, self.made_of, strict=True)
        ]
        cut = (text.sentence(one) for one in self.other_geometry)
        return (*made, *cut, *((SAME_PLAIN,) if self.same_plain else ()), *self._apart())

    def _apart(self) -> Iterator[str]:
        """Say how far two builds may differ by chance, and whose figures these are."""
        if not self.same:
            yield (
                "Each side was trained by itself, but alike: two builds of the same sources "
                "differed by up to 1 % in misses, and in trees at two paths in the size of a few "
                "functions. Where a program of the training has threads, they may differ more "
                "(docs/versions.md, Reviews)."
            )
        if self.comparison.measured:
            yield (
                "The table is of this run, BASE against this change; the report of each side has "
                "other figures, those of its own judgement against its plain build."
            )

    def _remarks(self) -> Iterator[Remark]:
        if self.decided:
            yield Remark("error", "rejected", self.head.version, self.decided, self.profile_file)
        for row in self.comparison.worse:
            change = f"{text.change(row.ratio)}; {row.why}" if row.ratio else row.why
            what = f"{row.name} is worse than in {self.base}"
            yield Remark("error", "worse", what, change, self.profile_file)
        if refused(self.head.verify):
            yield Remark(
                "error", "refused", "the judge refuses it", self.head.reason, self.profile_file
            )
        elif not (self.head.published or self.head.withheld):
            what = "it would not be published as it is"
            yield Remark("warning", "doubt", what, self.head.reason, self.profile_file)
        yield from self._contract()
        yield from self._moves()
        for one in self.head.findings:
            if one.kind != "regression" and one.topic in self.head.quotes and not self.head.passed:
                continue  # the reason why it was not published
            if one.kind != "regression":
                yield Remark("note", "doubt", one.what, one.detail, self.profile_file)
            elif one.topic is not Topic.VERSIONS:  # of those the comparison alone speaks
                yield Remark("warning", "regression", one.what, one.detail, self.profile_file)

    def _contract(self) -> Iterator[Remark]:
        """Yield breaches, for which a change is not to blame where BASE has them, and new notes."""
        for one in self.head.contract or ():
            before = identity(one) in self.found_before
            level: Level = "note"
            if one.broken:
                level = "warning" if before else "error"
                what = f"{one.rule}{', in BASE, too' if before else ''}"
            elif one.rule == "listed" and not before and one.symbol not in self.relisted:
                what = "in cold.txt" if one.symbol in self.lists.cold else "not listed"
            else:
                continue
            place = self.lists.place(one.symbol)
            yield Remark(level, "layout", f"{one.symbol}: {what}", one.text, *place)

    def _moves(self) -> Iterator[Remark]:
        """Yield which functions changed lists; one that ran often should not leave hot.txt."""
        ran = {one.symbol: one for one in self.head.contract or () if one.rule == "listed"}
        for name, lists in self.relisted.items():
            seen = (
                f", though it ran often: {ran[name].often or ran[name].text}" if name in ran else ""
            )
            level: Level = "warning" if name in ran else "note"
            what, place = f"{name} changed lists", self.lists.place(name)
            yield Remark(level, "layout", what, f"{move(lists)}{seen}", *place)
