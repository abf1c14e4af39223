"""Short tasks of real programs, each counted as a whole by simulation: the same every time.

The key of the I-cache goes by those of JUDGED; a build of the chain is chosen by those of TRAINED,
which are short forms of what the training runs. The two share no task.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.child import SAME_HASHES
from pipeline.core.errors import ChildError
from pipeline.core.process import Completed, run

if TYPE_CHECKING:
    from concurrent.futures import Future

CONNECT_LIMIT_S = 60.0
ASK_LIMIT_S = 20.0
SOCKET = "redis.socket"
REDIS, REDIS_TOOL = "redis-server", "redis-check-rdb"
COMPILER = "cc1"
Drive = Callable[[Path, "Future[Completed]"], None]
Find = Callable[[str], Path | None]


@dataclass(frozen=True)
class Task:
    """A short command. ``drive`` talks to a server until it ends, in the folder it runs in.

    ``path`` is the program on this machine, None where there is none. ``folder`` is where it runs,
    None for an empty one. ``own`` tells whether a verify command of the profile runs it, too.
    ``counts`` is the program whose processes are counted, below a driver; None: this one alone.
    """

    name: str
    program: str
    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    drive: Drive | None = None
    path: Path | None = None
    folder: Path | None = None
    weight: float = 1.0
    own: bool = False
    of_profile: bool = False
    """A command of the profile: it may take long, and is not counted again for the self-check."""
    counts: str | None = None
    may_differ: bool = False
    """Several processes or threads: two runs may not count alike (counting/repeat.py)."""
    digest: str | None = None
    """A digest of the program and the files that it names; None where nobody asked for it."""

    @property
    def names(self) -> frozenset[str]:
        """The names by which a workload may call this program."""
        others = {REDIS: {REDIS_TOOL}, COMPILER: {"gcc", "cc"}}.get(self.program, set())
        return frozenset({self.name, self.program, *others})

    @property
    def command(self) -> str:
        """The command as a line to read; scripts of several lines are left out."""
        told = (word if "\n" not in word else "..." for word in self.arguments)
        return shlex.join((self.program, *told))


def found(tasks: Sequence[Task], find: Find) -> tuple[Task, ...]:
    """Return ``tasks`` with the programs that ``find`` knows; the others keep no path."""
    return tuple(replace(task, path=_find(task.program, find)) for task in tasks)


def _find(program: str, find: Find) -> Path | None:
    if program == COMPILER:
        return _compiler(find)
    if program == REDIS:  # one file with two names: which of them a system has differs
        return find(REDIS) or find(REDIS_TOOL)
    return find(program)


def _compiler(find: Find) -> Path | None:
    """Return gcc's compiler proper: gcc itself only starts others."""
    driver = find("gcc")
    if driver is None:
        return None
    try:
        said = run([driver, f"-print-prog-name={COMPILER}"], timeout_s=ASK_LIMIT_S).stdout.strip()
    except ChildError:
        return None
    return Path(said) if Path(said).is_absolute() and shutil.which(said) else None


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


COMPILE_AND_SEARCH = """
source = "".join(f"def f{n}(a, b={n}):\\n    return {{'k{n}': [a + i for i in range({n % 7})]}}\\n"
                 for n in range(30))
space = {}
exec(compile(source, "made", "exec"), space)
far, queue = {0: 0}, [0]
while queue:
    n = queue.pop(0)
    for cost in range(1, 5):
        other = (n * 7 + cost) % 201
        if far[n] + cost < far.get(other, 1 << 30):
            far[other] = far[n] + cost
            queue.append(other)
print(len(space), len(far), sorted(str(far))[-1])
"""
JOIN = """
create table item(id integer primary key, kind text);
create table sale(item integer, day integer, price real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
insert into item select i, 'kind ' || (i * 31 % 97) from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 900)
insert into sale select i * 17 % 300 + 1, i % 365, i * 0.25 from n;
select kind, count(*), sum(price) from item join sale on sale.item = item.id
group by kind order by 3 desc limit 5;
update item set kind = upper(kind) || id where id % 3 = 0;
select count(distinct substr(kind, 1, 6)) from item where kind like '%K%';
"""
C_SOURCE = "".join(
    f"int f{n}(int a, int b) {{ int s = {n}; for (int i = 0; i < a; i++) s += i * b ^ {n};"
    f" return s > b ? f{n - 1 if n else 0}(b, s & 7) : s; }}\n"
    for n in range(3)
)
ROWS_AND_WORDS = """
rows = [{"id": i, "name": f"row {i}", "tags": list(range(i % 30))} for i in range(60)]
text, count = repr(rows), {}
for word in text.replace(":", " ").split():
    count[word] = count.get(word, 0) + 1
print(len(eval(text)), len(count), len(sorted(text.split(","))))
"""
INDEX = """
create table t(id integer primary key, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 800)
insert into t select i, 'name ' || (i * 7919 % 1009) from n;
create index by_name on t(name);
select count(distinct name) from t;
"""
WORDS = """
my %count; my $seed = 1;
for (1 .. 4_000) {
    $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; $count{"key" . $seed % 900} .= "x";
}
print scalar(keys %count), " ", length(join(",", sort keys %count)), "\\n";
"""

JUDGED = (
    Task("gcc", COMPILER, ("-quiet", "-O1", "one.c", "-o", "one.s"), files={"one.c": C_SOURCE}),
    Task("python3", "python3", ("-S", "-c", COMPILE_AND_SEARCH), env=SAME_HASHES),
    Task(
        "redis",
        REDIS,
        ("--port", "0", "--unixsocket", SOCKET, "--save", "", "--io-threads", "1"),
        drive=talk_to_redis,
    ),
    Task("sqlite3", "sqlite3", (":memory:", JOIN)),
)
TRAINED = (
    Task("python3", "python3", ("-S", "-c", ROWS_AND_WORDS), env=SAME_HASHES),
    Task("perl", "perl", ("-e", WORDS), env=SAME_HASHES),
    Task("sqlite3", "sqlite3", (":memory:", INDEX)),
)
