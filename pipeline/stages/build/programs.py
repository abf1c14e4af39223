"""Which programs of this machine a build runs: found by a PATH of its own."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pipeline.core.errors import WorkloadError

# The distribution's own programs come first, so that a profile means the same on every machine;
# wrappers of version managers would start dozens of short processes of their own.
PROGRAM_PATH = "/usr/bin:/bin:/usr/local/bin"
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "env")
"""Programs that others are started by: what they allocate themselves says little."""
SCRIPT_BYTES = 1 << 16
"""How much of a file that a shell is given is looked at."""


def command_path() -> str:
    """Return the PATH that workloads run with: the distribution's programs first."""
    return f"{PROGRAM_PATH}:{os.environ.get('PATH', '')}"


def find_program(name: str) -> Path | None:
    """Return the program ``name`` of this machine, or None."""
    found = shutil.which(name, path=command_path())
    return Path(found) if found else None


def differing_programs(argv: Sequence[str]) -> list[str]:
    """Return a sentence for each program of a command that is one here and another in builds.

    Of a shell's script or command line each word is looked at: a shim of pyenv may be called there.
    This pipeline's own environment is nobody's choice of a program, though it may be active.
    """
    return [
        f"{word}: a build runs {theirs}, not {mine}, which your PATH has first; to have "
        f"that one, write {mine} into the {_written(word, argv)}"
        for word, mine, theirs in _differing(argv, _path_of_the_user())
    ]


def unlike_in_builds(argv: Sequence[str]) -> list[str]:
    """Return a sentence for each program that is run here by the PATH, and another in builds."""
    return [
        f"{word}: this runs {mine}, which your PATH has first; a build runs {theirs}: to have "
        f"that one, write {theirs} into the {_written(word, argv)}"
        for word, mine, theirs in _differing(argv, os.environ.get("PATH", os.defpath))
    ]


def _written(word: str, argv: Sequence[str]) -> str:
    return "command" if word in argv else "script"


def _differing(argv: Sequence[str], path: str) -> Iterator[tuple[str, str, Path]]:
    """Yield a word, the program that it is by ``path``, and that of builds, if they differ."""
    for word in dict.fromkeys(_words(argv)):
        mine, theirs = shutil.which(word, path=path), find_program(word)
        if mine and theirs and _place(Path(mine)) != _place(theirs):
            yield word, mine, theirs


def _path_of_the_user() -> str:
    own = Path(sys.prefix, "bin")
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(one for one in folders if Path(one) != own)


def starts_others(name: str) -> bool:
    """Tell whether a program mostly starts others: a shell, or a script that one runs."""
    return Path(name).name in SHELLS or _interpreter(find_program(name)) in SHELLS


def _interpreter(program: Path | None) -> str:
    """Return the name of what runs a script, behind `env` too; "" for any other program."""
    words: list[str] = []
    with suppress(OSError):
        if program is not None:
            with program.open("rb") as stream:
                first = stream.readline(256)
            words = os.fsdecode(first[2:]).split() if first.startswith(b"#!") else []
    names = [Path(word).name for word in words if not word.startswith("-") and "=" not in word]
    return next((name for name in names if name != "env"), "")


def _words(argv: Sequence[str]) -> Iterator[str]:
    yield from argv
    if argv and starts_others(argv[0]):
        for word in argv:
            with suppress(OSError):  # a command line may be too long for a name
                yield from re.findall(r"[\w.+/-]+", _text(word))


def _text(word: str) -> str:
    """Return how a script begins, or the word itself where no script lies.

    Data may be long; scripts are not, and have no byte 0, as programs do.
    """
    path = Path(word)
    if not path.is_file():
        return word
    with path.open("rb") as stream:
        begin = stream.read(SCRIPT_BYTES)
    return word if b"\0" in begin else begin.decode("utf-8", "replace")


def _place(program: Path) -> Path:
    """Return where a program lies. It is not followed: a link of pyenv or a venv is another."""
    return program.parent.resolve() / program.name


def find_needed(name: str) -> Path | None:
    """Return the program ``name``, or the file of that whole path: data that a program reads."""
    path = Path(name)
    return find_program(name) or (path if path.is_absolute() and path.is_file() else None)


def require_program(name: str) -> Path:
    """Return the program ``name`` of this machine. WorkloadError if it is gone since configure."""
    found = find_program(name)
    if found is None:
        raise WorkloadError(
            f"{name} has vanished from this machine",
            hint="install it again, then give the same command",
        )
    return found
