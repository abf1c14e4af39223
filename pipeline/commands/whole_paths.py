"""The command of a program, as a profile keeps it: its files are named by their whole path."""

from __future__ import annotations

import os
from pathlib import Path

INTERPRETERS = ("sh", "bash", "dash", "python3", "python", "perl", "ruby", "lua", "node")
"""Their first word is a file, unless it is an option."""


def with_whole_paths(command: tuple[str, ...], root: Path) -> tuple[str, ...]:
    """Return the command with files named from here by their whole path: it runs in ``root``."""
    if command:
        _require_program(command[0])
    _require_script(command, root)
    _require_text(command)
    first = [str(Path(word).resolve()) if "/" in word else word for word in command[:1]]
    rest = [str(Path(word).resolve()) if _is_here(word, root) else word for word in command[1:]]
    return (*first, *rest)


def _require_program(program: str) -> None:
    """Raise UsageError if there is no such program, or nobody may start it."""
    from pipeline.core.errors import UsageError
    from pipeline.core.spelling import nearest_file
    from pipeline.stages.build.programs import find_program

    if "/" not in program and find_program(program) is None:
        raise UsageError(
            f"there is no program {program}", hint="give its path; PATH does not have it"
        )
    if "/" in program and Path(program).is_dir():
        raise UsageError(f"{program} is a folder", hint="give the path of a program in it")
    if "/" in program and not Path(program).is_file():
        raise UsageError(
            f"there is no program {program}: no such file",
            hint=nearest_file(Path(program), "; a name without / is looked up in PATH"),
        )
    if "/" in program and not os.access(program, os.X_OK):
        raise UsageError(
            f"{program} is not executable", hint="put its interpreter in front, or chmod +x it"
        )


def _require_script(command: tuple[str, ...], root: Path) -> None:
    """Raise UsageError if an interpreter is to run a file that is neither here nor in the tree."""
    from pipeline.core.errors import UsageError
    from pipeline.core.spelling import nearest_file

    interpreter, *words = command or ("",)
    if Path(interpreter).name not in INTERPRETERS or not words or words[0].startswith("-"):
        return
    if not any((folder / words[0]).is_file() for folder in (Path.cwd(), root)):
        raise UsageError(
            f"{interpreter} is to run {words[0]}, and there is no such file",
            hint=nearest_file(Path(words[0])),
        )


def _require_text(command: tuple[str, ...]) -> None:
    """Raise UsageError if a word is not UTF-8, as the name of a file may be: TOML has none such."""
    from pipeline.core.errors import UsageError

    for word in command:
        if word.encode(errors="replace").decode() != word:
            raise UsageError(
                f"{word!r} is not UTF-8, and a profile holds nothing else", hint="rename that file"
            )


def _is_here(word: str, root: Path) -> bool:
    path = Path(word)
    return not path.is_absolute() and path.exists() and Path.cwd() != root
