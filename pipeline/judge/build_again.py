"""The commands that build and judge once more, as they are told to people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pipeline.core.variant import asked_for, split_line

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult

AGAIN = "--from verify"
"""Judges once more."""


def same_build(words: Sequence[str]) -> list[str]:
    """Return of these options those that say what is built, not how it is judged."""
    return kept(words, "--cpu")


def kept(words: Sequence[str], *names: str) -> list[str]:
    """Return of these words the options with such a name, each with its value."""
    return [word for pair in pairwise(words) if pair[0] in names for word in pair]


def accepting_words(names: Sequence[str]) -> list[str]:
    """Return the words that accept these losses."""
    return [word for name in names for word in ("--allow-regression", name)]


def again_as_long(result: VerifyResult, line: str, words: Sequence[str]) -> str:
    """Return the command that judges once more for the same time."""
    quick = ("--quick",) if result.mode == "quick" else ()
    return build_command(line, *words, *quick, AGAIN)


def profile_file(line: str) -> str:
    """Return the file of the profile that a line of versions is built by."""
    return f"training/profiles/{split_line(line)[0]}.toml"


def build_command(line: str, *more: str) -> str:
    """Return the command that builds a line of versions, with further options."""
    return f"`{' '.join(('.venv/bin/pipeline build --profile', asked_for(line), *more))}`"
