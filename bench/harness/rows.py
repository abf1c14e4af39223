"""The rows of a comparison: one workload each, as one table.

`ops` are for one thread and chosen so that a good allocator takes 0.1 to 0.4 s; with more threads
each of them does as much, so equal times mean perfect scaling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pipeline.core.spelling import did_you_mean

K = 1000
M = 1000 * K


@dataclass(frozen=True)
class Row:
    """One workload: a program of bench/ with its options, for each of some numbers of threads."""

    name: str
    program: str
    ops: int
    options: tuple[str, ...] = ()
    threads: tuple[int, ...] = (1, 2)
    count_ops: int = 0
    """Operations for counting instructions under valgrind; 0: the row is not counted."""
    split_slots: int = 0
    """Blocks alive at a time of all threads together, when they must not grow with the threads."""
    warm_mib: int = 0
    """Memory that is written to before each run: rows whose first touch of much memory counts."""


@dataclass(frozen=True)
class Run:
    """One row with one number of threads: what a line of the comparison is about."""

    row: Row
    threads: int

    @property
    def name(self) -> str:
        """Row and threads, as in `queue-8-sizes/2t`."""
        return f"{self.row.name}/{self.threads}t"

    def arguments(self, *, scale: float = 1.0, ops: int | None = None) -> list[str]:
        """Return the program's arguments; `scale` shortens or lengthens it, `ops` overrides."""
        total = ops if ops is not None else max(1, round(self.row.ops * scale)) * self.threads
        arguments = ["--ops", str(total), *self.row.options]
        if self.row.split_slots:
            arguments += ["--slots", str(self.row.split_slots // self.threads)]
        if self.threads != 1:
            arguments += ["--threads", str(self.threads)]
        return arguments


def _patterns(pattern: str, *options: str) -> tuple[str, ...]:
    return ("--pattern", pattern, *options)


def _sizes(low: str, high: str) -> tuple[str, ...]:
    return ("--min-size", low, "--max-size", high)


SPEED: tuple[Row, ...] = (
    *(
        Row(
            f"pingpong-{size}",
            "patterns",
            25 * M,
            _patterns("pingpong", "--size", str(size)),
            count_ops=100 * K,
        )
        for size in (16, 64, 256, 1024)
    ),
    Row("queue-8-sizes", "patterns", 25 * M, _patterns("queue"), count_ops=100 * K),
    Row(
        "batch-fifo",
        "patterns",
        20 * M,
        _patterns("fifo", "--slots", "1000"),
        count_ops=100 * K,
    ),
    Row(
        "batch-lifo",
        "patterns",
        20 * M,
        _patterns("lifo", "--slots", "1000"),
        count_ops=100 * K,
    ),
    Row("tiny-hot", "tiny_hot", 25 * M, count_ops=100 * K),
    *(
        Row(f"random-{name}", "random_mixed", 20 * M, _sizes(low, high), count_ops=100 * K)
        for name, low, high in (
            ("8..128", "8", "128"),
            ("C6", "257", "768"),
            ("C7", "1025", "2048"),
        )
    ),
    Row("random-400", "random_mixed", 20 * M, count_ops=100 * K),
    Row("random-10k", "random_mixed", 10 * M, ("--slots", "10000"), count_ops=100 * K),
    Row("random-1M", "random_mixed", 2 * M, split_slots=M),
    Row(
        "power-law-64K",
        "random_mixed",
        6 * M,
        ("--sizes", "power", "--slots", "4000", *_sizes("16", "64KiB")),
        count_ops=100 * K,
    ),
    Row("server", "server", 400 * K, count_ops=5 * K),
    Row("producer-consumer", "handoff", 3 * M, ("--kind", "pair"), threads=(2,)),
    Row("remote-ring", "handoff", 3 * M, ("--kind", "ring"), threads=(2,)),
    Row("larson", "larson", 10 * M),
    Row("thread-churn", "thread_churn", 5 * K),
    Row("realloc-vector", "realloc_growth", M, ("--kind", "vector"), count_ops=100 * K),
    Row(
        "realloc-string",
        "realloc_growth",
        25 * M,
        ("--kind", "string", *_sizes("16", "4KiB")),
        count_ops=100 * K,
    ),
    Row(
        "realloc-in-place",
        "realloc_growth",
        25 * M,
        ("--kind", "in_place", *_sizes("100", "4KiB")),
        count_ops=100 * K,
    ),
    Row("calloc", "patterns", 25 * M, _patterns("queue", "--call", "calloc"), count_ops=100 * K),
    Row(
        "aligned-64",
        "patterns",
        20 * M,
        _patterns("queue", "--call", "posix_memalign", "--alignment", "64"),
        count_ops=100 * K,
    ),
    Row(
        "buffers-32K-4M",
        "random_mixed",
        40 * K,
        ("--slots", "32", "--sizes", "power", "--touch", "pages", *_sizes("32KiB", "4MiB")),
        warm_mib=512,
    ),
    Row(
        "buffers-whole",
        "random_mixed",
        150,
        ("--slots", "20", "--touch", "all", *_sizes("5MiB", "25MiB")),
        warm_mib=512,
    ),
    Row(
        "huge-8M-256M",
        "random_mixed",
        40 * K,
        ("--slots", "8", "--sizes", "power", *_sizes("8MiB", "256MiB")),
    ),
    Row("mid-large-mt", "mid_large_mt", 4 * M, threads=(2,)),
    *(
        Row(
            f"constant-{size.removesuffix('iB')}",
            "random_mixed",
            2 * M,
            ("--slots", "8", *_sizes(size, size)),
            count_ops=5 * K,
        )
        for size in ("66000", "128KiB", "1MiB", "4MiB")
    ),
    Row("tree", "tree_build", 10 * M, ("--kind", "tree"), count_ops=100 * K),
    Row("graph", "tree_build", 10 * M, ("--kind", "graph"), count_ops=100 * K),
    Row(
        "fragmentation",
        "fragmentation",
        2 * M,
        ("--settle-ms", "2000"),
        threads=(1,),
        warm_mib=512,
    ),
)

MEMORY: tuple[Row, ...] = (
    Row("idle", "idle", 1, ("--slots", "1"), threads=(1,)),
    Row("idle-threads", "idle", 64, threads=(1, 100)),
    Row("spike-1G", "spike", 1, ("--settle-ms", "2000"), threads=(1,)),
    Row("phases", "phases", 1, threads=(1,)),
)
"""Rows in which only memory counts; their time says nothing, or depends on the settling."""

# A trace is played again and again up to this many operations: 0.05 to 0.2 s.
TRACE_OPS = 5 * M

GROUPS: dict[str, tuple[Row, ...]] = {"speed": SPEED, "memory": MEMORY}


def select(groups: Sequence[str], patterns: Iterable[str], threads: Sequence[int]) -> list[Run]:
    """Return the runs of these groups whose name fits one of the patterns (none: all).

    A pattern is a shell pattern for `row` or `row/2t`. `threads` keeps only these numbers of
    threads (none: all). Raises ValueError if a pattern fits nothing.
    """
    runs = [Run(row, count) for group in groups for row in GROUPS[group] for count in row.threads]
    chosen = {run.name for run in runs}
    patterns = list(patterns)
    if patterns:
        chosen = set()
        for pattern in patterns:
            fits = {
                run.name
                for run in runs
                if fnmatchcase(run.name, pattern) or fnmatchcase(run.row.name, pattern)
            }
            if not fits:
                meant = did_you_mean(pattern, sorted({run.row.name for run in runs}))
                raise ValueError(
                    f"no row is called {pattern!r}; {meant or '`bench/compare --list` shows them'}"
                )
            chosen |= fits
    return [run for run in runs if run.name in chosen and (not threads or run.threads in threads)]


def of_traces(files: Iterable[Path]) -> list[Run]:
    """Return a run for each recorded trace; the threads are those of the trace."""
    rows = (
        Row(f"replay-{file.stem}", "replay", TRACE_OPS, ("--trace", str(file.resolve())))
        for file in files
    )
    return [Run(row, 1) for row in rows]
