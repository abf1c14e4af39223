"""The training workloads as commands that the judge's runner can time, and how many pairs of each.

Programs and commands are run by `bench/command`, which measures them as a whole, from start to
exit; a replayed trace measures its own operations. Verify workloads never come here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.core.errors import ProfileError
from pipeline.core.files import replace_text
from pipeline.judge.request import BenchCommand
from pipeline.judge.whole_command import whole_command
from pipeline.profile.workload import REPLAY, Command, Program

RUNNER = "bench/command"
LEAST_PAIRS, MOST_PAIRS = 2, 20
"""Pairs of one workload in a block; even, for the order A B B A."""

Find = Callable[[str], Path]


@dataclass(frozen=True)
class Places:
    """Where things are: our own programs, those of the machine, the root of the tree.

    ``path`` is the PATH that commands run with; ``elsewhere`` are our own programs with their code
    at other places.
    """

    ours: Find
    others: Find
    root: Path
    path: str
    elsewhere: Callable[[str], tuple[Path, ...]] = lambda _: ()


def commands(
    training: Sequence[Program | Command], places: Places, threads: Mapping[str, int]
) -> tuple[BenchCommand, ...]:
    """Return the workloads as commands, our own programs in their short runs.

    Noise is that of a process, not of its length, so many short runs say more than few long ones.
    ``threads`` are those that a recording has shown, by name: pairs of programs with one thread run
    at the same time on one CPU, which hides most of what the machine does beside. Raises
    ProfileError for a workload that does not train.
    """
    return tuple(_command(one, places, threads.get(one.name)) for one in training)


def _command(workload: Program | Command, places: Places, threads: int | None) -> BenchCommand:
    if workload.role != "train":
        raise ProfileError(
            f'workload "{workload.name}" judges: tuning must not see it',
            hint='tune by workloads whose role is "train"',
        )
    elsewhere: tuple[tuple[str, ...], ...] = ()
    if isinstance(workload, Program):
        files = (places.ours(workload.program), *places.elsewhere(workload.program))
        argv, *others = (_program(file, workload, places, threads) for file in files)
        elsewhere, env = tuple(others), workload.environment()
    else:
        argv, env = _whole(workload, places, threads), {"PATH": places.path, **workload.env}
    return BenchCommand(
        name=workload.name,
        argv=argv,
        elsewhere=elsewhere,
        env=env,
        weight=workload.weight or 1.0,
        timeout_s=workload.timeout_s,
    )


def _program(file: Path, workload: Program, places: Places, threads: int | None) -> tuple[str, ...]:
    line = (str(file), *workload.arguments(workload.quick_ops))
    if workload.program == REPLAY:
        return line
    return whole_command(places.ours(RUNNER), line, folder=places.root, threads=threads)


def _whole(workload: Command, places: Places, threads: int | None) -> tuple[str, ...]:
    return whole_command(
        places.ours(RUNNER),
        (str(places.others(workload.argv[0])), *workload.argv[1:]),
        folder=None if workload.scratch else places.root,
        threads=threads,
    )


class Block(BaseModel):
    """How many pairs of each workload make a block, and which workloads take too long for one."""

    model_config = ConfigDict(frozen=True)

    pairs: dict[str, int]
    left_out: tuple[str, ...]
    seconds: float


def block_of(benches: Sequence[BenchCommand], costs: Mapping[str, float], seconds: float) -> Block:
    """Return a block that takes about ``seconds``; ``costs`` are seconds of one pair.

    Workloads get pairs in proportion to their weight and to one by the root of their cost, which
    makes the overall ratio as sharp as it can be. While even the fewest pairs take more than
    twice as long as a block may, the dearest workload is left out.
    """
    kept = sorted(benches, key=lambda bench: costs[bench.name])
    while len(kept) > 1 and LEAST_PAIRS * sum(costs[b.name] for b in kept) > 2 * seconds:
        kept.pop()
    low, high = 0.0, 1e6
    for _ in range(60):
        level = (low + high) / 2
        price = sum(_pairs(b, costs, level) * costs[b.name] for b in kept)
        low, high = (level, high) if price <= seconds else (low, level)
    pairs = {bench.name: _pairs(bench, costs, low) for bench in kept}
    out = tuple(bench.name for bench in benches if bench.name not in pairs)
    spent = sum(n * costs[name] for name, n in pairs.items())
    return Block(pairs=pairs, left_out=out, seconds=spent)


def _pairs(bench: BenchCommand, costs: Mapping[str, float], level: float) -> int:
    ideal = level * bench.weight / math.sqrt(costs[bench.name])
    return max(LEAST_PAIRS, min(MOST_PAIRS, 2 * round(ideal / 2)))


class _Remembered(BaseModel):
    context: str
    block: Block


def remembered_block(path: Path, context: str, make: Callable[[], Block]) -> Block:
    """Return the block that the last run with this ``context`` has used, else a new one.

    A block that was measured anew, a little different each time, would make all earlier results
    those of other jobs.
    """
    try:
        known = _Remembered.model_validate_json(path.read_text(encoding="utf-8"))
        if known.context == context:
            return known.block
    except (OSError, ValidationError):
        pass  # none yet, or not one that we can use: it is made again
    block = make()
    replace_text(path, _Remembered(context=context, block=block).model_dump_json())
    return block
