"""Files that a command names and that are not there."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

_FILE = re.compile(r"(/|\.\.?/).*|[\w+-][\w./+-]*\.[A-Za-z]\w{0,7}")
"""A path that says where it begins, or a name that ends as files do."""


def missing_files(command: Sequence[str], root: Path) -> list[str]:
    """Return the words behind the first that look like files, and are neither here nor in the tree.

    Some mean no file, as the name of a host, or one that the command writes: only where the command
    fails, too, is that a reason.
    """
    return [word for word in command[1:] if _FILE.fullmatch(word) and not _is_there(word, root)]


def _is_there(word: str, root: Path) -> bool:
    return any(os.path.lexists(folder / word) for folder in (Path.cwd(), root))
