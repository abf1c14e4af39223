"""The one door for child processes.

Whatever the pipeline starts goes through :func:`run`. The door

* builds the environment from a short list of variables, so that no stray ``HAKMEM_*``,
  ``LLVM_PROFILE*``, ``LD_*``, ``CFLAGS`` or ``GIT_*`` of the caller reaches a measurement;
* gives each child a process group of its own and kills that whole group on a time-out or ctrl-C,
  and lets the kernel kill the child if the pipeline itself is killed;
* writes output to files, never to pipes: a grandchild that keeps a pipe open cannot hang us;
* leaves a log file that begins with a line to paste into a shell.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from pipeline.core import interrupts
from pipeline.core.descendants import children
from pipeline.core.errors import ChildFailed, ChildTimeout, ToolError

# Everything else in the caller's environment stays outside.
KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR")
# One language and one time zone: messages are parsed, and outputs are compared.
FIXED_VARIABLES = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
# How much of a failed child's last words an error message carries, in lines.
TAIL_LINES = 6
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.PyDLL(None)

echo: Callable[[str], None] | None = None
"""Set by ``-v``: receives each child's pasteable line before it starts."""


@dataclass(frozen=True)
class Completed:
    """A child process that has ended. Times are in seconds.

    There is no peak RSS here on purpose: Linux carries ``ru_maxrss`` over exec, so a small child
    of a large Python would show Python's. Programs report their own VmHWM instead.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    seconds: float
    cpu_seconds: float
    log: Path | None = None


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment children get: a kept few, fixed locale and zone, then ``extra``."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | FIXED_VARIABLES | dict(extra or {})


def pasteable(argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None) -> str:
    """Return ``argv`` as one shell line with its extra variables and its folder."""
    words = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    words += [shlex.quote(word) for word in argv]
    line = " ".join(words)
    return f"(cd {shlex.quote(str(cwd))} && {line})" if cwd else line


def run(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float | None = None,
    log: Path | None = None,
    stdin: Path | None = None,
    capture: bool = True,
    expect: Collection[int] | None = (0,),
    tied: bool = True,
) -> Completed:
    """Run ``argv`` to its end and return what it did.

    ``env`` is added to the clean environment. ``timeout_s`` is wall time in seconds; None waits
    for ever. ``log`` gets line, output and exit code. ``stdin`` is a file, else empty input.
    ``capture=False`` leaves the output in the log alone. ``expect`` lists the good exit codes;
    None accepts every exit code and every signal. ``tied=False`` lets a child outlive a SIGKILL of
    the pipeline: it then starts in 0.4 instead of 4 ms, which is right for children that end by
    themselves within a second or two.

    Raises ChildFailed, ChildTimeout, or ToolError when the program cannot be started.
    """
    words = tuple(str(word) for word in argv)
    line = pasteable(words, env, cwd)
    if echo is not None:
        echo(line)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        end = _run_to_end(lambda: _start(words, env, cwd, stdin, out, err, tied), timeout_s)
        stdout, stderr = _text(out), _text(err)
    if log is not None:
        _write_log(log, line, stdout, stderr, end.returncode, end.seconds)
    if not end.by_itself:
        raise _timeout(words, timeout_s or 0.0, log)
    if expect is not None and end.returncode not in expect:
        raise _failure(words, end.returncode, stdout, stderr, log)
    if not capture:
        stdout = stderr = ""
    return Completed(words, end.returncode, stdout, stderr, end.seconds, end.cpu_seconds, log)


def run_visible(
    argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> int:
    """Run ``argv`` with its output on our own terminal; return its exit code.

    For test runners, whose output is the point. Ctrl-C reaches the child as it reaches us.
    """
    words = [str(word) for word in argv]
    if echo is not None:
        echo(pasteable(words, env, cwd))
    try:
        return subprocess.run(
            words, env=clean_environment(env), cwd=cwd, stdin=subprocess.DEVNULL, check=False
        ).returncode
    except OSError as error:
        raise _cannot_start(words, error) from error


class Beside:
    """A child that works beside us, its output in a file: what it has said can be shown later."""

    def __init__(self, child: subprocess.Popen[bytes], log: Path) -> None:
        self._child = child
        self._log = log
        self._started = time.monotonic()
        self._seconds = 0.0
        self._waiter = threading.Thread(target=self._wait, daemon=True)
        self._waiter.start()

    def _wait(self) -> None:
        self._child.wait()
        self._seconds = time.monotonic() - self._started

    def finish(self, show: Callable[[str], None]) -> tuple[int, float]:
        """Show what it says until it ends; return its exit code and how many seconds it took."""
        with self._log.open(encoding="utf-8", errors="replace") as said:
            while self._waiter.is_alive():
                self._waiter.join(0.2)
                show(said.read())
            show(said.read())
        return self._child.returncode, self._seconds

    def end(self) -> None:
        """Kill it and its group, unless it has ended."""
        if self._waiter.is_alive():
            _kill_group(self._child.pid)
            self._waiter.join()


@contextlib.contextmanager
def running_beside(
    argv: Sequence[str | Path], *, log: Path, cwd: Path | None = None
) -> Iterator[Beside]:
    """Start ``argv`` with its output in ``log``; it does not outlive the block."""
    words = tuple(str(word) for word in argv)
    if echo is not None:
        echo(pasteable(words, None, cwd))
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out, interrupts.held():
        child = Beside(_start(words, None, cwd, None, out, out, True), log)
    try:
        interrupts.check()
        yield child
    finally:
        child.end()


def run_as_it_is(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> int:
    """Run somebody's program as they would: our own environment, input and output; wait for all.

    Returns its exit code, 128 + N after signal N. Processes that it leaves behind (a daemon) are
    waited for too; children that we had before are not. Ctrl-C reaches the program and not us;
    SIGTERM is passed on to it.
    """
    if echo is not None:
        echo(pasteable(argv, env, cwd))
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    before = set(children(os.getpid()))
    with interrupts.left_to_a_child() as adopt:
        try:
            child = subprocess.Popen(list(argv), env=os.environ | dict(env or {}), cwd=cwd)
        except OSError as error:
            raise ToolError(
                f"cannot start {argv[0]}: {error.strerror or error}",
                hint="is its name or path right, and may it be executed?",
            ) from error
        adopt(child)
        code = child.wait()
        while left := _children_beside(before):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(left.pop(), 0)
    return code if code >= 0 else 128 - code


def _children_beside(others: set[int]) -> set[int]:
    """Return our children without ``others``. The kernel's list may lack one while another ends."""
    return set(children(os.getpid())) - others or set(children(os.getpid())) - others


