"""Which commit a tree is at, and whether it is as committed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from pipeline.core.errors import PipelineError
from pipeline.core.process import run

LIMIT_S = 60.0
PROFILES = Path("training/profiles")


def commit_of(
    root: Path, fresh_in: Collection[str] | None = None, profile: str | None = None
) -> dict[str, Any] | None:
    """Return the commit of a checkout, and the files that differ from it; None where git is silent.

    None also where ``root`` only lies inside of somebody else's checkout. Of files that git does
    not know only those below ``fresh_in`` count, if it is given, and no profile but ``profile``.
    """
    try:
        top = _git(root, "rev-parse", "--show-toplevel").strip()
        if Path(top).resolve() != root.resolve():
            return None
        commit = _git(root, "rev-parse", "HEAD").strip()
        status = _git(root, "status", "--porcelain", "--untracked-files=normal").splitlines()
    except PipelineError:
        return None
    changed = [line[3:] for line in status if not _is_other(line, fresh_in, profile)]
    return {"commit": commit, "clean": not changed, "changed": changed}


def differs_since(root: Path, commit: str, paths: Sequence[str]) -> bool:
    """Return whether files below ``paths`` are not as they were at ``commit``; False: unknown."""
    return bool(_differ(root, (commit,), paths))


def is_alike(root: Path, one: str, other: str, paths: Sequence[str]) -> bool:
    """Return whether two commits have the same files below ``paths``; False: unknown."""
    return one == other or _differ(root, (one, other), paths) is False


def _differ(root: Path, commits: Sequence[str], paths: Sequence[str]) -> bool | None:
    try:
        return bool(_git(root, "diff", "--name-only", *commits, "--", *paths).strip())
    except PipelineError:
        return None


def _is_other(line: str, fresh_in: Collection[str] | None, profile: str | None) -> bool:
    """Return whether a line of git's status is of a new file that does not count."""
    new, path = line.startswith("??"), Path(line[3:].strip('"'))
    if not new or fresh_in is None:
        return False
    return path.parts[0] not in fresh_in or (path.parent == PROFILES and path.stem != profile)


def _git(root: Path, *arguments: str) -> str:
    return run(["git", "-C", root, *arguments], timeout_s=LIMIT_S).stdout
