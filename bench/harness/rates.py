"""The command bench/verdict_rates: how often the judge errs, in many judgements.

Their answer is known: a build against itself, a build against itself with 2 % more time injected,
in each workload or with one dose for all, and a shuffled layout against the listed one. They are
real (court.py), or by pairs that one build has recorded (drawn.py). Each judgement is one line of a
file; a command that was stopped goes on where that file ends.
"""

from __future__ import annotations

import tempfile
import time
from hashlib import sha256
from pathlib import Path

import click

from bench.harness.court import Court, open_court
from bench.harness.drawn import Drawing, open_drawing
from bench.harness.judged import (
    BORDER,
    LONG,
    ONE_DOSE,
    SAME,
    SHUFFLED,
    SLOWED,
    Judged,
    keep,
    missing,
    read,
    table_of,
)
from bench.harness.terminal import terminal
from pipeline.core import interrupts
from pipeline.core.errors import PipelineError

A_FILE = click.Path(dir_okay=False, path_type=Path)
EXAMPLES = """\b
Examples:
  bench/verdict_rates --limit 600
  bench/verdict_rates --recorded build/pipeline/mixed/verify/*/verdict.json \\
    --same 100"""


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@click.option("--profile", default="mixed", show_default=True, help="Whose workloads judge.")
@click.option("--recorded", type=A_FILE, help="Judge by pairs drawn from this verdict.json.")
@click.option("--same", default=40, show_default=True, help="Judgements of a build against itself.")
@click.option("--slowdown", "slowed", default=20, show_default=True, help="With 2 % more time.")
@click.option(
    "--one-dose", default=20, show_default=True, help="The same dose for all, unless --recorded."
)
@click.option(
    "--long", default=1, show_default=True, help="Times that this is measured at length, likewise."
)
@click.option("--border", default=20, show_default=True, help="With 1 %, if --recorded.")
@click.option("--shuffled", default=20, show_default=True, help="Of layouts, unless --recorded.")
@click.option("--seconds", default=60.0, show_default=True, help="Of timed runs, a judgement.")
@click.option("--limit", type=float, help="Start no judgement after so many seconds.")
@click.option(
    "--json",
    "file",
    type=A_FILE,
    help="Gets a line per judgement; those that it has are not made again. Else one in build/.",
)
def main(
    *,
    profile: str,
    recorded: Path | None,
    same: int,
    slowed: int,
    one_dose: int,
    long: int,
    border: int,
    shuffled: int,
    seconds: float,
    limit: float | None,
    file: Path | None,
) -> None:
    """Judge what is known, many times, and count the verdicts that are right.

    A full run takes hours on a busy machine. With --recorded FILE it takes minutes: no program
    runs, and pairs are drawn from those of one judgement. Stopped, by --limit or by hand, it goes
    on where it was. Change, half width of the interval and seconds are medians.
    """
    wanted = {SAME: same, SLOWED: slowed}
    if recorded is None:
        wanted |= {ONE_DOSE: one_dose, LONG: long, SHUFFLED: shuffled}
    else:
        wanted[BORDER] = border
    file = file or _file_of(recorded)
    try:
        with tempfile.TemporaryDirectory(prefix="verdict-rates-") as room:
            rounds = next((one.rounds for one in read(file) if one.rounds), None)
            court = _opened(recorded, profile, seconds, Path(room), rounds)
            _judge(court, wanted, file, Path(room), limit)
    except PipelineError as error:
        raise click.ClickException(error.message) from None
    terminal().print(table_of(read(file)))


def _opened(
    recorded: Path | None, profile: str, seconds: float, room: Path, rounds: int | None
) -> Court | Drawing:
    """Return what judges; ``rounds`` is the one dose of the judgements that there are."""
    if recorded is None:
        return open_court(profile, seconds, room, rounds)
    try:
        return open_drawing(recorded, seconds)
    except OSError as error:
        raise click.ClickException(
            f"cannot read {recorded}: {error.strerror}; name another file"
        ) from None
    except ValueError as error:
        raise click.ClickException(
            f"{recorded} is no verdict: {str(error).splitlines()[0]}; a build keeps it as "
            "build/pipeline/PROFILE/verify/KEY/verdict.json"
        ) from None


def _file_of(recorded: Path | None) -> Path:
    """Return where judgements are kept; those by other pairs in another file."""
    if recorded is None or not recorded.is_file():
        return Path("build/verdict_rates.jsonl")
    digest = sha256(recorded.read_bytes()).hexdigest()[:12]
    return Path(f"build/verdict_rates-{digest}.jsonl")


def _judge(
    court: Court | Drawing, wanted: dict[str, int], file: Path, room: Path, limit: float | None
) -> None:
    started, console = time.monotonic(), terminal()
    for kind, seed in missing(wanted, read(file)):
        if limit is not None and time.monotonic() - started > limit:
            return
        one = _in_new_folder(court, kind, seed, room)
        keep(file, one)
        console.print(f"{kind} {seed}: {one.verdict} in {one.seconds:g} s")


def _in_new_folder(court: Court | Drawing, kind: str, seed: int, room: Path) -> Judged:
    with tempfile.TemporaryDirectory(dir=room) as folder:
        return court.judge(kind, seed, Path(folder))


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/verdict_rates")
