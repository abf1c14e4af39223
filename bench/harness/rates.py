"""The command bench/verdict_rates: how often the judge errs, on this machine, in many judgements.

Three kinds of judgement whose answer is known: a build against itself, a build against itself with
2 % more time injected, and a shuffled layout against the listed one. Each judgement is one line of
a file; a command that was stopped goes on where that file ends.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
import numpy as np
from rich.table import Table

from bench.harness.shuffle import SECTIONS, build_archive, link_listed, link_shuffled
from bench.harness.terminal import terminal
from pipeline.core.console import open_console
from pipeline.core.errors import PipelineError
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.judge import selfcheck
from pipeline.judge.counting.whole import count_programs, whole_counter
from pipeline.judge.icache import icache_key
from pipeline.judge.model import SelfJudgement
from pipeline.judge.request import JudgeRequest, Side
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.profile.load import load_profile
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.slowdown import slowdown
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.proof.verify import judge_request
from pipeline.toolchain.find import find_toolchain

SAME, SLOWED, SHUFFLED = "same build", "2 % slowdown", "shuffled layout"
RIGHT = {
    SAME: (Verdict.NEUTRAL, Verdict.INCONCLUSIVE),
    SLOWED: (Verdict.NO_GO,),
    SHUFFLED: (Verdict.NO_GO,),
}
"""What is judged, and which verdicts are right."""

Answer = tuple[Verdict, Interval | None, int | None]


@dataclass(frozen=True)
class Judged:
    """One judgement: ``ratio`` and the ends of its interval are tuned / baseline."""

    kind: str
    seed: int
    verdict: str
    right: bool
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int | None
    seconds: float
    load: float


@dataclass(frozen=True)
class Court:
    """What is judged: the request of a full build, a listed layout, an archive to be shuffled."""

    shop: Workshop
    request: JudgeRequest
    listed: Path
    archive: Path

    def judge(self, kind: str, seed: int, room: Path) -> Judged:
        """Make the judgement of ``kind`` with this seed; scratch files go into ``room``."""
        started = time.monotonic()
        judges: dict[str, Callable[[JudgeRequest], Answer]] = {
            SAME: _same,
            SLOWED: _slowed,
            SHUFFLED: self._shuffled,
        }
        verdict, ratio, pairs = judges[kind](replace(self.request, seed=seed, logs=room))
        return Judged(
            kind=kind,
            seed=seed,
            verdict=verdict.value,
            right=verdict in RIGHT[kind],
            ratio=ratio.value if ratio else None,
            low=ratio.low if ratio else None,
            high=ratio.high if ratio else None,
            pairs=pairs,
            seconds=round(time.monotonic() - started, 1),
            load=os.getloadavg()[0],
        )

    def _shuffled(self, request: JudgeRequest) -> Answer:
        output = request.logs / "shuffled.so"
        link_shuffled(self.shop, self.archive, request.seed, output)
        sides: dict[Side, Path] = {"baseline": self.listed, "tuned": output}
        programs = count_programs(whole_counter(request), sides, request.tasks, _quiet)
        key = icache_key(programs, request.margins)
        return key.verdict, key.ratio, None


def _same(request: JudgeRequest) -> Answer:
    return _answer(selfcheck.same_build(request, _quiet))


def _slowed(request: JudgeRequest) -> Answer:
    if request.slowed is None:
        raise ValueError("there is no library that can be slowed down")
    return _answer(selfcheck.known_slowdown(request, request.slowed, _quiet))


def _answer(judged: SelfJudgement) -> Answer:
    return judged.verdict, judged.throughput.overall, judged.throughput.pairs


def _quiet(_: str) -> None:
    """Take a line of progress and drop it."""


def open_court(name: str, seconds: float, room: Path) -> Court:
    """Build what is judged, by the stages of the pipeline, for the profile ``name``."""
    tree = Tree.here()
    store = Store(tree.artifacts(name))
    profile, tools = load_profile(tree, name), find_toolchain()
    shop = Workshop(tree, profile, tools, store, open_console(False), Options())
    setup = configure(shop)
    plain = baseline(shop, setup)
    request = judge_request(shop, setup, plain, plain.library, slowdown(shop, setup))
    archive = build_archive(shop, room / "shuffled", SECTIONS)
    return Court(shop, replace(request, self_check_s=seconds), link_listed(shop, room), archive)


def read(file: Path) -> list[Judged]:
    """Return the judgements that ``file`` has; none when there is no file yet."""
    if not file.exists():
        return []
    return [Judged(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def missing(wanted: dict[str, int], there: list[Judged]) -> list[tuple[str, int]]:
    """Return kind and seed of the judgements that are still to be made, the kinds by turns."""
    done = {(one.kind, one.seed) for one in there}
    places = [
        (seed / number, kind, seed)
        for kind, number in wanted.items()
        for seed in range(1, number + 1)
    ]
    return [(kind, seed) for _, kind, seed in sorted(places) if (kind, seed) not in done]


def table_of(judged: list[Judged]) -> Table:
    """Return a row per kind of judgement: how often which verdict was given, and how precisely."""
    table = Table("judgements", "right", *(verdict.value for verdict in Verdict))
    for name in ("change", "half width", "seconds", "load"):
        table.add_column(name, justify="right")
    for kind in RIGHT:
        ones = [one for one in judged if one.kind == kind]
        if ones:
            table.add_row(kind, *_cells(ones))
    return table


def _cells(ones: list[Judged]) -> list[str]:
    given = [str(sum(one.verdict == verdict.value for one in ones)) for verdict in Verdict]
    halves = [(one.high - one.low) / 2 for one in ones if one.high and one.low]
    ratios = [one.ratio - 1 for one in ones if one.ratio]
    loads = [one.load for one in ones]
    return [
        f"{sum(one.right for one in ones)} of {len(ones)}",
        *given,
        f"{np.median(ratios) * 100:+.2f} %" if ratios else "",
        f"{np.median(halves) * 100:.2f} %" if halves else "",
        f"{np.median([one.seconds for one in ones]):.0f}",
        f"{min(loads):.1f} to {max(loads):.1f}",
    ]


@click.command(context_settings={"max_content_width": 100})
@click.option("--profile", default="mixed", show_default=True, help="Whose workloads judge.")
@click.option("--same", default=40, show_default=True, help="Judgements of a build against itself.")
@click.option("--slowdown", "slowed", default=20, show_default=True, help="With 2 % more time.")
@click.option("--shuffled", default=20, show_default=True, help="Of shuffled layouts.")
@click.option("--seconds", default=60.0, show_default=True, help="Of timed runs, a judgement.")
@click.option("--limit", type=float, help="Start no judgement after so many seconds.")
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("build/verdict_rates.jsonl"),
    show_default=True,
    help="Gets a line per judgement; those that it has are not made again.",
)
def main(
    *,
    profile: str,
    same: int,
    slowed: int,
    shuffled: int,
    seconds: float,
    limit: float | None,
    file: Path,
) -> None:
    """Judge what is known, many times, and count the verdicts that are right.

    A full run takes about 40 minutes. Stopped, by --limit or by hand, it goes on where it was.
    The figures of the table are medians; "half width" is that of the interval.
    """
    started, console = time.monotonic(), terminal()
    wanted = {SAME: same, SLOWED: slowed, SHUFFLED: shuffled}
    try:
        with tempfile.TemporaryDirectory(prefix="verdict-rates-") as room:
            court = open_court(profile, seconds, Path(room))
            for kind, seed in missing(wanted, read(file)):
                if limit is not None and time.monotonic() - started > limit:
                    break
                one = _in_new_folder(court, kind, seed, Path(room))
                _keep(file, one)
                console.print(f"{kind} {seed}: {one.verdict} in {one.seconds:g} s")
    except PipelineError as error:
        raise click.ClickException(error.message) from None
    console.print(table_of(read(file)))


def _in_new_folder(court: Court, kind: str, seed: int, room: Path) -> Judged:
    with tempfile.TemporaryDirectory(dir=room) as folder:
        return court.judge(kind, seed, Path(folder))


def _keep(file: Path, one: Judged) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(one)) + "\n")


if __name__ == "__main__":
    main(prog_name="bench/verdict_rates")
