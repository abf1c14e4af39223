"""What the Markdown and the HTML templates share: the order of rows, and words for verdicts.

It arranges and names what the model says; it adds no facts.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import getmembers, isfunction
from typing import Any

from pipeline.core.variant import PRODUCTION, asked_for, line_of
from pipeline.judge.advice import kept, next_step, same_build, to_decide
from pipeline.judge.counts import LibraryCounts, WorkloadCounts
from pipeline.judge.headline import brief, remarks, sentences, unclear_alone
from pipeline.judge.keys import compare, percent, shown
from pipeline.judge.model import Key, VerifyResult
from pipeline.judge.outcome import Outcome, how_fast, memory_of, speed_of
from pipeline.judge.pressure import PRESSURE_FLOOR
from pipeline.judge.samples import Throughput, WorkloadThroughput
from pipeline.judge.statistics import ALPHA
from pipeline.judge.topic import KEYS
from pipeline.report import text
from pipeline.report.code_model import FunctionRow
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.contents import contents
from pipeline.report.facts import UNCOUNTED
from pipeline.report.in_tree import example_lines, in_tree
from pipeline.report.model import Finding, ReportModel
from pipeline.report.unmeasured import anchors, limits, unmeasured

FEW_NAMES = 6
_CLOCKS = {"cpu": "CPU", "wall": "wall"}
_MORE_COUNTS = (
    ("branches", "branches"),
    ("branch_misses", "branch misses"),
    ("cycles", "cycles"),
    ("instructions_per_cycle", "instructions per cycle"),
    ("itlb_misses", "iTLB misses"),
    ("l1d_misses", "L1D misses"),
    ("dtlb_misses", "dTLB misses"),
)


def filters() -> Mapping[str, Callable[..., object]]:
    """Return the filters of all templates: all that text.py knows of how numbers are written."""
    return dict(getmembers(text, isfunction))


def values(model: ReportModel) -> dict[str, Any]:
    """Return what all templates are given."""
    margin, timed = model.verify.margins.throughput, model.verify.throughput.workloads
    return {
        "model": model,
        "verify": model.verify,
        "workloads": slowest_first(model),
        "word": lambda one: speed_of(one, model.verify),
        "slower": lambda one: how_fast(one, model.verify) is Outcome.WORSE,
        "memory_word": lambda one: memory_of(one, model.verify) or "unknown",
        "shown": lambda one: shown(one, model.verify.throughput),
        "verdict_of": lambda one: compare(shown(one, model.verify.throughput), margin),
        "alone": model.verify.throughput.alone,
        "clocks": " or ".join(sorted({_CLOCKS[one.clock] for one in timed})),
        "counts": worst_counts_first(model.verify.counting.workloads),
        "more_counts": more_counts(model.verify.counting.workloads),
        "counted_with": _counted_with(model),
        "quotient": text.quotient,
        "misses_change": misses_change,
        "functions": biggest_first(model.functions),
        "measured_and_found": measured_and_found,
        "what_counts": what_counts(model),
        "anchored": anchored,
        "changed": changed_functions(model.previous) if model.previous else [],
        "unmeasured": unmeasured(model),
        "absent": anchors(model),
        "limits": limits(model),
        "paired": paired(model),
        "harmless": harmless(model),
        "confidence": confidence(model.verify.throughput),
        "none_shown": none_shown(model),
        "all_decided": not (model.previous and undecided(model.previous)),
        "brief": brief(model.verify),
        "headline": opening(model),
        "contents": contents(model),
        "sentences": opening_sentences(model),
        "said_elsewhere": lambda one: said_elsewhere(one, model),
        "example": "\n".join(example_lines(model)),
        "commands": commands(model),
        "judged_again": judged_again(model),
        "next_step": next_command(model),
        "not_current": not_current(model),
    }


def not_current(model: ReportModel) -> str:
    """Return why a version was not made current when it was published, and what does it; or ""."""
    if not model.stays:
        return ""
    said = f"not made current when it was published: {model.stays}"
    if model.rejected:
        return said
    line = line_of(model.profile, model.variant)
    return f"{said}; `.venv/bin/pipeline rollback -p {line} --to {model.version}` makes it current"


def next_command(model: ReportModel) -> str:
    """Return what to do about a build that is not published or decided; "" for nothing.

    Whoever rejected it has decided.
    """
    if model.rejected:
        return ""
    if model.withheld:
        return "the same build without `--no-publish` and `--from` publishes it as it was judged"
    if model.stays and model.previous is not None and model.previous.worse_overall:
        return _settle(model, model.previous.version)
    line = line_of(model.profile, model.variant)
    if model.published:
        said = to_decide(model.verify, line, same_build(_asked(model)))
    else:
        said = next_step(model.verify, line, _options(model))
    return "; ".join(filter(None, (against_before(model), said)))


def against_before(model: ReportModel) -> str:
    """Return what tells whether a refused build is slower than the version before; "" for no need.

    Its baseline is built from the same sources: what makes both slower, the verdict does not show.
    """
    if model.published or model.previous is None or not model.previous.worse_overall:
        return ""
    before = model.previous.version
    return f"{_directly(model, before)} tells whether it is slower than {before}"


def _directly(model: ReportModel, before: str) -> str:
    line = line_of(model.profile, model.variant)
    return f"`.venv/bin/pipeline diff -p {line} {before} {model.version} --measure`"


def _asked(model: ReportModel) -> list[str]:
    """Return the words of the command that made the build."""
    return shlex.split((model.source and model.source.command) or "")


def _options(model: ReportModel) -> list[str]:
    """Return the options of that command, without what names the profile: it is named anew."""
    words, left = iter(_asked(model)[2:]), list[str]()
    for word in words:
        if word in ("--profile", "--variant"):
            next(words)
        elif word != "--no-publish":
            left.append(word)
    return left


def _settle(model: ReportModel, before: str) -> str:
    """Return what settles whether a version is worse than the one that was current."""
    line = line_of(model.profile, model.variant)
    return (
        f"{_directly(model, before)} judges the two against each other; "
        f"`.venv/bin/pipeline reject -p {line} {model.version} --reason WHY` "
        "refuses this one for good"
    )


def harmless(model: ReportModel) -> str:
    """Return why a build with regressions passed; "" where it has none, or did not pass."""
    worse = any(one.kind == "regression" for one in model.findings)
    if not (worse and model.passed) or model.rejected:
        return ""
    refuse = "do not publish it" if model.withheld else "reject the version"
    return (
        "what got worse did not stop this build; docs/verdicts.md says what does. "
        f"If you do not want it, {refuse}"
    )


def paired(model: ReportModel) -> str:
    """Return what the two columns are: else readers divide them, and wonder."""
    plain, command, *rest = paired_lines(model)
    return " ".join((plain, f"{command}.", *rest))


def paired_lines(model: ReportModel) -> tuple[str, ...]:
    """Return the same line by line; a command has one of its own."""
    return (
        "The baseline is this library built with -O2 and no profile. It is not the malloc that you "
        "have. This compares with that; with `-- YOUR-PROGRAM` behind it, in a program of yours:",
        f"`{against_libc(model)}`",
        "Speed: the baseline is 1, and more is faster. The interval is that of the pairs.",
        "Memory: both columns are medians; their change is the median over the pairs.",
    )


def against_libc(model: ReportModel) -> str:
    """Return the command that compares with libc, on the workloads that the build was judged by."""
    command = ".venv/bin/pipeline versus"
    if model.published:
        return f"{command} libc {line_of(model.profile, model.variant)}:{model.version}"
    return f"{command} -p {model.profile} libc {in_tree(model.verify.tuned.path)}"


def opening(model: ReportModel) -> str:
    """Return the verdict in words; of a variant also what its baseline is, and what it costs."""
    return " ".join(opening_sentences(model))


def opening_sentences(model: ReportModel) -> list[str]:
    """Return the same sentence by sentence."""
    return _of_variant(model, sentences(model.verify))


def untabled(model: ReportModel) -> str:
    """Return what of it no table of the terminal has."""
    return " ".join(_of_variant(model, remarks(model.verify)))


def _of_variant(model: ReportModel, said: list[str]) -> list[str]:
    if model.variant == PRODUCTION:
        return said
    cost = model.cost.sentence if model.cost else "What it costs against production is unknown."
    kind = model.variant
    return [f"{kind.capitalize()}; its baseline is the plain {kind} build.", *said, cost]


def measured_and_found(key: Key) -> str:
    """Return what a key measures, then its reason, without naming the same quantity twice."""
    start, found, rest = key.reason.partition(percent(key.ratio.value) if key.ratio else "unknown")
    named = set(start.split()) <= set(key.measure.replace(",", "").split())
    if found and named:
        return f"{key.measure}: {found}{rest}"
    return f"{text.sentence(key.measure)} {text.sentence(key.reason)}"


def said_elsewhere(finding: Finding, model: ReportModel) -> bool:
    """Tell whether the verdict's sentence or a key gives this detail already, in its own place."""
    return finding.topic is not None and finding.topic in (*KEYS, *model.quotes)


