"""Two versions against each other, by what each of them has on record.

Counts repeat exactly, so those of two versions can be compared if the same programs were counted
in the same way. Speed cannot: two sessions are two machines. What can be held together are the two
gains over the baseline, if that is the same library in both; else only a direct judgement tells.
"""

from __future__ import annotations

from pathlib import PurePath

from pipeline.judge.keys import compare as judge_interval
from pipeline.judge.keys import share
from pipeline.judge.model import Key, VerifyResult, WorkloadCounts
from pipeline.judge.pressure import PRESSURE_FLOOR, presses
from pipeline.judge.request import Margins
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.report.code import function_rows
from pipeline.report.model import ComparedRow, Comparison, Judgement, ReportModel
from pipeline.report.summary import counted_means, peak_mib

_OF_VERDICT: dict[Verdict, Judgement] = {
    Verdict.GO: "better",
    Verdict.NEUTRAL: "same",
    Verdict.NO_GO: "worse",
    Verdict.INCONCLUSIVE: "unclear",
}
Pair = tuple[WorkloadCounts, WorkloadCounts]


def compare_versions(
    older: ReportModel, newer: ReportModel, direct: VerifyResult | None = None
) -> Comparison:
    """Return ``newer`` against ``older``; ``direct`` is a judgement of just these two."""
    pairs, reason = _same_counts(older, newer)
    margins = newer.verify.margins
    return Comparison(
        version=older.version,
        created=older.verify.created,
        measured=direct is not None,
        rows=(
            _speed(older.verify, newer.verify) if direct is None else _measured_speed(direct),
            *_counted(pairs, reason, margins),
            _memory(older.verify, newer.verify),
            _code_bytes(older.verify, newer.verify),
        ),
        workloads=tuple(row for pair in pairs for row in _workload(pair, margins)),
        functions=function_rows(older.code[1], newer.code[1]) if older.code and newer.code else (),
        code=older.code[1] if older.code else None,
        notes=_notes(older, newer),
    )


def _speed(older: VerifyResult, newer: VerifyResult) -> ComparedRow:
    before, after = older.throughput.overall, newer.throughput.overall
    ratio = Interval(
        value=after.value / before.value,
        low=after.low / before.high,
        high=after.high / before.low,
        confidence=min(before.confidence, after.confidence),
    )
    same = older.baseline.sha256 == newer.baseline.sha256
    verdict = judge_interval(ratio, newer.margins.throughput)
    return ComparedRow(
        name="gain over the baseline",
        unit="",
        before=before.value,
        after=after.value,
        ratio=ratio.value if same else None,
        low=ratio.low if same else None,
        high=ratio.high if same else None,
        judgement=_OF_VERDICT[verdict] if same else "unknown",
        why="both over the same baseline, in two sessions"
        if same
        else "the two baselines are not the same library: only a direct judgement can tell",
    )


def _measured_speed(direct: VerifyResult) -> ComparedRow:
    key, overall = direct.keys.throughput, direct.throughput.overall
    return ComparedRow(
        name="throughput",
        unit="",
        before=None,
        after=None,
        ratio=overall.value,
        low=overall.low,
        high=overall.high,
        judgement=_key_judgement(key),
        why=f"judged directly: {key.reason}",
    )


def _key_judgement(key: Key) -> Judgement:
    return _OF_VERDICT[key.verdict]


def _same_counts(older: ReportModel, newer: ReportModel) -> tuple[list[Pair], str]:
    """Return the workloads that were counted alike in both, or none and why."""
    before, after = older.verify.counting, newer.verify.counting
    if before.source != after.source:
        return [], f"counted by {before.source} then, by {after.source} now"
    known = {_identity(one): one for one in before.workloads}
    changed = other_programs(older, newer)
    found = [
        (known[_identity(one)], one)
        for one in after.workloads
        if _identity(one) in known and _program(one) not in changed
    ]
    return found, "" if found else "no workload was counted in the same way in both"


def other_programs(older: ReportModel, newer: ReportModel) -> set[str]:
    """Return the bench programs that are not the same in both: their counts say nothing."""
    both = older.programs.keys() & newer.programs.keys()
    return {name for name in both if older.programs[name] != newer.programs[name]}


