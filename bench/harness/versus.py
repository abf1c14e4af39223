"""Two libraries inside a whole program, or on a profile's verify workloads: speed and memory."""

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
    """Compare as the command line says, print the result; 2 for wrong use, 1 for a failed run."""
    parser = _parser()
    given = list(sys.argv[1:] if words is None else words)
    end = given.index("--") if "--" in given else len(given)
    wishes, command = parser.parse_args(given[:end]), given[end + 1 :]
    if wishes.profile:
        return _on_profile(wishes)
    if not command or wishes.runner is None:
        parser.error("a command and --runner are required, or --profile")
    program = shutil.which(command[0])
    if program is None:
        parser.error(f"there is no program {command[0]}")
    for path in (wishes.runner, wishes.default, wishes.tuned):
        if not path.is_file():
            parser.error(f"there is no file {path}")
    threads = ("--threads", str(wishes.threads)) if wishes.threads else ()
    argv = (str(wishes.runner.resolve()), *threads, program, *command[1:])
    try:
        found = compare(wishes.default, wishes.tuned, argv, wishes.pairs, wishes.seed)
    except PipelineError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 1
    print(render(found))
    return 0


def _on_profile(wishes: argparse.Namespace) -> int:
    from bench.harness.on_profile import compare_on

    try:
        print(compare_on(wishes.profile, wishes.default, wishes.tuned, wishes.seconds))
    except PipelineError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 1
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
        usage="bench/versus DEFAULT TUNED [options] (--profile NAME | --runner FILE -- COMMAND...)",
        description=__doc__,
        epilog="Example: bench/versus build/a/libhakmem.so build/b/libhakmem.so "
        "--runner build/clang/bench/command --threads 1 -- python3 -c 'print(1)'",
    )
    parser.add_argument("default", type=Path, help="the library to compare with")
    parser.add_argument("tuned", type=Path, help="the library to compare")
    parser.add_argument("--runner", type=Path, help="the program bench/command")
    parser.add_argument("--profile", help="its verify workloads instead of a command")
    parser.add_argument("--seconds", type=float, default=25.0, help="of runs with --profile; 25")
    parser.add_argument("--pairs", type=_even, default=20, help="pairs of runs, even; 20")
    parser.add_argument("--seed", type=int, default=1, help="of the order of runs; 1")
    parser.add_argument(
        "--threads",
        type=int,
        help="threads of the program: with 1 both runs of a pair go on one CPU at the same time",
    )
    return parser


def _even(text: str) -> int:
    number = int(text)
    if number < 4 or number % 2:
        raise argparse.ArgumentTypeError("an even number from 4 on")
    return number


if __name__ == "__main__":
    raise SystemExit(main())
