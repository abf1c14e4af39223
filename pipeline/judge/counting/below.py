"""Counting one program among all that a driver starts: the server that a script asks something.

valgrind can leave programs out by name, but cannot take one alone: so all that the driver starts
is simulated, and the processes of one name are added up. Which program a process ran, and where
the library lies in it, says the dynamic linker's log; callgrind's files have the counts.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import DataError, WorkloadError
from pipeline.core.preload import preload
from pipeline.judge.counting.callgrind_file import Profile, Region, read_profile
from pipeline.judge.counting.valgrind import Simulation, Starter, region_at
from pipeline.toolchain.loader_log import last_programs, tell_loaded

COUNTS, LOADER = "counts", "loader"
_HEAD_LINES = 20
"""callgrind names the process and its command in the first few lines of a file."""


@dataclass(frozen=True)
class Image:
    """A program that a process ran, and where the library lies in it; None: it has none."""

    program: str
    region: Region | None

    def ran(self, command: str) -> bool:
        """Return whether the program may have been started by this command line."""
        return f"{command} ".startswith(f"{self.program} ")


@dataclass(frozen=True)
class Counted:
    """A process with counts: its program, and the places that the library may have in it."""

    counts: Path
    program: str
    regions: frozenset[Region]


def simulate_below(valgrind: Path, what: Simulation, name: str, start: Starter) -> Profile:
    """Run a driver by ``start(argv, env)``; return what the library did in programs ``name``.

    Raises what ``start`` raises, WorkloadError where no such program was counted to its end, and
    DataError when the counts cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="hakmem-") as made:
        folder = Path(made)
        pattern = f"{str(folder / COUNTS).replace('%', '%%')}.%p"
        options = (*what.simulator(valgrind, pattern), "--trace-children=yes", "--vgdb=no")
        loader = tell_loaded(folder / LOADER)
        start((*options, *what.argv), {**what.env, **preload(what.library), **loader})
        return read_below(folder, name, what.library)


def read_below(folder: Path, name: str, library: Path) -> Profile:
    """Return the sum of all processes that ran the program ``name`` with the library."""
    images = {
        number: Image(one.program, region_at(one.place, library))
        for number, one in last_programs(folder / LOADER, library).items()
    }
    files = {path.suffix[1:]: path for path in sorted(folder.glob(f"{COUNTS}.*")) if _written(path)}
    ran = [_counted(path, images) for path in files.values()]
    named = [one for one in ran if _called(one.program, name)]
    _refuse_killed(
        name, {pid for pid, one in images.items() if _called(one.program, name)} - set(files)
    )
    if not named:
        others = sorted({Path(one.program).name for one in ran})
        raise WorkloadError(
            f"no process of a program {name} ran; what ran: {', '.join(others) or 'nothing'}",
            hint="`counted` takes the name by which the driver starts it, without its folder",
        )
    loaded = [one for one in named if one.regions]
    if not loaded:
        raise WorkloadError(
            f"{name} ran without the library",
            hint="is it linked statically, or does the driver take LD_PRELOAD away from it?",
        )
    return _sum(read_profile(one.counts, _place(name, one.regions)) for one in loaded)


def _written(path: Path) -> bool:
    """Return whether there are counts: callgrind makes the file when a process begins."""
    return path.stat().st_size > 0


def _refuse_killed(name: str, pids: Collection[str]) -> None:
    if pids:
        raise WorkloadError(
            f"{name} was killed, or still ran when the driver ended: it left no counts",
            hint="end it by a request or by SIGTERM, and let the driver wait for its end",
        )


def _place(name: str, regions: frozenset[Region]) -> Region:
    if len(regions) > 1:
        raise DataError(
            f"{name} forked a process in which the library's place is not known",
            hint="start it in one way alone, with the same library",
        )
    return next(iter(regions))


def _counted(path: Path, images: Mapping[str, Image]) -> Counted:
    """Return what a file of counts is of.

    A process that was forked has no log: it lies where one lies that was started alike. One whose
    command fits no log at all is linked statically.
    """
    command = _command(path)
    own = images.get(path.suffix[1:])
    alike = [own] if own and own.ran(command) else [i for i in images.values() if i.ran(command)]
    program = alike[0].program if alike else command.split(" ")[0]
    return Counted(path, program, frozenset(one.region for one in alike if one.region))


def _command(path: Path) -> str:
    """Return the command line that callgrind wrote down; "" where there is none."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        for _, line in zip(range(_HEAD_LINES), stream, strict=False):
            if line.startswith("cmd:"):
                return line.removeprefix("cmd:").strip()
    return ""


def _called(program: str, name: str) -> bool:
    return Path(program).name == name


def _sum(profiles: Iterable[Profile]) -> Profile:
    instructions: Counter[int] = Counter()
    misses: Counter[int] = Counter()
    total = total_misses = 0
    for one in profiles:
        instructions += one.instructions
        misses += one.i1_misses
        total += one.total_instructions
        total_misses += one.total_i1_misses
    return Profile(instructions, misses, total, total_misses)
