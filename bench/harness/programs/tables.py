"""What whole programs cost, as one table for each quantity; and results of earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.harness import kept
from bench.harness.results import Comparison, RunResult, geometric_mean
from bench.harness.runner import Sample
from bench.harness.terminal import Cells
from pipeline.core.errors import UsageError


@dataclass(frozen=True)
class Quantity:
    """Something that is measured: its name in the table, where it stands, how it is written."""

    title: str
    key: str
    text: Callable[[float], str]
    per_operation: bool = False

    def of(self, sample: Sample) -> float:
        """Return the quantity of a sample; servers have many operations, programs are one."""
        value = sample.values[self.key]
        return value / sample.values["ops"] if self.per_operation else value


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f}" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def _mib(kib: float) -> str:
    return f"{kib / 1024:.1f}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


QUANTITIES = (
    Quantity("processor time, ms", "cpu_seconds", _time, per_operation=True),
    Quantity("wall time, ms", "seconds", _time, per_operation=True),
    Quantity("peak memory, MiB", "peak_rss_kib", _mib),
    Quantity("mean memory, MiB", "mean_rss_kib", _mib),
    Quantity("page faults", "faults", _count),
    Quantity("context switches", "switches", _count),
)


def has(result: RunResult, quantity: Quantity) -> bool:
    """Return whether every sample of the row has the quantity."""
    samples = [sample for found in result.samples.values() for sample in found]
    return bool(samples) and all(quantity.key in sample.values for sample in samples)


def table(found: Comparison, quantity: Quantity) -> Cells:
    """Return medians by program and allocator; ours over the best peer's at the end.

    The last line has the geometric mean of each one's ratios to the best of the others but ours.
    """
    rows: Cells = [[quantity.title, *found.allocators, "best peer", "ratio"]]
    results = [result for result in found.results if has(result, quantity)]
    rows += [_row(found, result, quantity) for result in results]
    means = {name: _mean(found, results, quantity, name) for name in found.allocators}
    ours = means.get(found.ours or "", "")
    rows.append(["geometric mean of ratios", *means.values(), "", ours])
    return rows if results else []


def _row(found: Comparison, result: RunResult, quantity: Quantity) -> list[str]:
    medians = [result.median(name, quantity.of) for name in found.allocators]
    best = result.best(found.peers, quantity.of)
    cells = ["" if median is None else quantity.text(median) for median in medians]
    return [result.name, *cells, best[0] if best else "", _ratio_cell(found, result, quantity)]


def _ratio_cell(found: Comparison, result: RunResult, quantity: Quantity) -> str:
    if found.ours is None:
        return ""
    ratio = result.ratio(found.ours, found.peers, quantity.of)
    ends = result.interval(found.ours, found.peers, quantity.of)
    tail = f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else ""
    return "" if ratio is None else f"{ratio:.2f}{tail}"


def _mean(found: Comparison, results: list[RunResult], quantity: Quantity, name: str) -> str:
    others = [peer for peer in found.peers if peer != name]
    mean = geometric_mean([result.ratio(name, others, quantity.of) for result in results])
    return "" if mean is None else f"{mean:.2f}"


def tables(found: Comparison) -> list[Cells]:
    """Return a table for each quantity that was measured."""
    return [cells for quantity in QUANTITIES if (cells := table(found, quantity))]


def join(found: Comparison, files: Iterable[Path]) -> Comparison:
    """Return the rows of earlier runs and those of this one; UsageError for other allocators.

    What an earlier run has of a row comes before what this one has of it.
    """
    rows: dict[str, RunResult] = {}
    earlier = [row for file in files for row in _read(file, found.allocators)]
    for result in (*earlier, *found.results):
        row = rows.setdefault(result.name, replace(result, samples={}, failures={}))
        row.failures.update(result.failures)
        for name, samples in result.samples.items():
            row.samples.setdefault(name, []).extend(samples)
    return replace(found, results=tuple(rows.values()))


def _read(file: Path, allocators: tuple[str, ...]) -> tuple[RunResult, ...]:
    earlier = kept.read(file)
    if set(earlier.allocators) != set(allocators):
        raise UsageError(
            f"{file} compares {', '.join(earlier.allocators)}",
            hint="name the same allocators again: --ours, --peer, --only, --newer",
        )
    return earlier.results
