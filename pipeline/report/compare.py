"""Two versions against each other: by what each of them has on record, or by one judgement of both.

Counts repeat exactly, so those of two versions can be compared if the same programs were counted
in the same way. Speed cannot: two sessions are two machines. What can be held together are the two
gains over the baseline, if that is the same library in both; else only a direct judgement tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from pipeline.geometry.model import Difference
from pipeline.judge.counts import ProgramCounts, RealProgram, WorkloadCounts
from pipeline.judge.keys import LEANER, share
from pipeline.judge.keys import compare as judge_interval
from pipeline.judge.model import VerifyResult
from pipeline.judge.samples import Throughput
from pipeline.judge.statistics import Interval
from pipeline.report.code import function_rows
from pipeline.report.compare_counts import (
    CountPair,
    Rows,
    count_rows,
    fewer,
    uncounted_notes,
    workload_rows,
)
from pipeline.report.compared_model import OF_VERDICT, ComparedRow, Comparison, Judgement
from pipeline.report.model import ReportModel
from pipeline.report.relisted import in_words, relisted, reordered
from pipeline.report.summary import peak_mib, summary_rows
from pipeline.report.text import names_apart, played_by, workloads_apart


def compare_versions(
    older: ReportModel, newer: ReportModel, direct: VerifyResult | None = None
) -> Comparison:
    """Return ``newer`` against ``older``; ``direct`` is a judgement of just these two."""
    rows, workloads = _recorded(older, newer) if direct is None else _direct(direct)
    if direct is None and older.verify.tuned.sha256 == newer.verify.tuned.sha256:
        rows, workloads = tuple(map(_same_library, rows)), ()
    dropped, added = _other_workloads(older.verify, newer.verify) if direct is None else ((), ())
    return Comparison(
        version=older.version,
        created=older.verify.created,
        measured=direct is not None,
        rows=(*rows, _code_bytes(older.verify, newer.verify)),
        workloads=workloads,
        functions=function_rows(older.code[1], newer.code[1]) if older.code and newer.code else (),
        code=older.code[1] if older.code else None,
        notes=_notes(older, newer) if direct is None else _direct_notes(older, newer, direct),
        dropped=dropped,
        added=added,
    )


def _other_workloads(
    older: VerifyResult, newer: VerifyResult
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the workloads that judged the older one alone, and the newer one."""
    return names_apart(_names(older.throughput), _names(newer.throughput))


def _same_library(row: ComparedRow) -> ComparedRow:
    """Return the row of a library against itself: what differs there is the measuring."""
    return row.model_copy(update={"judgement": "same", "why": "both are the same library"})


def _recorded(older: ReportModel, newer: ReportModel) -> tuple[Rows, Rows]:
    """Return what two judgements say that were made apart: in all, and by workload."""
    pairs, reason = _same_counts(older, newer)
    before, after, margins = older.verify, newer.verify, newer.verify.margins
    rows = (
        _gain(before, after),
        *count_rows((before, after), pairs, reason, _same_programs(before, after)),
        _memory(before.throughput, after.throughput, other_programs(older, newer)),
    )
    return rows, workload_rows(pairs, margins)


def _direct(direct: VerifyResult) -> tuple[Rows, Rows]:
    """Return what one judgement says in which the older version took the baseline's place."""
    pairs = [
        CountPair(one.name, one.weight, one.baseline, one.tuned)
        for one in direct.counting.workloads
    ]
    programs = [(p.baseline, p.tuned) for p in direct.programs if p.baseline and p.tuned]
    rows = (
        _speed(direct),
        *count_rows((direct,), pairs, "", programs),
        _memory_judged(direct),
    )
    return rows, workload_rows(pairs, direct.margins)


def _gain(older: VerifyResult, newer: VerifyResult) -> ComparedRow:
    before, after = older.throughput.overall, newer.throughput.overall
    ratio = _quotient(before, after)
    margins = older.margins.throughput, newer.margins.throughput
    judgement = OF_VERDICT[judge_interval(ratio, min(margins))]
    doubt = _incomparable(older, newer, judgement)
    row = ComparedRow(
        name="gain over the baseline",
        unit="",
        before=before.value,
        after=after.value,
        ratio=None,
        judgement="unknown",
        why=doubt,
    )
    if doubt:
        return row
    apart = workloads_apart(*_other_workloads(older, newer))
    by = f", by other workloads ({apart})" if apart else ""
    why = f"both over the same baseline, in two sessions{_tighter(*margins)}{by}"
    known = {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}
    return row.model_copy(update={**known, "judgement": judgement, "why": why})


