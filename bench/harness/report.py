"""Renders a comparison: JSON with every sample, Markdown, and tables for the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from bench.harness.circumstances import is_busy
from bench.harness.results import SCHEMA_VERSION, Comparison, RunResult, spread
from bench.harness.runner import Sample
from bench.harness.terminal import Cells, print_table
from pipeline.core.files import replace_text

Found = TypeVar("Found")


def write_files(
    found: Found,
    plain: tuple[Path | None, Callable[[Found], object]],
    page: tuple[Path | None, Callable[[Found], str]],
) -> None:
    """Make JSON and Markdown of what was found, each where a file was asked for, and write them."""
    json_file, as_plain = plain
    if json_file:
        replace_text(json_file, json.dumps(as_plain(found), separators=(",", ":")) + "\n")
    markdown_file, as_page = page
    if markdown_file:
        replace_text(markdown_file, as_page(found))


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything as plain dictionaries and lists, for json.dump."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ours": comparison.ours,
        "ratios_by": comparison.by,
        "allocators": list(comparison.allocators),
        "aside": list(comparison.aside),
        "environment": dict(comparison.environment),
        "geometric_means": {
            name: {"time": comparison.time_mean(name), "peak_rss": comparison.rss_mean(name)}
            for name in comparison.allocators
        },
        "rows": [_row_as_json(comparison, result) for result in comparison.results],
    }


def _row_as_json(comparison: Comparison, result: RunResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "timed": result.timed,
        "allocators": {
            name: {
                "time_ratio": comparison.time_ratio(result, name) if result.timed else None,
                "time_interval": (
                    comparison.time_interval(result)
                    if result.timed and name == comparison.ours
                    else None
                ),
                "rss_ratio": comparison.rss_ratio(result, name),
                "failure": result.failures.get(name),
                "memory_calls": result.calls.get(name),
                "samples": [dict(sample.values) for sample in result.samples.get(name, [])],
            }
            for name in comparison.allocators
        },
    }


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _ratio_cell(ratio: float | None, ends: tuple[float, float] | None) -> str:
    return _ratio(ratio) if ends is None else f"{_ratio(ratio)} [{ends[0]:.2f}, {ends[1]:.2f}]"


def _time_cell(result: RunResult, name: str, time_of: Callable[[Sample], float]) -> str:
    if name in result.failures:
        return "failed"
    if not result.measured(name):
        return ""
    found = spread(result.samples[name], time_of)
    return f"{_number(found.median)} ±{found.relative * 50:.0f} %"


def short_cell(comparison: Comparison, result: RunResult, name: str) -> str:
    """Median time, or memory where only that counts, for a line of progress."""
    if name in result.failures:
        return "failed"
    if result.timed:
        median = result.median(name, comparison.time_of)
        return "-" if median is None else _number(median)
    peak = result.median(name, lambda sample: sample.peak_rss_kib)
    return "-" if peak is None else f"{peak / 1024:.1f} MiB"


def time_table(comparison: Comparison) -> Cells:
    """Nanoseconds per operation: median and half the spread; ours over the best peer at the end."""
    header = [f"{comparison.by} ns per operation", *comparison.allocators, "best peer", "ratio"]
    rows: Cells = [header]
    for result in (result for result in comparison.results if result.timed):
        best = result.best(comparison.peers, comparison.time_of)
        ratio = comparison.time_ratio(result, comparison.ours) if comparison.ours else None
        cells = [_time_cell(result, name, comparison.time_of) for name in comparison.allocators]
        ours = _ratio_cell(ratio, comparison.time_interval(result))
        rows.append([result.name, *cells, best[0] if best else "", ours])
    return [*rows, _mean_row(comparison, "time")]


def _mean_row(comparison: Comparison, what: str) -> list[str]:
    mean = comparison.time_mean if what == "time" else comparison.rss_mean
    cells = [_ratio(mean(name)) for name in comparison.allocators]
    ours = _ratio(mean(comparison.ours)) if comparison.ours else ""
    return ["geometric mean of ratios", *cells, "", ours]


def memory_table(comparison: Comparison) -> Cells:
    """Peak resident memory in MiB; ours over the leanest of LEAN_FAMILIES, where there is one."""
    rows: Cells = [["peak RSS, MiB", *comparison.allocators, "leanest of four", "ratio"]]
    for result in comparison.results:
        lean = result.best(comparison.lean_peers, lambda sample: sample.peak_rss_kib)
        medians = [
            result.median(name, lambda sample: sample.peak_rss_kib)
            for name in comparison.allocators
        ]
        ratio = comparison.rss_ratio(result, comparison.ours) if comparison.ours else None
        cells = ["" if median is None else f"{median / 1024:.1f}" for median in medians]
        rows.append([result.name, *cells, lean[0] if lean else "", _ratio(ratio)])
    if not comparison.lean_peers:
        return [row[:-2] for row in rows]
    return [*rows, _mean_row(comparison, "rss")]


def other_time_table(comparison: Comparison) -> Cells:
    """Medians of the time that the ratios are not about: of all threads, or by the wall clock."""
    other = replace(comparison, by="cpu" if comparison.by == "wall" else "wall")
    rows: Cells = [[f"{other.by} ns per operation", *other.allocators]]
    for result in (result for result in other.results if result.timed):
        medians = [result.median(name, other.time_of) for name in other.allocators]
        rows.append([result.name, *("" if m is None else _number(m) for m in medians)])
    return rows


def scaling_table(comparison: Comparison) -> Cells:
    """How many times one thread's work several threads do in the same time.

    By processor time: as if each had a processor of its own, whatever else the machine did.
    """
    rows: Cells = [[f"times one thread, by {comparison.by}", *comparison.allocators]]
    found = {result.name: result for result in comparison.results if result.timed}
    for result in found.values():
        row, _, threads = result.name.rpartition("/")
        single = found.get(f"{row}/1t")
        if single is None or single is result:
            continue
        times = int(threads.removesuffix("t")) if comparison.by == "cpu" else 1
        ratios = [_scaling(comparison, single, result, name) for name in comparison.allocators]
        rows.append([result.name, *("" if r is None else f"{r * times:.2f}" for r in ratios)])
    return rows if len(rows) > 1 else []


def _scaling(comparison: Comparison, one: RunResult, more: RunResult, name: str) -> float | None:
    alone, together = (result.median(name, comparison.time_of) for result in (one, more))
    return alone / together if alone is not None and together else None


def latency_table(comparison: Comparison) -> Cells:
    """99th percentile of latency, where a row reports it; ours over the best peer at the end."""
    rows: Cells = [["p99 latency, µs", *comparison.allocators, "best peer", "ratio"]]
    for result in comparison.results:
        samples = [sample for found in result.samples.values() for sample in found]
        if not all("p99_us" in sample.values for sample in samples):
            continue
        cells = [_time_cell(result, name, _p99) for name in comparison.allocators]
        best = result.best(comparison.peers, _p99)
        ours = comparison.ours
        ratio = result.ratio(ours, comparison.peers, _p99) if ours else None
        rows.append([result.name, *cells, best[0] if best else "", _ratio(ratio)])
    return rows if len(rows) > 1 else []


def _p99(sample: Sample) -> float:
    return sample.values["p99_us"]


def extra_table(comparison: Comparison) -> Cells:
    """Medians in MiB of what rows report about memory beyond the peak."""
    rows: Cells = [["memory, MiB", *comparison.allocators]]
    for result in comparison.results:
        for key in _memory_keys(result):
            medians = [result.median_of(name, key) for name in comparison.allocators]
            cells = ["" if m is None else f"{m / 1024:.1f}" for m in medians]
            rows.append([f"{result.name} {key.removesuffix('_kib')}", *cells])
    return rows if len(rows) > 1 else []


def _memory_keys(result: RunResult) -> list[str]:
    """Return the keys of the first sample, in its order, that go beyond what every row has."""
    first = next((samples[0] for samples in result.samples.values() if samples), None)
    usual = {"peak_rss_kib", "tables_kib", "huge_kib"}
    if result.timed:
        usual |= {"rss_kib", "anon_kib"}
    return [
        key for key in (first.values if first else ()) if key.endswith("_kib") and key not in usual
    ]


def calls_table(comparison: Comparison) -> Cells:
    """System calls for memory in one run, where they were counted."""
    rows: Cells = [["calls in one run", *comparison.allocators]]
    for result in comparison.results:
        for call in sorted({call for found in result.calls.values() for call in found}):
            cells = [str(result.calls.get(name, {}).get(call, 0)) for name in comparison.allocators]
            rows.append([f"{result.name} {call}", *cells])
    return rows if len(rows) > 1 else []


def means(comparison: Comparison) -> str:
    """Return against what the means of the other allocators are: ours is not among it."""
    return (
        f"Means of other allocators are against the best of the rest, `{comparison.ours}` left out."
    )


def tables(comparison: Comparison) -> list[Cells]:
    """Return all tables that have something to say."""
    timed = any(result.timed for result in comparison.results)
    found = [time_table(comparison), other_time_table(comparison)] if timed else []
    found.append(scaling_table(comparison))
    found.append(latency_table(comparison))
    found.append(memory_table(comparison))
    found.append(extra_table(comparison))
    found.append(calls_table(comparison))
    return [cells for cells in found if cells]


def failures(comparison: Comparison) -> list[str]:
    """Return one line for each allocator that failed in a row."""
    return [
        f"{result.name}: {name}: {why}"
        for result in comparison.results
        for name, why in result.failures.items()
    ]


def as_markdown(comparison: Comparison) -> str:
    """Return the tables and the circumstances as Markdown."""
    parts = ["# Comparison of allocators", ""]
    parts += _circumstances(comparison.environment)
    for cells in tables(comparison):
        parts += ["", *markdown_table(cells)]
    failed = failures(comparison)
    if failed:
        parts += ["", "Failed:", "", *(f"- {line}" for line in failed)]
    return "\n".join(parts) + "\n"


def _circumstances(environment: Mapping[str, object]) -> Iterator[str]:
    for key, value in environment.items():
        yield f"- {key}: {value:.3g}" if isinstance(value, float) else f"- {key}: {value}"
        if key == "load before" and is_busy(float(str(value)), int(str(environment["processors"]))):
            yield "- that is a busy machine: look at the spreads"


def markdown_table(cells: Cells) -> list[str]:
    """Return the lines of a table whose first row is its header; numbers to the right."""
    rule = "| --- " + "| ---: " * (len(cells[0]) - 1) + "|"
    return [_markdown_line(cells[0]), rule, *map(_markdown_line, cells[1:])]


def _markdown_line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def print_tables(comparison: Comparison, console: Console) -> None:
    """Print all tables to the terminal."""
    for cells in tables(comparison):
        print_table(cells, console)
    if comparison.ours and len(comparison.peers) > 1:
        console.print(means(comparison), markup=False, highlight=False)
    for line in failures(comparison):
        console.print(f"failed: {line}", markup=False)