def slowest_first(model: ReportModel) -> list[WorkloadThroughput]:
    """Return the workloads, real programs before loops, of each kind the worst ratio first."""

    def place(one: WorkloadThroughput) -> tuple[bool, float]:
        return one.kind != "program", one.ratio.value

    return sorted(model.verify.throughput.workloads, key=place)


def worst_counts_first(workloads: tuple[WorkloadCounts, ...]) -> list[WorkloadCounts]:
    """Return the counted workloads, the largest rise in instructions first, unknown on top."""

    def rise(one: WorkloadCounts) -> float:
        grown = text.quotient(one.baseline.instructions, one.tuned.instructions)
        return float("inf") if grown is None else grown

    return sorted(workloads, key=rise, reverse=True)


def more_counts(workloads: tuple[WorkloadCounts, ...]) -> list[tuple[str, str]]:
    """Return field and name of the further counts that at least one workload has."""

    def has(side: LibraryCounts, field: str) -> bool:
        return getattr(side, field) is not None

    return [
        (field, name)
        for field, name in _MORE_COUNTS
        if any(has(one.baseline, field) or has(one.tuned, field) for one in workloads)
    ]


def misses_change(counts: WorkloadCounts) -> str:
    """Return the change of I1 misses, unless both sides have next to none."""
    sides = (counts.baseline.i1_misses, counts.tuned.i1_misses)
    if all(side is not None and side.value < PRESSURE_FLOOR for side in sides):
        return "next to none"
    return text.change(text.quotient(*sides))


