"""Figures of a table by name, and how they follow from what a command of bench/ has written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.harness import judged, kept, report
from bench.harness.results import Comparison, RunResult
from bench.harness.runner import RunFailed, Sample

Samples = dict[str, dict[str, list[Sample]]]
"""By row, then by column."""


@dataclass(frozen=True)
class Figure:
    """How a figure follows from a sample, given ours of the same turn; its decimal places.

    ``of`` gives None where a sample has no such figure. ``whole`` says what a table shows of all.
    """

    of: Callable[[Sample, Sample], float | None]
    digits: int
    whole: Callable[[Sequence[float]], float] = median


def _value(key: str, digits: int, unit: float = 1) -> Figure:
    return Figure(lambda sample, _: sample.values[key] / unit, digits)


def _of_a_thread(key: str) -> Figure:
    return Figure(lambda sample, _: sample.values[key] / sample.values["threads"], 1)


def _of_single_calls(call: str) -> dict[str, Figure]:
    """Return the figures of bench/latency.c: microseconds, the longest also in milliseconds."""
    digits = {"p50": 2, "p99": 2, "p999": 1, "p9999": 0, "max": 0}
    found = {f"{call} {name}": _value(f"{call}_{name}_ns", n, 1e3) for name, n in digits.items()}
    return {**found, f"{call} max, ms": _value(f"{call}_max_ns", 2, 1e6)}


def _slowest_calls() -> dict[str, Figure]:
    """Return the figures of bench/any_size.c: milliseconds, the least that was seen.

    Other work between two looks at the clock can only make a call longer.
    """

    def figure(key: str) -> Figure:
        return Figure(lambda sample, _: sample.values[key] / 1e6, 2, min)

    calls = ("malloc", "calloc", "realloc", "posix_memalign", "free")
    return {f"{call} slowest": figure(f"{call}_max_ns") for call in calls}


def _of_caches() -> dict[str, Figure]:
    """Return the figures of bench/places: misses in thousands, and as a ratio to ours."""

    def ratio(key: str) -> Figure:
        return Figure(lambda sample, ours: sample.values[key] / max(ours.values[key], 1), 2)

    of = {"L2": "l2", "LL": "ll", "TLB": "tlb"}
    share = Figure(lambda one, _: 100 * one.values["l2_blocks"] / max(one.values["l2"], 1), 0)
    return {
        **{f"{name}, thousands": _value(key, 0, 1000) for name, key in of.items()},
        **{f"{name}, ratio": ratio(key) for name, key in of.items()},
        "L2 in blocks, %": share,
    }


def _of_judgements() -> dict[str, Figure]:
    """Return the figures of judgements whose answer is known: how many, and how precise."""

    def figure(key: str, digits: int, whole: Callable[[Sequence[float]], float]) -> Figure:
        return Figure(lambda sample, _: sample.values.get(key), digits, whole)

    return {
        **{key: figure(key, 0, sum) for key in ("judgements", "right", *judged.VERDICTS)},
        "truth missed": figure("truth missed", 0, sum),
        "least change": figure("change", 2, min),
        "change": figure("change", 2, median),
        "most change": figure("change", 2, max),
        "half width": figure("half width", 2, median),
        "pairs": figure("pairs", 0, median),
        "load": figure("load", 1, median),
    }


def _ratio_to_ours(key: str) -> Figure:
    """Return a ratio of something that not each program prints, and none of which may be left."""

    def of(sample: Sample, ours: Sample) -> float | None:
        return sample.values[key] / ours.values[key] if ours.values.get(key) else None

    return Figure(of, 2)


FIGURES = {
    "ns": Figure(lambda sample, _: sample.cpu_ns_per_op, 1),
    "ratio": Figure(lambda sample, ours: sample.cpu_ns_per_op / ours.cpu_ns_per_op, 2),
    "us": Figure(lambda sample, _: sample.cpu_ns_per_op / 1000, 1),
    "MiB": Figure(lambda sample, _: sample.peak_rss_kib / 1024, 1),
    "instructions": _value("instructions", 1),
    "recorded": _value("cpu_ratio", 2),
    "events": _value("events", 0),
    "bytes": _value("bytes_per_event", 2),
    "peak ratio": Figure(lambda sample, ours: sample.peak_rss_kib / ours.peak_rss_kib, 3),
    "ratio after 2 s": _ratio_to_ours("rss_after_2000ms_kib"),
    "end MiB": _value("rss_kib", 1, 1024),
    "MiB after 1 s": _value("rss_after_1000ms_kib", 0, 1024),
    "MiB after 2 s": _value("rss_after_2000ms_kib", 0, 1024),
    "KiB a thread": _of_a_thread("rss_after_0ms_kib"),
    "KiB a thread after 2 s": _of_a_thread("rss_after_2000ms_kib"),
    "KiB a thread, trimmed": _of_a_thread("rss_trimmed_kib"),
    "madvise": _value("madvise", 0),
    **_of_single_calls("malloc"),
    **_of_single_calls("free"),
    **_slowest_calls(),
    "refused": _value("refused", 0),
    **_of_caches(),
    **_of_judgements(),
}
"""Times are processor time; a ratio is that to ours within a turn."""


def of_comparison(file: Path) -> tuple[Samples, str | None]:
    """Return what bench/compare wrote, and who is ours. Raises RunFailed where something failed."""
    found = _whole(kept.read(file))
    return {row.name: _with_calls(row) for row in found.results}, found.ours


def of_memory(file: Path) -> tuple[Samples, str | None]:
    """Return what bench/memory wrote, as rows `ROW, SETTING`, and who is ours."""
    settings = json.loads(file.read_text(encoding="utf-8"))["settings"]
    found = {name: _whole(kept.comparison(one)) for name, one in settings.items()}
    first = next(iter(found.values()))
    rows = {
        f"{row.name}, {name}": one.results[number].samples
        for number, row in enumerate(first.results)
        for name, one in found.items()
    }
    return rows, first.ours


def _whole(found: Comparison) -> Comparison:
    if failed := report.failures(found):
        raise RunFailed("\n".join(failed))
    return found


def _with_calls(row: RunResult) -> dict[str, list[Sample]]:
    """Return the samples; system calls are counted in one run, and stand in each."""
    return {
        name: [Sample({**row.calls.get(name, {}), **sample.values}) for sample in samples]
        for name, samples in row.samples.items()
    }


def of_instructions(file: Path) -> tuple[Samples, None]:
    """Return what bench/instructions wrote."""
    counted = json.loads(file.read_text(encoding="utf-8"))
    return {
        row: {name: [Sample(one)] for name, one in found.items()} for row, found in counted.items()
    }, None


def of_recording(file: Path) -> tuple[Samples, None]:
    """Return what bench/recorded wrote; the row is named by the recipe."""
    pairs = json.loads(file.read_text(encoding="utf-8"))
    return {"": {"recorded": [Sample(pair) for pair in pairs]}}, None


def of_places(file: Path) -> tuple[Samples, str]:
    """Return what bench/places wrote; its columns are the placements, ours is that of today."""
    misses = json.loads(file.read_text(encoding="utf-8"))
    return {"": {name: [Sample(one)] for name, one in misses.items()}}, next(iter(misses))


def of_judgements(file: Path) -> tuple[Samples, None]:
    """Return what bench/verdict_rates wrote, a row for each kind of judgement."""
    ones = judged.read(file)
    kinds = [kind for kind in judged.RIGHT if any(one.kind == kind for one in ones)]
    return {
        kind: {"judge": [Sample(judged.figures(one)) for one in ones if one.kind == kind]}
        for kind in kinds
    }, None


READERS: dict[str, Callable[[Path], tuple[Samples, str | None]]] = {
    "bench/compare": of_comparison,
    "bench/programs": of_comparison,
    "bench/memory": of_memory,
    "bench/instructions": of_instructions,
    "bench/recorded": of_recording,
    "bench/places": of_places,
    "bench/verdict_rates": of_judgements,
}
"""By the command that wrote the file."""
