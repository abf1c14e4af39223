"""A server that runs for a while: started, awaited, watched, ended with all its processes."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness.allocators import Allocator
from bench.harness.runner import RunFailed, Sample, run_child
from pipeline.core.child import clean_environment
from pipeline.core.descendants import descendants

START_LIMIT_S = 20.0
STOP_LIMIT_S = 10.0
LOAD_LIMIT_S = 60.0
SAMPLE_EVERY_S = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")
# Debian links some servers with an allocator of their own; libc preloaded comes before that.
_LIBC = "libc.so.6"


def preload(allocator: Allocator) -> dict[str, str]:
    """Return the environment that makes a server use this allocator, whatever it is linked with."""
    return {**allocator.variables, "LD_PRELOAD": str(allocator.library or _LIBC)}


def unprivileged() -> list[str]:
    """Return the words that run a command as ``nobody`` where we are root, and end it with us."""
    words = ["setpriv", "--pdeathsig", "KILL"]
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        words += ["--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"]
    return words


@dataclass
class Server:
    """A running server: its process, its private folder, and the highest memory seen."""

    process: subprocess.Popen[bytes]
    folder: Path
    peak_kib: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def pids(self) -> list[int]:
        """Return the server's processes."""
        return [self.process.pid, *descendants(self.process.pid)]

    def memory_kib(self) -> int:
        """Return the resident memory of all processes; pages that they share count once."""
        return sum(_pss_kib(pid) for pid in self.pids())

    def cpu_seconds(self) -> float:
        """Return the processor time of all processes, ended children included."""
        return sum(_cpu_ticks(pid) for pid in self.pids()) / _TICKS

    def watch(self) -> None:
        """Keep the highest memory until the server ends; for a thread."""
        while not self._over.wait(SAMPLE_EVERY_S):
            self.peak_kib = max(self.peak_kib, self.memory_kib())

    def measured(self, load: Callable[[], Load]) -> Sample:
        """Put a load on the server and return what it cost."""
        self.peak_kib = 0
        before = self.cpu_seconds()
        done = load()
        cpu_seconds = self.cpu_seconds() - before
        self.peak_kib = max(self.peak_kib, self.memory_kib())
        return Sample(
            {
                "ops": done.requests,
                "seconds": done.seconds,
                "cpu_seconds": cpu_seconds,
                "p99_us": done.p99_us,
                "peak_rss_kib": self.peak_kib,
            }
        )

    def end(self, how: signal.Signals) -> None:
        """Ask the server to end, then make sure that no process of it holds a port or memory."""
        self._over.set()
        pids = self.pids()
        self.process.send_signal(how)
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _kill_group(self.process.pid)
            self.process.wait()
        _await_end(pids)


@dataclass(frozen=True)
class Load:
    """What a load generator reports."""

    requests: float
    seconds: float
    p99_us: float


@contextmanager
def serving(
    argv: Sequence[str],
    allocator: Allocator,
    folder: Path,
    ready: Callable[[], bool],
    stop: signal.Signals = signal.SIGTERM,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Run a server with an allocator while this lasts; RunFailed if it does not start."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv,
            env=clean_environment({**preload(allocator), **(variables or {})}),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    server = Server(process, folder)
    try:
        _await(server, ready, log)
        _check_loaded(server, allocator)
        threading.Thread(target=server.watch, daemon=True).start()
        yield server
    finally:
        server.end(stop)


def _await(server: Server, ready: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not ready():
        if server.process.poll() is not None or time.monotonic() > deadline:
            words = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise RunFailed("the server does not start: " + " ".join(words[-3:]))
        time.sleep(0.02)


def _check_loaded(server: Server, allocator: Allocator) -> None:
    """Raise RunFailed without the library: the dynamic linker only warns when it cannot load it."""
    if allocator.library is None:
        return
    wanted = str(allocator.library.resolve())
    for maps in [_read(pid, "maps") for pid in server.pids()]:
        if maps and wanted not in maps:
            raise RunFailed(f"{allocator.library} was not preloaded into the server")


def succeeds(command: Sequence[str]) -> bool:
    """Return whether a command ends with exit code 0."""
    try:
        run_child(command, {}, START_LIMIT_S)
    except RunFailed:
        return False
    return True


def _pss_kib(pid: int) -> int:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def _cpu_ticks(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:15])


def _read(pid: int, name: str) -> str:
    """Return a file of a process; "" if the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _await_end(pids: Sequence[int]) -> None:
    """Wait, for a while, until processes that were killed are gone; their parent is not us."""
    deadline = time.monotonic() + STOP_LIMIT_S
    while any(_is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.005)


def _is_alive(pid: int) -> bool:
    return _read(pid, "stat").rpartition(")")[2].split()[:1] not in ([], ["Z"])


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
