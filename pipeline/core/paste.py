"""Commands that messages propose: how they can be pasted where they are read.

Messages name them as they are typed in the root of the tree, ``.venv/bin/pipeline``. Whoever
stands elsewhere gets whole paths, and no terminal breaks a command in two.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path

from pipeline.core.home import own_root

FOLDER = ".venv/bin/"
_COMMAND = re.compile(rf"(?<![\w./]){re.escape(FOLDER)}(pipeline|hakmem)\b")
_ARTIFACT = re.compile(r"(?<= )build/pipeline/[^ `]*")
_QUOTED = re.compile(r"`[^`]*`")
_SENTENCES = re.compile(r"(?<=[a-z)`]\.) (?=[A-Z`])")
_ONE_LINE = 100
_GOES_ON = " \\"
_BEFORE = len("exit code 127: ")
_JOINT = "\ue000"
"""Stands for a blank inside a command while lines are broken."""


def runnable(text: str) -> str:
    """Return a message with its commands as they work in the current folder."""
    root = own_root()
    if not _COMMAND.search(text) or _stands_in(root) or not (root / FOLDER / "pipeline").exists():
        return text
    commands = _QUOTED.sub(lambda found: _with_root(found[0], root), text)
    return _COMMAND.sub(lambda found: shlex.quote(f"{root}/{found[0]}"), commands)


def what_to_do(hint: str) -> str:
    """Return the line below an error that says what to do; a long one has a line per sentence."""
    sentences = _SENTENCES.split(hint) if len(hint) > _ONE_LINE else [hint]
    return runnable("  what to do: " + f"\n{' ' * 14}".join(sentences))


def in_lines(text: str, width: int) -> str:
    """Return a message in lines of at most ``width``; a command stays in one, however long."""
    joined = _QUOTED.sub(lambda found: found[0].replace(" ", _JOINT), runnable(text))
    return "\n".join(_wrapped(one, width) for one in joined.split("\n")).replace(_JOINT, " ")


def in_shell_lines(words: Sequence[str], width: int) -> str:
    """Return a command of quoted words in lines of at most ``width``, which a shell reads as one.

    A word stays whole, however long. The first line has room for some words before the command.
    """
    joined = " ".join(word.replace(" ", _JOINT) for word in words)
    lines = textwrap.wrap(
        joined,
        width - len(_GOES_ON),
        initial_indent=" " * _BEFORE,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{_GOES_ON}\n".join(lines).lstrip().replace(_JOINT, " ")


def _wrapped(line: str, width: int) -> str:
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def _with_root(command: str, root: Path) -> str:
    """Return a command whose artifacts of the tree have whole paths."""
    if not _COMMAND.search(command):
        return command
    return _ARTIFACT.sub(lambda found: shlex.quote(f"{root}/{found[0]}"), command)


def _stands_in(root: Path) -> bool:
    try:
        return Path.cwd().samefile(root)
    except OSError:  # somebody has removed the folder
        return False
