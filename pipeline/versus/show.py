"""Two libraries compared, for terminals, for pull requests and for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from pipeline.judge.keys import shown, spread, with_interval
from pipeline.judge.model import Key
from pipeline.judge.outcome import by_less, loses_in_one
from pipeline.judge.verdict import Verdict
from pipeline.report import text
from pipeline.report.columns import narrow
from pipeline.report.findings import UNSEEN
from pipeline.report.terminal import fitted, plain
from pipeline.report.times import Times
from pipeline.versus.model import Compared, VersusResult
from pipeline.versus.ran import notes_on

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
HEADINGS = ("workload", "time A", "time B", "speed of B", "interval", "peak A", "peak B", "pairs")
SPARED = ("pairs", "peak A", "peak B", "time A", "time B")
"""Columns that a narrow terminal does without, the first one first."""
CLOCKS = {"cpu": "processor time", "wall": "wall time"}
LEGEND = (
    "speed: of the pairs, which is not the quotient of both times; a rate, so + is faster",
    "the verdict is on all workloads together; pairs go where they narrow that interval most",
)
SHORT_S = 0.2
"""Of a command: starting a process with a library costs up to about a millisecond (what
docs/real-programs.md has as short lives, and a first heap), and a verdict is about one percent."""
OWN_KIB = 1024
"""About what a library takes for itself in any program: of a rise up to that the memory limit of a
build says nothing either (docs/verdicts.md)."""
NARROW = 0.05
"""An interval that is wider excludes nothing that anybody would expect."""
LONGER = 4
"""Times as long, where a verdict is not decided."""
SPEED = {
    Verdict.GO: "B is faster than A",
    Verdict.NEUTRAL: "B is as fast as A",
    Verdict.NO_GO: "B is slower than A",
    Verdict.INCONCLUSIVE: "B is not shown to be faster or slower than A",
}
MEMORY = {
    Verdict.GO: "takes less memory",
    Verdict.NEUTRAL: "is as lean",
    Verdict.NO_GO: "takes more memory",
    Verdict.INCONCLUSIVE: "is not shown to take more or less memory",
}


def render(result: VersusResult, form: str) -> str:
    """Return the comparison as ``term``, ``json``, ``csv`` or ``markdown``."""
    forms: dict[str, Callable[[VersusResult], str]] = {
        "term": _term,
        "json": lambda one: one.model_dump_json(indent=1) + "\n",
        "csv": _csv,
        "markdown": _markdown,
    }
    return forms[form](result)


def sentence(result: VersusResult) -> str:
    """Return what the judge found, in one sentence."""
    speed = by_less(result.speed, above="B is faster than A", below="B is slower than A")
    memory = _little_more(result.memory) or by_less(
        result.memory, above="takes more memory", below="takes less memory"
    )
    fat = "" if result.guard.holds else f"; {result.guard.reason}"
    said = speed or SPEED[result.speed.verdict]
    return f"{said}, and {memory or MEMORY[result.memory.verdict]}{fat}."


def _little_more(memory: Key) -> str:
    """Say how much more memory it may be where a rise within the margin is shown."""
    if memory.verdict is not Verdict.NEUTRAL or memory.ratio is None or memory.ratio.low <= 1:
        return ""
    return f"takes a little more memory, {text.change(memory.ratio.high)} at most"


def duration(seconds: float, sigma: float | None = None) -> str:
    """Return a time in the unit that fits it, with its standard deviation where that is known."""
    factor, unit = next((one for one in UNITS if seconds >= one[0]), UNITS[-1])
    spread = "" if sigma is None else f" ± {sigma / factor:.2f}"
    return f"{seconds / factor:.2f}{spread} {unit}"


def _cells(result: VersusResult) -> list[tuple[str, ...]]:
    found = {one.name: shown(one, result.throughput) for one in result.throughput.workloads}
    return [
        (
            row.workload,
            _time(row.a),
            _time(row.b),
            text.change(found[row.workload].value),
            text.ends(found[row.workload]),
            text.kib(int(row.a_peak_kib) << 10),
            text.kib(int(row.b_peak_kib) << 10),
            str(row.a.count),
        )
        for row in result.rows
    ]


def _time(times: Times) -> str:
    return duration(times.mean, times.sigma)


def _term(result: VersusResult) -> str:
    """Return what a terminal shows; on a narrow one without whole columns, which are named."""
    table, out = fitted(HEADINGS, _cells(result), SPARED, figures=1)
    sides = [f"{letter}: {_title(one)}" for letter, one in (("A", result.a), ("B", result.b))]
    return plain(
        *sides,
        table,
        *narrow(out),
        _timed(result),
        *_legend(result),
        *_keys(result),
        sentence(result),
    )


def _legend(result: VersusResult) -> tuple[str, ...]:
    return LEGEND[:1] if result.throughput.alone else LEGEND


def _timed(result: VersusResult) -> str:
    clocks = " or ".join(dict.fromkeys(CLOCKS[row.clock] for row in result.rows))
    return f"time: {clocks} of one operation, or of a whole command; mean ± standard deviation"


def _title(side: Compared) -> str:
    return ",".join([side.name, *(f"{name}={value}" for name, value in side.env.items())])


def _keys(result: VersusResult) -> list[str]:
    speed, memory = result.speed, result.memory
    whole = f"; in all {with_interval(speed.ratio)}" if loses_in_one(speed) and speed.ratio else ""
    return [
        f"throughput {speed.verdict.value}: {speed.reason}{whole}",
        f"memory {memory.verdict.value}: {memory.reason}",
        *_notes(result),
    ]


def _notes(result: VersusResult) -> list[str]:
    unseen = [f"{one.name}: {UNSEEN}" for one in result.throughput.workloads if one.ends_unseen]
    about = (*notes_on(result.ran), *_short(result), *_small(result), *_busy(result))
    return [f"note: {said}" for said in (*unseen, *about)]


def _busy(result: VersusResult) -> list[str]:
    """Say how to see what the noise does alone, where much else ran beside."""
    around = result.environment
    if not around.busy or (result.a.sha256, result.a.env) == (result.b.sha256, result.b.env):
        return []
    load = max(around.load_before, around.load_after)
    return [
        f"the machine was busy (load {load:.0f} on {around.cores} CPUs): repeat it when the "
        "machine is quiet. To see what noise alone does, let `versus` compare a library with itself"
    ]


def _short(result: VersusResult) -> list[str]:
    """Say where a command ends so soon that its start is much of what was timed."""
    times = [max(row.a.mean, row.b.mean) for row in result.rows]
    if result.command is None or max(times) >= SHORT_S:
        return []
    return [
        f"a run takes {duration(max(times))}, and each process in it takes up to a millisecond to "
        "start with a library. For what a program gains that runs long, give it work for a second "
        "or more"
    ]


def _small(result: VersusResult) -> list[str]:
    """Say that it may be the library itself where B takes only a little more memory."""
    more = max(row.b_peak_kib - row.a_peak_kib for row in result.rows)
    if result.memory.verdict is not Verdict.NO_GO or more > OWN_KIB:
        return []
    return [
        f"B takes at most {text.kib(int(more) << 10)} more: that may be the library itself, with "
        "its code and first heap, and tells in small programs alone. For what it does to "
        "yours, compare a run that takes 50 MiB or more"
    ]


def longer(result: VersusResult, budget_s: float) -> str:
    """Return the option for LONGER times as much. The fewest pairs may have taken over budget_s."""
    return f"--budget {LONGER * max(budget_s, result.throughput.seconds):.0f}s"


def next_step(result: VersusResult, longer: str, one_thread: str) -> str:
    """Return what to do where the speed is not decided; "" where it is.

    ``longer`` is what measures LONGER times as much, ``one_thread`` what says that the program has
    one thread.
    """
    key = result.speed
    if key.verdict is not Verdict.INCONCLUSIVE or key.ratio is None:
        return ""
    in_turn = result.command and all(one.threads is None for one in result.throughput.workloads)
    alone = f"; {one_thread} does more, if the program has one thread" if in_turn else ""
    whole = "" if result.throughput.alone else " over all workloads"
    known = f"; a change of speed{whole} outside of {spread(key.ratio)} is excluded already"
    return (
        f"next: {longer} measures {LONGER} times as much, and makes the interval about half as "
        f"wide{alone}{known if key.ratio.high - key.ratio.low < NARROW else ''}"
    )


def _markdown(result: VersusResult) -> str:
    rows = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *_cells(result)]
    table = [f"| {' | '.join(map(text.cell, cells))} |" for cells in rows]
    sides = [f"- {letter}: `{_title(one)}`" for letter, one in (("A", result.a), ("B", result.b))]
    keys = [f"- {one}" for one in _keys(result)]
    said, legend = f"**{sentence(result)}**", text.sentence("; ".join(_legend(result)))
    return "\n".join([said, "", *sides, *keys, "", *table, "", legend, ""])


def _csv(result: VersusResult) -> str:
    """Return a row for each workload and side; times in seconds per operation."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["workload", "side", "clock", *Times.model_fields, "peak_kib"])
    for row in result.rows:
        for side, times, peak in (("A", row.a, row.a_peak_kib), ("B", row.b, row.b_peak_kib)):
            writer.writerow([row.workload, side, row.clock, *times.model_dump().values(), peak])
    return file.getvalue()