def _quotient(before: Interval, after: Interval) -> Interval:
    """Return by how much one gain is larger than another, with all that both leave open."""
    return Interval(
        value=after.value / before.value,
        low=after.low / before.high,
        high=after.high / before.low,
        confidence=min(before.confidence, after.confidence),
    )


def _incomparable(older: VerifyResult, newer: VerifyResult, judgement: Judgement) -> str:
    """Return why two gains say nothing of each other; "" where they do.

    One that is worse counts also by other workloads, so that `current` stays.
    """
    if older.baseline.sha256 != newer.baseline.sha256:
        return "the two baselines are not the same library: only a direct judgement can tell"
    apart = workloads_apart(*_other_workloads(older, newer))
    if not apart or judgement == "worse":
        return ""
    return f"judged by other workloads ({apart}): only a direct judgement can tell"


def _tighter(before: float, after: float) -> str:
    """Say which margin holds where the two versions were judged by different ones."""
    if before == after:
        return ""
    return f"; of the margins {share(before)} and {share(after)} the tighter one holds"


def _speed(direct: VerifyResult) -> ComparedRow:
    overall, key = direct.throughput.overall, direct.keys.throughput
    medians = next(row for row in summary_rows(direct) if row.verdict is not None)
    return ComparedRow(
        name=medians.name,
        unit=medians.unit,
        before=medians.baseline,
        after=medians.tuned,
        ratio=overall.value,
        low=overall.low,
        high=overall.high,
        judgement=OF_VERDICT[key.verdict],
        why=f"judged directly: {key.reason}",
    )


def _same_counts(older: ReportModel, newer: ReportModel) -> tuple[list[CountPair], str]:
    """Return the workloads that were counted alike in both, or none and why."""
    before, after = older.verify.counting, newer.verify.counting
    if before.source != after.source:
        return [], f"counted by {before.source} then, by {after.source} now"
    known = {_identity(one): one for one in before.workloads}
    changed = other_programs(older, newer)
    found = [
        CountPair(one.name, one.weight, known[_identity(one)].tuned, one.tuned)
        for one in after.workloads
        if _identity(one) in known and _program(one) not in changed
    ]
    return found, "" if found else _no_counts(before.workloads, after.workloads)


def _same_programs(
    older: VerifyResult, newer: VerifyResult
) -> list[tuple[ProgramCounts, ProgramCounts]]:
    """Return the counts of the tasks of real programs that are the same in both."""
    known = {(one.name, one.command): one for one in older.programs}
    found = [(known.get((one.name, one.command)), one) for one in newer.programs]
    return [
        (before.tuned, after.tuned)
        for before, after in found
        if before and before.tuned and after.tuned and not _is_other(before, after)
    ]


def _is_other(before: RealProgram, after: RealProgram) -> bool:
    """Tell whether two tasks of one name are known to run other files."""
    return None not in (before.digest, after.digest) and before.digest != after.digest


def other_programs(older: ReportModel, newer: ReportModel) -> set[str]:
    """Return the programs that are not the same in both: their counts say nothing."""
    both = older.programs.keys() & newer.programs.keys()
    bench = {name for name in both if older.programs[name] != newer.programs[name]}
    real = {one.name: one for one in older.verify.programs}
    return bench | {
        one.name
        for one in newer.verify.programs
        if one.name in real and _is_other(real[one.name], one)
    }


def _program(one: WorkloadCounts) -> str:
    return PurePath(one.argv[0]).name


def _identity(one: WorkloadCounts) -> tuple[object, ...]:
    """Return what makes two counts comparable; programs lie at another path in each build."""
    env = tuple(sorted(one.env.items()))
    return one.name, _program(one), one.argv[1:], env, str(one.geometry)


def _same_runs(before: Throughput, after: Throughput, changed: set[str]) -> set[str]:
    """Return the names of the workloads that both timed, by the same recordings and as long.

    With other input a program needs other memory, whatever library it has.
    """
    known = {(one.name, *_input(one.argv)) for one in before.workloads}
    found = (one for one in after.workloads if not _runs_one_of(one.argv, changed))
    return {one.name for one in found if (one.name, *_input(one.argv)) in known}


def _runs_one_of(argv: Sequence[str], changed: set[str]) -> bool:
    """Tell whether a command line names one of these programs or files, in whatever folder."""
    return bool({PurePath(one).name for one in argv} & {PurePath(one).name for one in changed})


