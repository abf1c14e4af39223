"""What of two versions was measured alike, and so can be compared, or why nothing was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from pipeline.judge.counts import ProgramCounts, RealProgram, WorkloadCounts
from pipeline.judge.means import shares
from pipeline.judge.model import VerifyResult
from pipeline.judge.samples import Throughput, WorkloadThroughput
from pipeline.report.compare_counts import CountPair
from pipeline.report.model import ReportModel
from pipeline.report.text import names_apart, played_by


def other_workloads(
    older: VerifyResult, newer: VerifyResult
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the workloads that judged the older one alone, and the newer one."""
    return names_apart(timed_names(older.throughput), timed_names(newer.throughput))


def judged_alike(older: VerifyResult, newer: VerifyResult) -> bool:
    """Return whether the gains of both are over one baseline, by the same runs and weights.

    For how long they ran makes no difference: a default build may follow a quick one.
    """
    if older.baseline.sha256 != newer.baseline.sha256:
        return False
    return _asked(older.throughput) == _asked(newer.throughput)


def _asked(timed: Throughput) -> dict[str, tuple[object, ...]]:
    """Return by name what each workload runs, and its share of all weights."""
    share = shares({one.name: one.weight for one in timed.workloads})
    return {
        one.name: (_run(one), tuple(sorted(one.env.items())), share[one.name])
        for one in timed.workloads
    }


def _run(one: WorkloadThroughput) -> tuple[str, ...]:
    """Return a command line without the folders of a build, and without how long it goes on."""
    program, *words = one.argv
    if "--ops" in words[:-1]:
        at = words.index("--ops")
        del words[at : at + 2]
    return PurePath(program).name, *(word.rpartition("/record/")[2] for word in words)


def same_counts(older: ReportModel, newer: ReportModel) -> tuple[list[CountPair], str]:
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


def same_programs(
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
    """Return whether two tasks of one name are known to run other files."""
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


def same_runs(before: Throughput, after: Throughput, changed: set[str]) -> set[str]:
    """Return the names of the workloads that both timed, by the same recordings and as long.

    With other input a program needs other memory, whatever library it has.
    """
    known = {(one.name, *_input(one.argv)) for one in before.workloads}
    found = (one for one in after.workloads if not _runs_one_of(one.argv, changed))
    return {one.name for one in found if (one.name, *_input(one.argv)) in known}


def _runs_one_of(argv: Sequence[str], changed: set[str]) -> bool:
    """Return whether a command line names one of these programs or files, in whatever folder."""
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


def no_runs(before: Throughput, after: Throughput, changed: set[str]) -> str:
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


def timed_names(throughput: Throughput) -> set[str]:
    """Return the names of the workloads that were timed."""
    return {one.name for one in throughput.workloads}
