"""What the Markdown and the HTML templates are given.

It arranges and names what the model says; it adds no facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import getmembers, isfunction
from typing import Any

from pipeline.judge.headline import brief
from pipeline.judge.keys import compare, shown
from pipeline.judge.outcome import Outcome, how_fast, memory_of, speed_of
from pipeline.report import text
from pipeline.report.contents import contents
from pipeline.report.explained import (
    confidence,
    counted_with,
    measured_and_found,
    none_shown,
    said_elsewhere,
    what_counts,
)
from pipeline.report.in_tree import example_lines
from pipeline.report.model import ReportModel
from pipeline.report.opening import opening, opening_sentences, paired
from pipeline.report.repeat import commands, judged_again
from pipeline.report.rows import (
    anchored,
    biggest_first,
    changed_functions,
    misses_change,
    more_counts,
    slowest_first,
    undecided,
    worst_counts_first,
)
from pipeline.report.unmeasured import anchors, limits, unmeasured
from pipeline.report.what_next import harmless, next_command, not_current

_CLOCKS = {"cpu": "CPU", "wall": "wall"}


def filters() -> Mapping[str, Callable[..., object]]:
    """Return the filters of all templates: all that text.py knows of how numbers are written."""
    return dict(getmembers(text, isfunction))


def values(model: ReportModel) -> dict[str, Any]:
    """Return what all templates are given."""
    return {
        "model": model,
        "verify": model.verify,
        **_opening(model),
        **_throughput(model),
        **_counting(model),
        **_code(model),
        **_unknown(model),
        **_next(model),
    }


def _opening(model: ReportModel) -> dict[str, Any]:
    return {
        "brief": brief(model.verify),
        "headline": opening(model),
        "contents": contents(model),
        "sentences": opening_sentences(model),
        "harmless": harmless(model),
        "not_current": not_current(model),
        "measured_and_found": measured_and_found,
        "said_elsewhere": lambda one: said_elsewhere(one, model),
    }


def _throughput(model: ReportModel) -> dict[str, Any]:
    result, timed = model.verify, model.verify.throughput
    margin = result.margins.throughput
    return {
        "workloads": slowest_first(model),
        "word": lambda one: speed_of(one, result),
        "slower": lambda one: how_fast(one, result) is Outcome.WORSE,
        "memory_word": lambda one: memory_of(one, result) or "unknown",
        "shown": lambda one: shown(one, timed),
        "verdict_of": lambda one: compare(shown(one, timed), margin),
        "alone": timed.alone,
        "clocks": " or ".join(sorted({_CLOCKS[one.clock] for one in timed.workloads})),
        "paired": paired(model),
        "confidence": confidence(timed),
    }


def _counting(model: ReportModel) -> dict[str, Any]:
    counted = model.verify.counting.workloads
    return {
        "counts": worst_counts_first(counted),
        "more_counts": more_counts(counted),
        "counted_with": counted_with(model),
        "quotient": text.quotient,
        "misses_change": misses_change,
    }


def _code(model: ReportModel) -> dict[str, Any]:
    return {
        "functions": biggest_first(model.functions),
        "what_counts": what_counts(model),
        "anchored": anchored,
        "changed": changed_functions(model.previous) if model.previous else [],
    }


def _unknown(model: ReportModel) -> dict[str, Any]:
    return {
        "unmeasured": unmeasured(model),
        "absent": anchors(model),
        "limits": limits(model),
        "none_shown": none_shown(model),
        "all_decided": not (model.previous and undecided(model.previous)),
    }


def _next(model: ReportModel) -> dict[str, Any]:
    return {
        "example": "\n".join(example_lines(model)),
        "commands": commands(model),
        "judged_again": judged_again(model),
        "next_step": next_command(model),
    }
