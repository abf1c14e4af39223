"""Whose workloads `pipeline versus` runs where there is no command."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.errors import UsageError
from pipeline.core.paths import Tree
from pipeline.core.variant import split_line
from pipeline.profile.load import profile_names
from pipeline.versus.side import wish_in

DEFAULT = "mixed"


def workloads_of(tree: Tree, a: str, b: str) -> str:
    """Return the profile that A or B names, by PROFILE:VERSION or by a path; DEFAULT if none does.

    UsageError where they name two: nobody can tell whose workloads are meant.
    """
    named = list(dict.fromkeys(filter(None, (_profile_in(tree, words) for words in (a, b)))))
    if len(named) > 1:
        raise UsageError(
            f"A is of profile {named[0]}, and B of {named[1]}: each has workloads of its own",
            hint=f"`-p {named[0]}` or `-p {named[1]}` says which ones run",
        )
    return named[0] if named else DEFAULT


def _profile_in(tree: Tree, words: str) -> str | None:
    wish = wish_in(words)
    line, colon, _ = wish.rpartition(":")
    if not colon:
        place = Path(wish).absolute()
        dists = tree.dists.absolute()
        line = place.relative_to(dists).parts[0] if dists in place.parents else ""
    profile = split_line(line)[0]
    return profile if profile in profile_names(tree) else None
