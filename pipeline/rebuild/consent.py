"""Judging a bundle executes commands of its profile: only if the user trusts them."""

from __future__ import annotations

import shlex

from pipeline.core.errors import DataError, ProfileError
from pipeline.core.paths import Tree
from pipeline.profile.load import load_profile
from pipeline.profile.schema import Profile
from pipeline.profile.workload import Command, Program, Trace

# What a bundle would have this machine execute, beside our own programs.
COMMANDS = "commands"


def require_consent(tree: Tree, profile: Profile, allowed: frozenset[str]) -> None:
    """Raise DataError unless the user allows what judging by a bundle's profile would execute.

    Commands that the tree's own profile of that name has as well need no consent.
    """
    foreign = [one for one in _executed(profile) if one not in _own_commands(tree, profile.name)]
    if foreign and COMMANDS not in allowed:
        lines = "; ".join(foreign)
        raise DataError(
            f"to judge this bundle, commands of its profile would be executed: {lines}",
            hint=f"if you trust them: `--allow {COMMANDS}`",
        )


def _executed(profile: Profile) -> list[str]:
    """Return what judging by a profile executes beside our own programs, each with its place.

    Our own programs with variables count, too: the loader executes what LD_PRELOAD names.
    """
    return [line for one in profile.verifying if (line := _line(one))]


def _line(one: Program | Command | Trace) -> str:
    """Return what a workload executes, and where; "" for what does nothing but ours does."""
    variables = sorted(f"{name}={value}" for name, value in one.env.items())
    before = ("env", *variables) if variables else ()
    if isinstance(one, Program):
        return shlex.join((*before, one.program, *one.args)) if variables else ""
    command = one.argv if isinstance(one, Command) else one.record
    if command is None:
        return ""
    place = "an empty folder" if one.scratch else "the root of the tree"
    return f"{shlex.join((*before, *command))} (in {place})"


def _own_commands(tree: Tree, name: str) -> list[str]:
    try:
        return _executed(load_profile(tree, name))
    except ProfileError:
        return []
