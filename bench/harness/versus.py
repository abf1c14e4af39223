"""Two libraries inside one whole program: run time and peak memory, in interleaved pairs."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pipeline.core.errors import PipelineError
from pipeline.judge.keys import percent, spread
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.schedule import plan
from pipeline.tune.standing import Standing, standing

NAME = "program"


def main(words: Sequence[str] | None = None) -> int:
    """Compare as the command line says, print two lines; 2 for wrong use, 1 for a failed run."""
    parser = _parser()
    wishes = parser.parse_args(words)
    program = shutil.which(wishes.command[0])
    if program is None:
        parser.error(f"there is no program {wishes.command[0]}")
    for path in (wishes.runner, wishes.default, wishes.tuned):
        if not path.is_file():
            parser.error(f"there is no file {path}")
    threads = ("--threads", str(wishes.threads)) if wishes.threads else ()
    argv = (str(wishes.runner.resolve()), *threads, program, *wishes.command[1:])
    try:
        found = compare(wishes.default, wishes.tuned, argv, wishes.pairs, wishes.seed)
    except PipelineError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 1
    print(render(found))
    return 0


def compare(default: Path, tuned: Path, argv: tuple[str, ...], pairs: int, seed: int) -> Standing:
    """Return where ``tuned`` stands against ``default`` in the command ``argv``.

    Raises WorkloadError when a run fails.
    """
    bench = BenchCommand(NAME, argv, timeout_s=600.0)
    request = JudgeRequest(default, tuned, (bench,), Path(), seed=seed)
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        runner = PairedRunner(
            stage({"baseline": default, "tuned": tuned}, Path(folder)), Path(folder)
        )
        blocks = plan({NAME: range(pairs)}, seed)
        return standing(request, {NAME: [runner(bench, pair) for two in blocks for pair in two]})


def render(found: Standing) -> str:
    """Return both keys as changes against the default, with their 95 % intervals."""
    memory = found.memory
    ends = f"[{percent(1 / memory.high)}, {percent(1 / memory.low)}]"
    return (
        f"runs per second: {percent(found.speed.value)} {spread(found.speed)} "
        f"over {found.pairs} pairs\npeak memory:     {percent(1 / memory.value)} {ends}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/versus",
        description=__doc__,
        epilog="Example: bench/versus build/a/libhakmem.so build/b/libhakmem.so "
        "--runner build/clang/bench/command --threads 1 -- python3 -c 'print(1)'",
    )
    parser.add_argument("default", type=Path, help="the library to compare with")
    parser.add_argument("tuned", type=Path, help="the library to compare")
    parser.add_argument("--runner", type=Path, required=True, help="the program bench/command")
    parser.add_argument("--pairs", type=_even, default=20, help="pairs of runs, even; 20")
    parser.add_argument("--seed", type=int, default=1, help="of the order of runs; 1")
    parser.add_argument(
        "--threads",
        type=int,
        help="threads of the program: with 1 both runs of a pair go on one CPU at the same time",
    )
    parser.add_argument("command", nargs="+", help="the program and its arguments, after --")
    return parser


def _even(text: str) -> int:
    number = int(text)
    if number < 4 or number % 2:
        raise argparse.ArgumentTypeError("an even number from 4 on")
    return number


if __name__ == "__main__":
    raise SystemExit(main())
