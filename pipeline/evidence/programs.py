"""The library inside real programs: its share of their instructions and instruction-cache misses.

Short commands, each counted as a whole under callgrind, from the first instruction to the last.
What a program starts as a child is not counted.
"""

from __future__ import annotations

import shlex
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.errors import PipelineError
from pipeline.core.process import Completed, run
from pipeline.evidence.model import ProgramShare
from pipeline.judge.counting.callgrind_file import Profile
from pipeline.judge.counting.count import in_parallel
from pipeline.judge.counting.valgrind import Simulation, simulate
from pipeline.judge.model import SIDES
from pipeline.judge.request import CacheGeometry, Side

LIMIT_S = 120.0
CONNECT_LIMIT_S = 60.0
SOCKET = "redis.socket"
Find = Callable[[str], Path | None]
Drive = Callable[[Path, "Future[Completed]"], None]

PYTHON = """
import json, re
rows = [{"id": i, "name": f"row {i}", "tags": list(range(i % 9))} for i in range(400)]
text = json.dumps(rows)
print(len(json.loads(text)), len(re.findall(r"[a-z]+", text)))
"""
SQL = """
create table t(id integer primary key, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
insert into t select i, 'name ' || (i * 7919 % 1009) from n;
create index by_name on t(name);
select count(distinct name) from t;
"""
C_SOURCE = "".join(
    f"int f{n}(int a, int b) {{ int s = {n}; for (int i = 0; i < a; i++) s += i * b ^ {n};"
    f" return s > b ? f{n - 1 if n else 0}(b, s & 7) : s; }}\n"
    for n in range(8)
)


@dataclass(frozen=True)
class Program:
    """A short command. ``drive`` talks to a server until it ends, in the folder it runs in."""

    name: str
    program: str
    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    drive: Drive | None = None

    @property
    def command(self) -> str:
        """The command as a line to read; scripts of several lines are left out."""
        told = (word if "\n" not in word else "..." for word in self.arguments)
        return shlex.join((self.program, *told))


def talk_to_redis(folder: Path, server: Future[Completed]) -> None:
    """Set and read keys, then ask the server to end. Raises OSError if it does not answer."""
    deadline = time.monotonic() + CONNECT_LIMIT_S
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(CONNECT_LIMIT_S)
        while True:
            try:
                line.connect(str(folder / SOCKET))
                break
            except OSError:
                if server.done() or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        keys = range(500)
        said = [f"SET key:{n} {'x' * (n % 200)}\r\n" for n in keys]
        said += [f"RPUSH list:{n % 20} item{n}\r\n" for n in keys]
        said += [f"GET key:{n}\r\n" for n in keys]
        line.sendall("".join([*said, "SHUTDOWN NOSAVE\r\n"]).encode())
        while line.recv(65536):
            pass


PROGRAMS = (
    Program("python3", "python3", ("-S", "-c", PYTHON), env={"PYTHONHASHSEED": "0"}),
    Program("gcc", "cc1", ("-quiet", "-O1", "one.c", "-o", "one.s"), files={"one.c": C_SOURCE}),
    Program("sqlite3", "sqlite3", (":memory:", SQL)),
    Program(
        "redis",
        "redis-server",
        ("--port", "0", "--unixsocket", SOCKET, "--save", "", "--io-threads", "1"),
        drive=talk_to_redis,
    ),
)


@dataclass(frozen=True)
class Survey:
    """Where programs are counted: tools, both libraries, the simulated cache, and the logs.

    ``env`` is what counted runs have in addition. Each program runs in an empty folder of its own.
    """

    valgrind: Path
    libraries: Mapping[Side, Path]
    geometry: CacheGeometry
    env: Mapping[str, str]
    logs: Path

    def of(self, program: Program, path: Path | None) -> ProgramShare:
        """Return the shares in one program; a failure is a result, with its reason."""
        command = program.command
        if path is None:
            detail = f"{program.program} is not installed"
            return ProgramShare(name=program.name, command=command, status="skipped", detail=detail)
        try:
            counted = in_parallel(lambda side: self._count(program, path, side), SIDES)
        except (PipelineError, OSError) as error:
            detail = str(error).splitlines()[0]
            return ProgramShare(name=program.name, command=command, status="failed", detail=detail)
        return shares(program.name, command, counted[0], counted[1])

    def _count(self, program: Program, path: Path, side: Side) -> Profile:
        with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
            return self._count_in(Path(folder), program, path, side)

    def _count_in(self, room: Path, program: Program, path: Path, side: Side) -> Profile:
        log = self.logs / f"{program.name}-{side}.log"
        for name, text in program.files.items():
            (room / name).write_text(text, encoding="utf-8")

        def start(argv: tuple[str, ...], env: Mapping[str, str]) -> Completed:
            with ThreadPoolExecutor(max_workers=1) as pool:
                future = pool.submit(run, argv, env=env, cwd=room, timeout_s=LIMIT_S, log=log)
                if program.drive:
                    program.drive(room, future)
                return future.result()

        what = Simulation(
            (str(path), *program.arguments),
            {**program.env, **self.env},
            self.libraries[side].resolve(),
            self.geometry,
            log.resolve(),
            function=None,
        )
        return simulate(self.valgrind, what, start)[0]


def shares(name: str, command: str, baseline: Profile, tuned: Profile) -> ProgramShare:
    """Return a program's record from its two counts."""
    return ProgramShare(
        name=name,
        command=command,
        status="counted",
        detail="the whole process, simulated",
        baseline_instructions=_part(baseline.instructions.total(), baseline.total_instructions),
        tuned_instructions=_part(tuned.instructions.total(), tuned.total_instructions),
        baseline_i1_misses=_part(baseline.i1_misses.total(), baseline.total_i1_misses),
        tuned_i1_misses=_part(tuned.i1_misses.total(), tuned.total_i1_misses),
        total_instructions=tuned.total_instructions,
    )


def _part(own: int, whole: int) -> float | None:
    return own / whole if whole else None