def biggest_first(functions: tuple[FunctionRow, ...]) -> list[FunctionRow]:
    """Return the functions with the largest count first, and last those that are gone."""
    return sorted(functions, key=lambda row: (row.after is None, -(row.count or 0)))


def what_counts(model: ReportModel) -> str:
    """Return what the counts of functions are, and what they are not."""
    if model.code is None or model.code[1].counted_by == UNCOUNTED:
        return ""
    return (
        f"The count: {model.code[1].counted_by}, over all workloads of the training by their "
        "weights. It is of the function alone, without those it calls, and neither time nor "
        "instructions. What was inlined counts with the function that holds it"
    )


def changed_functions(comparison: Comparison) -> list[FunctionRow]:
    """Return the functions that came, went, or changed in size or section; the hottest first."""

    def changed(row: FunctionRow) -> bool:
        if row.before is None or row.after is None:
            return True
        return (row.before.size, row.before.section) != (row.after.size, row.after.section)

    return sorted(filter(changed, comparison.functions), key=lambda row: -(row.count or 0))


def undecided(comparison: Comparison) -> list[ComparedRow]:
    """Return the quantities of two versions that could not be compared, or not be told apart."""
    return [row for row in comparison.rows if row.judgement in ("unclear", "unknown")]


def confidence(timed: Throughput) -> str:
    """Return at what level the intervals are, and why that is not the same in all reports."""
    whole = timed.overall.confidence
    single = min(one.ratio.confidence for one in timed.workloads)
    at = f"an interval of speed is at {text.percent(whole)}"
    if not timed.alone:
        at = (
            f"an interval over several workloads is at {text.percent(whole)}, one of a single "
            f"workload at {text.percent(single, 2)} or more, as all of those hold together"
        )
    often = "once" if timed.looks == 1 else f"{timed.looks} times"
    return (
        f"the judge looked {often}. All its looks together may err in "
        f"{text.percent(ALPHA, 0)} of builds. So {at}"
    )


