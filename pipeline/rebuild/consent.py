"""Judging a bundle executes commands of its profile: only if the user trusts them."""

from __future__ import annotations

import shlex

from pipeline.core.errors import DataError, ProfileError
from pipeline.core.paths import Tree
from pipeline.profile.load import load_profile
from pipeline.profile.schema import Profile

# What a bundle would have this machine execute, beside our own programs.
COMMANDS = "commands"


def require_consent(tree: Tree, profile: Profile, allowed: frozenset[str]) -> None:
    """Raise DataError unless the user allows what judging by a bundle's profile would execute.

    Commands that the tree's own profile of that name has as well need no consent.
    """
    foreign = [one for one in _executed(profile) if one not in _own_commands(tree, profile.name)]
    if foreign and COMMANDS not in allowed:
        lines = "; ".join(shlex.join(command) for command in foreign)
        raise DataError(
            f"to judge this bundle, commands of its profile would be executed: {lines}",
            hint=f"if you trust them: `--allow {COMMANDS}`",
        )


def _executed(profile: Profile) -> list[tuple[str, ...]]:
    """Return the command lines that judging by a profile executes beside our own programs."""
    found = []
    for one in profile.verifying:
        command = getattr(one, "argv", None) or getattr(one, "record", None)
        if command:
            variables = sorted(f"{name}={value}" for name, value in one.env.items())
            found.append((*(("env", *variables) if variables else ()), *command))
    return found


def _own_commands(tree: Tree, name: str) -> list[tuple[str, ...]]:
    try:
        return _executed(load_profile(tree, name))
    except ProfileError:
        return []
