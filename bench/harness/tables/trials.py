"""The libraries of trials in the ledger, beside the one that they are held against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from bench.harness.allocators import REPOSITORY
from pipeline.commands.workshop import open_to_judge
from pipeline.core.console import open_console
from pipeline.core.errors import UsageError
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.experiment.entry import Entry, load_entries
from pipeline.experiment.sides import build_sides
from pipeline.profile.load import load_profile
from pipeline.stages.build.workshop import Options, Workshop

OURS, SAME = "as-it-is", "the-same-library"
"""The tree as it is, and once more: what differs there differs by chance."""


def find(patterns: str) -> list[Entry]:
    """Return the trials whose names fit one of the shell patterns, which commas part."""
    trials = [one for one in load_entries(Tree(REPOSITORY)) if one.kind == "trial"]
    wanted = patterns.split(",")
    found = [one for one in trials if any(fnmatchcase(one.name, each) for each in wanted)]
    if not found:
        raise UsageError(f"no trial of the ledger is called {patterns!r}")
    return found


@cache
def words(patterns: str) -> tuple[str, ...]:
    """Return the arguments of bench/compare or bench/programs that name both sides of each trial.

    What is not compiled yet is compiled. BuildError where a compiler or a patch refuses.
    """
    tree, console = Tree(REPOSITORY), open_console(beside=True)
    with open_to_judge(tree, load_profile(tree, "mixed"), Options(), console) as shop:
        # The shop's own store would drop all but the last few.
        kept = replace(shop, store=Store(tree.state / "trials"))
        return tuple(_words(kept, find(patterns)))


def _words(shop: Workshop, trials: list[Entry]) -> Iterator[str]:
    for number, entry in enumerate(trials, 1):
        with shop.console.stage("experiment") as line:
            line.step(f"compiling {entry.name}")
            before, after = build_sides(shop, entry)
            line.done(f"{entry.name} is compiled")
        yield from _unchanged(before.library) if number == 1 else ()
        options = "".join(f",{name}={value}" for name, value in after.env.items())
        yield from ("--peer", f"{entry.name}={after.library}{options}")


def _unchanged(library: Path) -> tuple[str, ...]:
    return "--ours", f"{OURS}={library}", "--peer", f"{SAME}={library}"
