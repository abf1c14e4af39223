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
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pipeline.core.child import cannot_start, clean_environment, run_to_end, start
from pipeline.core.errors import ChildFailed, ChildTimeout
from pipeline.core.watching import Look, watching

# How much of a failed child's last words an error message carries, in lines.
TAIL_LINES = 6
# Characters of a line that a message repeats; the log has all.
WORDS = 160
# How long a test runner may take to sum up once it is to end, and to end what its tests began.
LAST_WORDS_S = 20.0
# What a shell adds to the number of the signal that ended its program.
_SHELL = 128
# Others are left out: some programs, like git, use such codes for errors of their own.
_CRASHES = (
    signal.SIGILL,
    signal.SIGTRAP,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGKILL,
    signal.SIGSEGV,
    signal.SIGSYS,
)

echo: Callable[[str], None] | None = None
"""Set by ``-v``: receives each child's pasteable line before it starts."""


class _OwnEcho(threading.local):
    """Who receives the lines of this thread alone, in place of ``echo``."""

    say: Callable[[str], None] | None = None


_own = _OwnEcho()


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


def pasteable(argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None) -> str:
    """Return ``argv`` as one shell line with its extra variables and its folder."""
    words = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    words += [shlex.quote(word) for word in argv]
    line = " ".join(words)
    return f"(cd {shlex.quote(str(cwd))} && {line})" if cwd else line


def tell(argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None) -> None:
    """Give a child's pasteable line to who asked for it, before the child starts."""
    if echo is not None:
        (_own.say or echo)(pasteable(argv, env, cwd))


@contextlib.contextmanager
def echoing(say: Callable[[str], None]) -> Iterator[None]:
    """Give the lines of children that this thread starts to ``say``, where they are asked for."""
    _own.say = say
    try:
        yield
    finally:
        _own.say = None


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
    look: Look | None = None,
) -> Completed:
    """Run ``argv`` to its end and return what it did.

    ``env`` is added to the clean environment. ``timeout_s`` is wall time in seconds; None waits
    for ever. ``log`` gets line, output and exit code. ``stdin`` is a file, else empty input.
    ``capture=False`` leaves the output in the log alone. ``expect`` lists the good exit codes;
    None accepts every exit code and every signal. ``tied=False`` lets a child outlive a SIGKILL of
    the pipeline: it then starts in 0.4 instead of 4 ms, which is right for children that end by
    themselves within a second or two. ``look`` gets the last words of its output now and then.

    Raises ChildFailed, ChildTimeout, or ToolError when the program cannot be started.
    """
    words = tuple(str(word) for word in argv)
    tell(words, env, cwd)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with watching(out, look):
            end = run_to_end(lambda: start(words, env, cwd, stdin, out, err, tied), timeout_s)
        stdout, stderr = _text(out), _text(err)
    if log is not None:
        _write_log(log, pasteable(words, env, cwd), stdout, stderr, end.returncode, end.seconds)
    if not end.by_itself:
        raise _timeout(words, timeout_s or 0.0, log, end.running)
    if expect is not None and end.returncode not in expect:
        raise _failure(words, end.returncode, stdout, stderr, log)
    if not capture:
        stdout = stderr = ""
    return Completed(words, end.returncode, stdout, stderr, end.seconds, end.cpu_seconds, log)


def run_visible(
    argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> int:
    """Run ``argv`` with its output on our own terminal; return its exit code.

    For test runners, whose output is the point. Ctrl-C reaches the child as it reaches us. What
    else ends us lets it say what it knows: it gets SIGINT, and SIGKILL if it goes on.
    """
    words = [str(word) for word in argv]
    tell(words, env, cwd)
    try:
        child = subprocess.Popen(
            words, env=clean_environment(env), cwd=cwd, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise cannot_start(words, error) from error
    with child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            _end_visible(child)
            raise


def _end_visible(child: subprocess.Popen[bytes]) -> None:
    """End a child that may be ending by itself, as ctrl-C reached it, too."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(1.0)
        return
    child.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(LAST_WORDS_S)
        return
    child.kill()


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
    log.write_text("\n".join(parts), encoding="utf-8", errors="backslashreplace")


def describe_exit(returncode: int) -> str:
    """Return "exit code 3" or "killed by SIGSEGV" for a return code as Popen gives it.

    A shell whose program died of signal N ends with 128 + N: then the signal is named, too.
    """
    if returncode >= 0:
        crash = next((one.name for one in _CRASHES if returncode == _SHELL + one), "")
        return f"exit code {returncode}" + (f", a shell's for {crash}" if crash else "")
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def first_line(output: str) -> str:
    """Return the first line that has words, cut to what a message can hold; or ""."""
    return next((line.strip()[:WORDS] for line in output.splitlines() if line.strip()), "")


def last_line(output: str) -> str:
    """Return the last line that has words, cut in the same way; or ""."""
    return first_line("\n".join(reversed(output.splitlines())))


def _failure(
    words: tuple[str, ...], returncode: int, stdout: str, stderr: str, log: Path | None
) -> ChildFailed:
    last_words = (stderr.strip() or stdout.strip()).splitlines()[-TAIL_LINES:]
    how = "\n  ".join([describe_exit(returncode), *last_words])
    return ChildFailed(how, program=Path(words[0]).name, returncode=returncode, log=log)


def _timeout(
    words: tuple[str, ...], timeout_s: float, log: Path | None, running: Sequence[str]
) -> ChildTimeout:
    named = f" ({', '.join(running)} had not ended)" if running else ""
    return ChildTimeout(
        f"still running after its limit of {timeout_s:g} s{named}",
        program=Path(words[0]).name,
        log=log,
        hint="try again on a quieter machine; on a quiet one it hangs, or is far too slow: run the "
        "first line of the log in a shell",
    )
