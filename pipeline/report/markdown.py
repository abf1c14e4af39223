"""The Markdown report: fits a pull request, and says the verdict and why in its first sentence."""

from __future__ import annotations

import shlex
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipeline.judge.keys import compare
from pipeline.judge.model import WorkloadCounts, WorkloadThroughput
from pipeline.judge.pressure import PRESSURE_FLOOR
from pipeline.judge.verdict import Verdict
from pipeline.report import text
from pipeline.report.model import ReportModel

TEMPLATE = "report.md.j2"
_WORDS = {
    Verdict.GO: "faster",
    Verdict.NO_GO: "**slower**",
    Verdict.NEUTRAL: "the same",
    Verdict.INCONCLUSIVE: "unclear",
}


def render_markdown(model: ReportModel) -> str:
    """Return the report of ``model`` as GitHub-flavoured Markdown, regressions first."""
    # No escaping of HTML: the text is Markdown, and every value is ours or a program's name.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for name in ("number", "ratio", "change", "ends", "measured", "cell"):
        environment.filters[name] = getattr(text, name)
    environment.filters["word"] = lambda one: _word(model, one)
    return environment.get_template(TEMPLATE).render(
        model=model,
        verify=model.verify,
        workloads=slowest_first(model),
        clocks=" or ".join(sorted({one.clock for one in model.verify.throughput.workloads})),
        counts=worst_counts_first(model.verify.counting.workloads),
        curve=model.verify.counting.curve,
        counted_with=_counted_with(model),
        quotient=text.quotient,
        misses_change=misses_change,
        example=example_line(model),
    )


def slowest_first(model: ReportModel) -> list[WorkloadThroughput]:
    """Return the workloads, the worst ratio first."""
    return sorted(model.verify.throughput.workloads, key=lambda one: one.ratio.value)


def worst_counts_first(workloads: tuple[WorkloadCounts, ...]) -> list[WorkloadCounts]:
    """Return the counted workloads, the largest rise in instructions first, unknown on top."""

    def rise(one: WorkloadCounts) -> float:
        grown = text.quotient(one.baseline.instructions, one.tuned.instructions)
        return float("inf") if grown is None else grown

    return sorted(workloads, key=rise, reverse=True)


def misses_change(counts: WorkloadCounts) -> str:
    """Return the change of I1 misses, unless both sides have next to none."""
    sides = (counts.baseline.i1_misses, counts.tuned.i1_misses)
    if all(side is not None and side.value < PRESSURE_FLOOR for side in sides):
        return "no pressure"
    return text.change(text.quotient(*sides))


def example_line(model: ReportModel) -> str:
    """Return the shell line that repeats one timed run of the worst workload."""
    worst = slowest_first(model)[0]
    words = [f"{name}={shlex.quote(value)}" for name, value in worst.env.items()]
    words.append(f"LD_PRELOAD={shlex.quote(model.verify.tuned.path)}")
    return " ".join([*words, shlex.join(worst.argv)])


def _counted_with(model: ReportModel) -> str:
    """Return the variables that only counted runs have, or nothing."""
    pairs = {pair for one in model.verify.counting.workloads for pair in one.env.items()}
    return ", ".join(f"`{name}={value}`" for name, value in sorted(pairs))


def _word(model: ReportModel, workload: WorkloadThroughput) -> str:
    return _WORDS[compare(workload.ratio, model.verify.margins.throughput)]