def none_shown(model: ReportModel) -> str:
    """Return where no regression was shown, and how much nobody could say."""
    timed = [one.name for one in model.verify.throughput.workloads]
    counted = [one.name for one in model.verify.counting.workloads]
    counted += [one.name for one in model.verify.programs if one.status == "counted"]
    said = f"{text.many(len(timed), 'timed workload')}{_named(timed)}{_open(model.verify)}"
    said = f"{said} and {len(counted)} counted{_named(counted)}"
    if model.previous is None:
        return f"in {said}"
    undecided_ = len(undecided(model.previous))
    against = f"in {said}, nor against {model.previous.version}"
    if not undecided_:
        return against
    return f"{against}, where {undecided_} of {len(model.previous.rows)} rows could not be decided"


def _open(result: VerifyResult) -> str:
    """Say in brackets how many single workloads nobody can speak of; "" for none."""
    unclear = unclear_alone(result)
    whom = "itself" if unclear == 1 else "themselves"
    return f" ({unclear} of them undecided by {whom})" if unclear else ""


def _named(names: Sequence[str]) -> str:
    """Return a few names in brackets; many stand in the tables below."""
    return f" ({', '.join(names)})" if 0 < len(names) <= FEW_NAMES else ""


def anchored(functions: Iterable[FunctionRow]) -> Iterator[tuple[str | None, FunctionRow]]:
    """Yield each row with the anchor that others link to: the first of a name."""
    seen: set[str] = set()
    for row in functions:
        yield (None if row.name in seen else anchor(row.name)), row
        seen.add(row.name)


def anchor(function: str) -> str:
    """Return the id of a function's row."""
    return f"fn-{function}"


def commands(model: ReportModel) -> list[str]:
    """Return the shell lines that make the same build, from a clone on."""
    source = model.source
    if source is None:
        return [f"./bootstrap build --profile {model.profile}"]
    lines = []
    if source.commit:
        changed = "" if source.clean else f"   # and what was not committed{_files(source.changed)}"
        lines.append(f"git checkout {source.commit}{changed}")
    return [*lines, *([source.command] if source.command else [])]


def judged_again(model: ReportModel) -> str:
    """Return the shell line that judges the same build again, in the tree."""
    quick = ["--quick"] if model.verify.mode == "quick" else []
    asked = kept(_asked(model), "--cpu", "--verify-time")
    words = [asked_for(line_of(model.profile, model.variant)), *asked, *quick]
    return f".venv/bin/pipeline build --profile {' '.join(words)} --from verify"


def _files(changed: Sequence[str]) -> str:
    return f": {text.first_of(changed, FEW_NAMES)}" if changed else ""


def _counted_with(model: ReportModel) -> list[str]:
    """Return the variables that only counted runs have."""
    pairs = {pair for one in model.verify.counting.workloads for pair in one.env.items()}
    return [f"{name}={value}" for name, value in sorted(pairs)]