def _input(argv: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """Return what a workload plays, and how many operations of it."""
    ops = argv[argv.index("--ops") + 1] if "--ops" in argv[:-1] else None
    return played_by(argv), ops


def _no_counts(before: Sequence[WorkloadCounts], after: Sequence[WorkloadCounts]) -> str:
    names = {one.name: played_by(one.argv) for one in before}
    both = [one for one in after if one.name in names]
    anew = any(played_by(one.argv) != names[one.name] for one in both)
    return _ANEW if anew else "no workload was counted in the same way in both"


def _no_runs(before: Throughput, after: Throughput, changed: set[str]) -> str:
    """Say why no memory can be compared, if it cannot: of a name in both the input is another."""
    if any(_runs_one_of(one.argv, changed) for one in after.workloads):
        return "other programs or files were run: only a direct judgement can tell"
    plays = {one.name: played_by(one.argv) for one in before.workloads}
    both = [one for one in after.workloads if one.name in plays]
    if not both:
        return "no workload in common"
    anew = any(played_by(one.argv) != plays[one.name] for one in both)
    return _ANEW if anew else "the runs were of another length, as those of a quick build are"


_ANEW = "the recording was made anew: other input, so these figures cannot be compared"


def _names(throughput: Throughput) -> set[str]:
    return {one.name for one in throughput.workloads}


def _memory(before: Throughput, after: Throughput, changed: set[str]) -> ComparedRow:
    """Return the peak over the workloads that both ran, which is another mean than over all.

    Those that run one of the ``changed`` programs or files are not the same in both.
    """
    names = _same_runs(before, after, changed)
    peaks = [peak_mib(one, names) for one in (before, after)]
    row = fewer("peak memory", peaks[0], peaks[1], LEANER, _no_runs(before, after, changed))
    most = max(len(_names(before)), len(_names(after)))
    part = f"; over the {len(names)} of {most} workloads that both ran alike"
    why = f"{row.why}{part}" if names and len(names) < most else row.why
    return row.model_copy(update={"unit": "MiB", "why": why})


def _memory_judged(direct: VerifyResult) -> ComparedRow:
    """Return what one judgement says of both: the limit of each workload, then the key."""
    memory, key = next(row for row in summary_rows(direct) if row.unit == "MiB"), direct.keys.memory
    judged: Judgement = OF_VERDICT[key.verdict] if key is not None else "unknown"
    why = f"judged directly: {key.reason}" if key is not None else "this judgement has no such key"
    return ComparedRow(
        name=memory.name,
        unit=memory.unit,
        before=memory.baseline,
        after=memory.tuned,
        ratio=memory.ratio,
        low=key.ratio.low if key is not None and key.ratio else None,
        high=key.ratio.high if key is not None and key.ratio else None,
        judgement=judged if direct.rss.holds else "worse",
        why=why if direct.rss.holds else f"the memory limit is broken: {direct.rss.reason}",
    )


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


def other_geometry(older: ReportModel, newer: ReportModel) -> list[str]:
    """Return in one note what of the geometry was changed; none where it is the same or unknown."""
    if older.geometry is None or newer.geometry is None:
        return []
    before, after = ({one.what: one for one in side.geometry or ()} for side in (older, newer))
    changed = [
        f"{what} {_setting(what, before, after)} → {_setting(what, after, before)}"
        for what in dict.fromkeys((*before, *after))
        if _setting(what, before, after) != _setting(what, after, before)
    ]
    return [f"geometry, then → now: {', '.join(changed)}"] if changed else []


def _setting(what: str, mine: Mapping[str, Difference], others: Mapping[str, Difference]) -> str:
    """Return the value on one side: where it is the default there, the other side knows that."""
    return (mine[what].after if what in mine else others[what].before) or "none"


def _direct_notes(older: ReportModel, newer: ReportModel, direct: VerifyResult) -> tuple[str, ...]:
    moved = (*in_words(relisted(older, newer)), *reordered(older, newer))
    return (*other_geometry(older, newer), *moved, *uncounted_notes((direct,)))


def _notes(older: ReportModel, newer: ReportModel) -> tuple[str, ...]:
    notes = []
    if older.verify.created > newer.verify.created:
        notes.append(f"{older.version} was judged last, so this is backward: `diff OLDER NEWER`")
    if older.verify.mode != newer.verify.mode:
        notes.append(f"{older.version} was judged {older.verify.mode}, this {newer.verify.mode}")
    if older.verify.environment.cpu != newer.verify.environment.cpu:
        notes.append(f"{older.version} was judged on another processor")
    notes += other_geometry(older, newer)
    notes += (*in_words(relisted(older, newer)), *reordered(older, newer))
    apart = workloads_apart(*_other_workloads(older.verify, newer.verify))
    if apart:
        notes.append(f"judged by other workloads than {older.version}: {apart}")
    changed = other_programs(older, newer)
    if changed:
        names = ", ".join(sorted(changed))
        notes.append(f"not the same programs, so their figures are not compared: {names}")
    if older.code is None:
        notes.append(f"{older.version} has no text map: {older.code_reason}")
    return (*notes, *uncounted_notes((older.verify, newer.verify)))