def _start(
    words: tuple[str, ...],
    env: Mapping[str, str] | None,
    cwd: Path | None,
    stdin: Path | None,
    out: IO[bytes],
    err: IO[bytes],
    tied: bool,
) -> subprocess.Popen[bytes]:
    source: IO[bytes] | int = stdin.open("rb") if stdin else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            words,
            env=clean_environment(env),
            cwd=cwd,
            stdin=source,
            stdout=out,
            stderr=err,
            start_new_session=True,
            # System calls alone, no lock of Python; but with it Python forks where it could vfork.
            preexec_fn=partial(_die_with, os.getpid()) if tied else None,  # noqa: PLW1509
        )
    except OSError as error:
        raise _cannot_start(words, error) from error
    finally:
        if not isinstance(source, int):
            source.close()


def _die_with(parent: int) -> None:
    """Run in the child before exec: a SIGKILL of the pipeline takes the child along."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before the kernel knew of our wish
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class _End:
    """How a child ended: not by itself if it was killed when its time was over."""

    by_itself: bool
    returncode: int
    seconds: float
    cpu_seconds: float


def _run_to_end(start: Callable[[], subprocess.Popen[bytes]], timeout_s: float | None) -> _End:
    """Start a child and wait until it is dead; whatever is raised meanwhile, it does not live on.

    An interrupt may come between any two lines, also between the start and the wait.
    """
    child: subprocess.Popen[bytes] | None = None
    started = time.monotonic()  # the child may run for a while before we know that it does
    try:
        with interrupts.held():
            child = start()
        by_itself = _wait(child, timeout_s)
        seconds = time.monotonic() - started
        cpu_seconds = _reap(child)
    except BaseException:
        if child is not None and child.returncode is None:
            with contextlib.suppress(ChildProcessError):
                _reap(child)
        raise
    return _End(by_itself, child.returncode, seconds, cpu_seconds)


def _wait(child: subprocess.Popen[bytes], timeout_s: float | None) -> bool:
    """Wait until the child is dead or the time is over; True when it ended by itself.

    A pidfd wakes us at once; Popen.wait with a time-out would sleep in steps of up to 50 ms.
    """
    interrupts.check()
    descriptor = os.pidfd_open(child.pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return bool(poller.poll(None if timeout_s is None else timeout_s * 1000))
    finally:
        os.close(descriptor)


def _reap(child: subprocess.Popen[bytes]) -> float:
    """Kill what is left of the group, collect the child; return its CPU seconds."""
    _kill_group(child.pid)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def _write_log(
    log: Path, line: str, stdout: str, stderr: str, returncode: int, seconds: float
) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    parts = [f"$ {line}"]
    parts += [
        f"--- {name}\n{text.rstrip()}"
        for name, text in (("stdout", stdout), ("stderr", stderr))
        if text.strip()
    ]
    parts.append(f"--- {describe_exit(returncode)} after {seconds:.2f} s\n")
    log.write_text("\n".join(parts), encoding="utf-8")


def describe_exit(returncode: int) -> str:
    """Return "exit code 3" or "killed by SIGSEGV" for a return code as Popen gives it."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def _failure(
    words: tuple[str, ...], returncode: int, stdout: str, stderr: str, log: Path | None
) -> ChildFailed:
    last_words = (stderr.strip() or stdout.strip()).splitlines()[-TAIL_LINES:]
    message = "\n  ".join([f"{Path(words[0]).name}: {describe_exit(returncode)}", *last_words])
    return ChildFailed(message, returncode=returncode, log=log)


def _timeout(words: tuple[str, ...], timeout_s: float, log: Path | None) -> ChildTimeout:
    name = Path(words[0]).name
    return ChildTimeout(
        f"{name}: still running after its limit of {timeout_s:g} s",
        log=log,
        hint="try again on a quieter machine; the log says how far it came",
    )


def _cannot_start(words: Sequence[str], error: OSError) -> ToolError:
    return ToolError(
        f"cannot start {words[0]}: {error.strerror or error}",
        hint="`./bootstrap doctor` shows which tools are missing and how to install them",
    )
