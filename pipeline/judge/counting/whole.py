"""Counting libraries inside whole programs: from the first instruction of a process to its last.

What a program starts as a child is not counted, unless a task names it (below.py).
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pipeline.core.console import numbered
from pipeline.core.errors import PipelineError
from pipeline.core.process import Completed, run
from pipeline.judge.counting.below import simulate_below
from pipeline.judge.counting.callgrind_file import Profile
from pipeline.judge.counting.count import in_parallel
from pipeline.judge.counting.repeat import agreed, runs_of
from pipeline.judge.counting.told import Told, as_program
from pipeline.judge.counting.valgrind import LINE, PAGE, Simulation, simulate
from pipeline.judge.counts import ProgramCounts, RealProgram, TouchedCounts
from pipeline.judge.l1i import machine_l1i, without_conflicts
from pipeline.judge.request import CacheGeometry, JudgeRequest, Margins, Side
from pipeline.judge.samples import SIDES
from pipeline.judge.tasks import Task

LIMIT_S = 300.0
"""A simulated task takes seconds; on a machine with a load of 10, a minute."""


def counts_of(profile: Profile) -> ProgramCounts:
    """Return the sums of one simulated process."""
    return ProgramCounts(
        instructions=profile.instructions.total(),
        i1_misses=profile.i1_misses.total(),
        hot_lines=profile.hot(LINE),
        total_instructions=profile.total_instructions,
        total_i1_misses=profile.total_i1_misses,
    )


def touched_of(profile: Profile) -> TouchedCounts:
    """Return the same, and how much of the library's text the process touched."""
    sums = counts_of(profile).model_dump()
    return TouchedCounts(**sums, lines=profile.touched(LINE), pages=profile.touched(PAGE))


@dataclass(frozen=True)
class WholeCounter:
    """Counts libraries in tasks, as many at once as there are CPUs.

    ``env`` is what counted runs have in addition. Each run has an empty folder of its own.
    ``margin`` is that of the verdict: what may differ from run to run has to repeat well within it.
    """

    valgrind: Path
    geometry: CacheGeometry
    env: Mapping[str, str]
    logs: Path
    margin: float = Margins.icache
    read: Callable[[Profile], ProgramCounts] = counts_of

    def count(
        self,
        libraries: Mapping[str, Path],
        tasks: Sequence[Task],
        say: Callable[[str], None] = lambda _: None,
        env: Mapping[str, str] | None = None,
    ) -> tuple[Told, ...]:
        """Return what came of each task. A program that is missing or fails is a result.

        ``env`` are further variables of these runs.
        """
        present = [task for task in tasks if task.path is not None]
        runs = [
            (t, name, again) for t in present for name in libraries for again in range(runs_of(t))
        ]

        def one(run: tuple[Task, str, int]) -> ProgramCounts | str:
            task, name, again = run
            say(f"counting {task.name} ({name}{', again' if again else ''})")
            return self._one(task, f"{name}-again" if again else name, libraries[name], env or {})

        pairs = [(task.name, name) for task, name, _ in runs]
        both = self._agreed(zip(pairs, in_parallel(one, runs), strict=True))
        return tuple(
            self._told(task, {name: both.get((task.name, name)) for name in libraries})
            for task in tasks
        )

    def _agreed(
        self, counted: Iterable[tuple[tuple[str, str], ProgramCounts | str]]
    ) -> dict[tuple[str, str], ProgramCounts | str]:
        """Return what the runs of each task with each library say together."""
        found: dict[tuple[str, str], list[ProgramCounts | str]] = defaultdict(list)
        for pair, counts in counted:
            found[pair].append(counts)
        return {pair: agreed(counts, self.margin) for pair, counts in found.items()}

    def _told(self, task: Task, counts: Mapping[str, ProgramCounts | str | None]) -> Told:
        if task.path is None:
            return Told(task, {}, f"{task.program} is not installed")
        problems = [one for one in counts.values() if isinstance(one, str)]
        if problems:
            return Told(task, {}, problems[0])
        return Told(task, {n: one for n, one in counts.items() if isinstance(one, ProgramCounts)})

    def _one(
        self, task: Task, name: str, library: Path, env: Mapping[str, str]
    ) -> ProgramCounts | str:
        log = self.logs / f"{task.name.replace(' ', '-')}-{name}.log"
        try:
            with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
                return self.read(self._count_in(Path(folder), task, library.resolve(), log, env))
        except (PipelineError, OSError) as error:
            return _why(error)

    def _count_in(
        self, room: Path, task: Task, library: Path, log: Path, env: Mapping[str, str]
    ) -> Profile:
        for name, text in task.files.items():
            (room / name).write_text(text, encoding="utf-8")
        what = Simulation(
            (str(_named(room, task)), *task.arguments),
            {**task.env, **self.env, **env},
            library,
            self.geometry,
            log.resolve(),
            function=None,
            branches=False,
        )
        start = partial(_driven, room, task, log)
        if task.counts:
            return simulate_below(self.valgrind, what, task.counts, start)
        return simulate(self.valgrind, what, start)[0]


def _driven(
    room: Path, task: Task, log: Path, argv: tuple[str, ...], env: Mapping[str, str]
) -> Completed:
    """Run a task; one that waits for clients is driven meanwhile."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        where = task.folder or room
        future = pool.submit(run, argv, env=env, cwd=where, timeout_s=LIMIT_S, log=log)
        if task.drive:
            task.drive(room, future)
        return future.result()


def _named(room: Path, task: Task) -> Path:
    """Return the program under the name that it is meant to run by."""
    if task.path is None:
        raise ValueError(f"{task.program} is not on this machine")
    if task.path.name == Path(task.program).name:
        return task.path
    (room / task.program).symlink_to(task.path)
    return room / task.program


def _why(error: PipelineError | OSError) -> str:
    """Return a line: what was wrong, and what to do where the error says it."""
    hint = error.hint if isinstance(error, PipelineError) else ""
    return "; ".join(words for words in (str(error).splitlines()[0], hint) if words)


def whole_counter(request: JudgeRequest, logs: str = "programs") -> WholeCounter:
    """Return what counts whole programs in a cache as large as this machine's.

    The cache has no sets, so that what decides is how much code runs, not where it fell. Logs go to
    the folder ``logs`` of the request's.
    """
    cache = without_conflicts(machine_l1i()[0])
    margin = request.margins.icache
    valgrind = request.tools.valgrind
    return WholeCounter(valgrind, cache, request.count_env, request.logs / logs, margin)


def count_programs(
    counter: WholeCounter,
    sides: Mapping[Side, Path],
    tasks: Sequence[Task],
    say: Callable[[str], None],
) -> tuple[RealProgram, ...]:
    """Return the counts of both libraries in each task."""
    total = len(SIDES) * sum(runs_of(task) for task in tasks if task.path is not None)
    libraries: dict[str, Path] = {side: sides[side] for side in SIDES}
    return tuple(as_program(one) for one in counter.count(libraries, tasks, numbered(say, total)))