def _program(one: WorkloadCounts) -> str:
    return PurePath(one.argv[0]).name


def _identity(one: WorkloadCounts) -> tuple[object, ...]:
    """Return what makes two counts comparable; programs lie at another path in each build."""
    return (
        one.name,
        _program(one),
        one.argv[1:],
        tuple(sorted(one.env.items())),
        str(one.geometry),
    )


def _counted(pairs: list[Pair], reason: str, margins: Margins) -> tuple[ComparedRow, ...]:
    """Return instructions over all workloads, misses over those under instruction pressure."""
    pressed = [pair for pair in pairs if presses(pair[0]) or presses(pair[1])]
    why = reason or "no workload presses on the instruction cache"
    return (
        _row_of("instructions per op", pairs, "instructions", margins.throughput, reason),
        _row_of("I-cache misses per op", pressed, "i1_misses", margins.icache, why),
    )


def _row_of(name: str, pairs: list[Pair], field: str, margin: float, reason: str) -> ComparedRow:
    before = counted_means([older for older, _ in pairs], field)
    after = counted_means([newer for _, newer in pairs], field)
    return _fewer(name, before, after, margin, reason)


def _fewer(
    name: str, before: float | None, after: float | None, margin: float, reason: str
) -> ComparedRow:
    """Return a row of a quantity that repeats exactly, and of which less is better."""
    known = before is not None and after is not None and before > 0
    ratio = after / before if before and after is not None else None
    return ComparedRow(
        name=name,
        unit="",
        before=before,
        after=after,
        ratio=ratio,
        judgement="unknown" if ratio is None else _judged(ratio, margin),
        why=f"margin ±{share(margin)}" if known else reason or "not counted in both",
    )


def _judged(ratio: float, margin: float) -> Judgement:
    if ratio >= 1 + margin:
        return "worse"
    return "better" if ratio <= 1 - margin else "same"


def _workload(pair: Pair, margins: Margins) -> list[ComparedRow]:
    """Return what has changed in one workload; rows that stayed the same are left out."""
    name = pair[1].name
    rows = [
        _row_of(f"{name}: instructions", [pair], "instructions", margins.throughput, ""),
        _row_of(f"{name}: I-cache misses", [pair], "i1_misses", margins.icache, ""),
    ]
    return [row for row in rows if row.judgement in ("better", "worse") and not _tiny(row)]


def _tiny(row: ComparedRow) -> bool:
    """Tell whether both sides are near zero, where a ratio says nothing."""
    return max(row.before or 0, row.after or 0) < PRESSURE_FLOOR


def _memory(older: VerifyResult, newer: VerifyResult) -> ComparedRow:
    """Return peak memory over the workloads that both have."""
    names = {one.name for one in older.throughput.workloads}
    names &= {one.name for one in newer.throughput.workloads}
    before, after = (peak_mib(side.throughput, names) for side in (older, newer))
    row = _fewer("peak RSS", before, after, newer.margins.rss, "no workload in common")
    return row.model_copy(update={"unit": "MiB"})


def _code_bytes(older: VerifyResult, newer: VerifyResult) -> ComparedRow:
    before, after = older.tuned.text_bytes, newer.tuned.text_bytes
    return ComparedRow(
        name="code",
        unit="bytes",
        before=before,
        after=after,
        ratio=after / before,
        judgement="info",
        why="size is not judged",
    )


def _notes(older: ReportModel, newer: ReportModel) -> tuple[str, ...]:
    notes = []
    if older.verify.mode != newer.verify.mode:
        notes.append(f"{older.version} was judged {older.verify.mode}, this {newer.verify.mode}")
    if older.verify.environment.cpu != newer.verify.environment.cpu:
        notes.append(f"{older.version} was judged on another processor")
    changed = other_programs(older, newer)
    if changed:
        names = ", ".join(sorted(changed))
        notes.append(f"not the same programs, so their counts are not compared: {names}")
    if older.code is None:
        notes.append(f"{older.version} has no text map: {older.code_reason}")
    return tuple(notes)
