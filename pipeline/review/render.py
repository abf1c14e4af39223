"""A review as people and machines read it: Markdown, JUnit, SARIF, and GitHub's annotations."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from pipeline.report import text
from pipeline.report.compare_keys import OF_PAIRS
from pipeline.report.compared_model import ComparedRow
from pipeline.report.relisted import in_words
from pipeline.review.model import RULES, Remark, Review

MARKER = "<!-- hakmem review -->"
"""By this line the comment of an earlier run is found, and replaced."""

OTHER_MODE = (
    "{} was built in mode {}, which may choose another step of the chain: a difference may come "
    "from that, and not from the change."
)
OWN = ("regression", "doubt")
"""Rules about the change beside the plain build of its own sources, not beside BASE."""

OWN_TITLE = "This change beside its own baseline, the plain build of the same sources:"
NOTHING = "There is nothing to compare."
JUDGED = ("worse", "same", "better")
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_ANNOTATION = {"error": "error", "warning": "warning", "note": "notice"}
_MOST_NOTES = 10


def markdown(review: Review) -> str:
    """Return the comment for a pull request."""
    table = [NOTHING] if review.same else [*_table(review), *_rests_on(review)]
    about = [*(f"- {one}" for one in review.about), ""] if review.about else []
    lines = [MARKER, f"### {review.sentence}", "", *about, *table]
    lines += _remarks([one for one in review.remarks if one.rule not in OWN])
    own = _remarks([one for one in review.remarks if one.rule in OWN])
    lines += ["", OWN_TITLE, *own] if own else []
    head = review.head.verify
    measured = "judged directly" if review.comparison.measured else "compared by what is on record"
    where = head.environment.kind
    lines += ["", f"Profile {review.head.profile}, mode {head.mode}, {measured}, on {where}."]
    lines += [*_margins(review), ""]
    if review.base_mode != head.mode:
        lines += [OTHER_MODE.format(review.base, review.base_mode), ""]
    return "\n".join(lines)


def _margins(review: Review) -> Iterator[str]:
    """Yield the margins of a judgement, and what would decide that which is left open."""
    borders = review.head.verify.margins
    yield (
        f"Margins: speed ±{100 * borders.throughput:.1f} %, I-cache misses "
        f"±{100 * borders.icache:.1f} %, peak memory +{100 * borders.rss:.1f} % "
        "(docs/verdicts.md says how they decide)."
    )
    is_open = any(row.judgement == "unclear" for row in review.comparison.rows)
    if is_open and review.head.verify.mode == "quick":
        yield "To decide what is undecided: `HAKMEM_REVIEW_FULL=1 .ci/review BASE` measures longer."


def _remarks(remarks: Sequence[Remark]) -> list[str]:
    lines: list[str] = []
    for level in ("error", "warning", "note"):
        mine = [one for one in remarks if one.level == level]
        lines += [""] if mine else []
        lines += [f"- **{level}**: {one.what}: {one.detail}" for one in mine[:_MOST_NOTES]]
        if len(mine) > _MOST_NOTES:
            lines.append(f"- {text.many(len(mine) - _MOST_NOTES, f'more {level}')} in the report")
    return lines


def _table(review: Review) -> list[str]:
    rows = [
        f"| {text.cell(row.name)}{f' ({row.unit})' if row.unit else ''} "
        f"| {text.quantity(row.before, row.unit)} | {text.quantity(row.after, row.unit)} "
        f"| {text.change(row.ratio)} | {_interval(row)} | {text.judged(row.judgement)} |"
        for row in review.rows
    ]
    head = "| | BASE | this change | change | interval | is |"
    return [head, "|---|---:|---:|---:|---:|---|", *rows]


def _rests_on(review: Review) -> list[str]:
    """Return what `pipeline diff` says beside its table: what figures rest on, and which lack.

    What was measured now rests on one judgement, and says so elsewhere.
    """
    direct, rows = review.comparison.measured, review.comparison.rows
    whys = [f"{one.name}: {one.why}" for one in rows if one.judgement != "info" and not direct]
    pairs = [f"- {one.name}: {OF_PAIRS}" for one in rows if one.is_of_pairs]
    told = (*review.other_geometry, *in_words(review.relisted))
    notes = [one for one in review.comparison.notes if one not in told]
    lines = [f"- by record, {one}" for one in whys] + pairs + [f"- note: {one}" for one in notes]
    return ["", *lines] if lines else []


def _interval(row: ComparedRow) -> str:
    """Return the ends of a change; "-" where it has none, as a count has not."""
    known = row.low is not None and row.high is not None
    return text.between(row.low, row.high) if known else "-"


def junit(review: Review) -> str:
    """Return a test case for each quantity that was judged, and for each rule that can fail."""
    suite = ET.Element("testsuite", name=f"hakmem {review.head.profile}")
    for row in review.rows:
        case = ET.SubElement(suite, "testcase", classname="compared", name=row.name)
        said = f"{text.change(row.ratio)}: {row.why}"
        if row.judgement == "worse":
            ET.SubElement(case, "failure", message=said)
        elif row.judgement not in JUDGED:  # among them what is undecided
            ET.SubElement(case, "skipped", message=f"{text.judged(row.judgement)}: {said}")
    for rule, sentence in RULES.items():
        _rule_case(suite, rule, sentence, [one for one in review.errors if one.rule == rule])
    cases = list(suite)
    suite.set("tests", str(len(cases)))
    for kind, name in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(kind, str(sum(case.find(name) is not None for case in cases)))
    suite.set("errors", "0")
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, "unicode") + "\n"


def _rule_case(suite: ET.Element, rule: str, sentence: str, broken: list[Remark]) -> None:
    if rule == "worse" or rule in OWN:  # a quantity has its own case; no remark of OWN fails
        return
    case = ET.SubElement(suite, "testcase", classname="review", name=sentence)
    if broken:
        failure = ET.SubElement(case, "failure", message=text.many(len(broken), "place"))
        failure.text = "\n".join(
            f"{f'{one.file}:{one.line}: ' if one.line else ''}{one.what}: {one.detail}"
            for one in broken
        )


def sarif(review: Review, version: str) -> str:
    """Return all remarks as SARIF 2.1.0.

    Those who read it want a place for each: what is about the whole build has that of the profile.
    """
    rules = [{"id": name, "shortDescription": {"text": says}} for name, says in RULES.items()]
    driver = {"name": "hakmem pipeline", "version": version, "rules": rules}
    results = [
        {
            "ruleId": one.rule,
            "level": one.level,
            "message": {"text": f"{one.what}: {one.detail}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": one.file},
                        "region": {"startLine": one.line or 1},
                    }
                }
            ],
        }
        for one in review.remarks
    ]
    log = {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=1) + "\n"


def annotation_lines(review: Review) -> list[str]:
    """Return the lines by which a job on GitHub marks places in the change."""
    return [
        f"::{_ANNOTATION[one.level]} "
        f"{f'file={_property(one.file)},line={one.line},' if one.line else ''}"
        f"title={_property(one.what)}::{_data(one.detail)}"
        for one in review.remarks
    ]


def _data(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words: str) -> str:
    return _data(words).replace(":", "%3A").replace(",", "%2C")
