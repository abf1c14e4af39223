"""The command bench/memory: resident memory under each setting of transparent huge pages.

An allocator that lays its memory out for huge pages looks frugal where the system gives none, and
holds several times as much where it gives them to everybody; idle programs and idle threads show
it best. So every row runs under `always`, `madvise` and `never`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console

from bench.harness import options, report
from bench.harness.arguments import (
    Chosen,
    check_outputs,
    find_programs,
    takes_allocators,
)
from bench.harness.circumstances import huge_pages
from bench.harness.compare import Plan, compare, exit_code
from bench.harness.results import Comparison, RunResult
from bench.harness.rows import GROUPS, select
from bench.harness.terminal import Cells, print_table, terminal
from pipeline.core import interrupts

SCHEMA_VERSION = 1
SETTINGS = ("always", "madvise", "never")
ROWS = ("idle/1t", "idle-threads/1t", "idle-threads/100t", "random-10k/1t")
"""What runs when no row is named: the last one works, the others wait."""
FIGURES = {"peak_rss_kib": "peak", "rss_kib": "end"}
"""Keys of a program's line, and what the tables call them."""

EXAMPLES = """\b
Examples:
  bench/memory --ours hakmem=build/clang/lib/libhakmem.so
  bench/memory --ours hakmem=LIB --also huge=LIB,HAKMEM_HUGE_PAGES=2 \\
    --thp always
  bench/memory --ours hakmem=LIB --row 'spike*' -n 1 --json memory.json"""

Found = Mapping[str, Comparison]
"""Setting of transparent huge pages -> what was measured under it."""


def _ratio(found: Comparison, result: RunResult, key: str) -> float | None:
    if found.ours is None:
        return None
    return result.ratio(found.ours, found.lean_peers, lambda sample: sample.values[key])


def _row(setting: str, found: Comparison, result: RunResult, key: str) -> list[str]:
    medians = [result.median_of(name, key) for name in found.allocators]
    lean = result.best(found.lean_peers, lambda sample: sample.values[key])
    ratio = _ratio(found, result, key)
    return [
        f"{result.name} {FIGURES[key]}, {setting}",
        *("" if median is None else f"{median / 1024:.1f}" for median in medians),
        lean[0] if lean else "",
        "" if ratio is None else f"{ratio:.2f}",
    ]


def table(found: Found) -> Cells:
    """Return a line for each row, figure and setting, in MiB; ours over the leanest at the end."""
    first = next(iter(found.values()))
    rows: Cells = [["RSS, MiB", *first.allocators, "leanest", "ratio"]]
    for number in range(len(first.results)):
        for key in FIGURES:
            for setting, comparison in found.items():
                if number < len(comparison.results):  # else it was interrupted
                    rows.append(_row(setting, comparison, comparison.results[number], key))
    return rows


def as_json(found: Found) -> dict[str, object]:
    """Return everything as plain dictionaries and lists, by setting."""
    settings = {setting: report.as_json(comparison) for setting, comparison in found.items()}
    return {"schema_version": SCHEMA_VERSION, "settings": settings}


def as_markdown(found: Found) -> str:
    """Return the circumstances and the table as Markdown."""
    environment = next(iter(found.values())).environment
    kept = {key: value for key, value in environment.items() if "huge pages" not in key}
    lines = ["# Memory under transparent huge pages", ""]
    lines += [f"- {key}: {value}" for key, value in kept.items()]
    return "\n".join([*lines, "", *report.markdown_table(table(found))]) + "\n"


def measure(plan: Plan, ours: str | None, settings: Sequence[str], console: Console) -> Found:
    """Run the plan under each setting; the system's own is set back at the end."""
    found: dict[str, Comparison] = {}
    for setting in settings:
        console.print(f"transparent huge pages: {setting}", highlight=False)
        with huge_pages(setting):
            found[setting] = compare(plan, ours, console)
        if "interrupted" in found[setting].environment:
            break
    return found


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@takes_allocators
@click.option("--row", "patterns", multiple=True, help=f"Shell pattern. [{', '.join(ROWS)}]")
@click.option(
    "--thp",
    "settings",
    multiple=True,
    type=click.Choice(SETTINGS),
    help="Only this setting; repeat it. [all three]",
)
@options.repetitions(3)
@options.programs
@options.timeout
@options.samples("all samples")
@options.tables("the table")
def main(
    *,
    chosen: Chosen,
    patterns: tuple[str, ...],
    settings: tuple[str, ...],
    repetitions: int,
    programs: Path | None,
    timeout: float,
    json_file: Path | None,
    markdown_file: Path | None,
) -> None:
    """Compare resident memory under transparent huge pages = always, madvise and never (root)."""
    console = terminal()
    try:
        runs = select(tuple(GROUPS), patterns or ROWS, ())
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    check_outputs(json_file, markdown_file)
    plan = Plan(
        find_programs(programs, runs),
        runs,
        chosen.allocators,
        repetitions,
        1.0,
        timeout,
        False,
        "wall",
    )
    found = measure(plan, chosen.ours, settings or SETTINGS, console)
    print_table(table(found), console)
    report.write_files(found, (json_file, as_json), (markdown_file, as_markdown))
    failed = [line for comparison in found.values() for line in report.failures(comparison)]
    for line in failed:
        console.print(f"failed: {line}", markup=False)
    raise SystemExit(exit_code(found.values()))


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/memory")
