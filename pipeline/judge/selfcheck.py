"""How often the judge errs on this machine: one library against itself, again and again.

    python -m pipeline.judge.selfcheck LIBRARY BENCH_FOLDER --runs 20

Both sides are the same file, so GO and NO-GO are false alarms. docs/verdicts.md has results.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import click

from pipeline.judge.judging import stage
from pipeline.judge.keys import throughput_key
from pipeline.judge.model import Throughput
from pipeline.judge.pairing import PairedRunner
from pipeline.judge.request import MIN_PAIRS, BenchCommand, JudgeRequest, Margins
from pipeline.judge.throughput import measure

WORKLOADS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tiny_hot", ("--ops", "6M")),
    ("random_mixed", ("--slots", "400", "--ops", "4M")),
    ("random_mixed", ("--slots", "100k", "--ops", "1M")),
    ("larson", ("--threads", "2", "--ops", "2M")),
)
"""Short runs of different kinds, 30 to 100 ms each; one of them has two threads."""


def workloads(folder: Path) -> tuple[BenchCommand, ...]:
    """Return the workloads of the self-check, from the bench programs in ``folder``."""
    return tuple(
        BenchCommand(name=f"{program}-{number}", argv=(str(folder / program), *arguments))
        for number, (program, arguments) in enumerate(WORKLOADS)
    )


def judge_against_itself(
    library: Path, benches: tuple[BenchCommand, ...], seed: int, max_pairs: int
) -> Throughput:
    """Return the throughput of ``library`` against ``library``."""
    with tempfile.TemporaryDirectory(prefix="selfcheck-") as folder:
        request = JudgeRequest(
            baseline=library,
            tuned=library,
            benches=benches,
            logs=Path(folder),
            max_pairs=max_pairs,
            seed=seed,
        )
        runner = PairedRunner(stage(request), Path(folder) / "throughput")
        return measure(request, runner, lambda _: None)


@click.command()
@click.argument("library", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--runs", default=20, show_default=True, help="Judgements to make.")
@click.option("--max-pairs", default=4 * MIN_PAIRS, show_default=True, help="Pairs at most.")
def main(library: Path, folder: Path, runs: int, max_pairs: int) -> None:
    """Judge LIBRARY against itself with the programs in FOLDER and count the verdicts."""
    benches, verdicts = workloads(folder.resolve()), Counter[str]()
    for seed in range(1, runs + 1):
        result = judge_against_itself(library, benches, seed, max_pairs)
        key = throughput_key(result, Margins())
        verdicts[key.verdict.value] += 1
        noise = max(one.noise for one in result.workloads)
        click.echo(f"{seed:3d} {key.verdict.value:12s} noisiest {noise:5.1%}  {key.reason}")
    click.echo(", ".join(f"{name} {count}" for name, count in verdicts.most_common()))


if __name__ == "__main__":
    main()
