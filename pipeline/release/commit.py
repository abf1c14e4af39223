"""Which commit a tree is at, and whether it is as committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.core.errors import PipelineError
from pipeline.core.process import run

LIMIT_S = 60.0

BUILT_FROM = (
    "CMakeLists.txt", "VERSION", "allocator/", "bench/", "cmake/", "layouts/", "pipeline/",
    "training/",
)  # fmt: skip
"""What a build reads: a new file elsewhere, such as a log, is none of its business."""


def commit_of(root: Path, fresh_in: tuple[str, ...] = ("",)) -> dict[str, Any] | None:
    """Return the commit of a checkout, and the files that differ from it; None where git is silent.

    None also where ``root`` only lies inside of somebody else's checkout. Files that git does not
    know count where their path begins with one of ``fresh_in``.
    """
    try:
        top = _git(root, "rev-parse", "--show-toplevel").strip()
        if Path(top).resolve() != root.resolve():
            return None
        commit = _git(root, "rev-parse", "HEAD").strip()
        status = _git(root, "status", "--porcelain").splitlines()
    except PipelineError:
        return None
    changed = [line[3:] for line in status if line[:2] != "??" or line[3:].startswith(fresh_in)]
    return {"commit": commit, "clean": not changed, "changed": changed}


def _git(root: Path, *arguments: str) -> str:
    return run(["git", "-C", root, *arguments], timeout_s=LIMIT_S).stdout
