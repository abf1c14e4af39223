"""The workshop of a command: tools are found, the tree is locked, the store is kept tidy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole
    from pipeline.core.paths import Tree
    from pipeline.profile.schema import Profile
    from pipeline.stages.build.workshop import Options, Workshop


def tell_load(console: BuildConsole) -> None:
    """Say at the start, not only when nothing was decided, that others use the machine."""
    import os

    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > cores:
        console.notice(
            f"load {load:.0f} on {cores} CPUs: this will take longer, and may decide less"
        )


@contextmanager
def open_workshop(
    tree: Tree, profile: Profile, options: Options, console: BuildConsole, *, wait: bool
) -> Iterator[Workshop]:
    """Find the tools, hold the lock of the tree, and keep the store tidy around a build.

    A dry run makes nothing, so it needs no lock, and leaves the store alone.
    """
    from pipeline.core.errors import BuildInterrupted
    from pipeline.core.lock import tree_lock
    from pipeline.core.store import Store
    from pipeline.core.variant import line_of
    from pipeline.stages.build.workshop import Workshop
    from pipeline.toolchain.find import find_toolchain
    from pipeline.toolchain.identity import MEMORY

    tools = find_toolchain(tree.state / MEMORY)
    store = Store(tree.artifacts(line_of(profile.name, options.variant)))
    if options.dry_run:
        _tell_other_run(tree, console)
        yield Workshop(tree, profile, tools, store, console, options)
        return
    with tree_lock(tree.state, wait=wait, say=console.say):
        store.clear_rooms()
        try:
            yield Workshop(tree, profile, tools, store, console, options)
        except KeyboardInterrupt as interrupt:
            raise BuildInterrupted from interrupt
        store.tidy()


def _tell_other_run(tree: Tree, console: BuildConsole) -> None:
    """Say what else works in the tree: its artifacts may be there a minute later."""
    from pipeline.core.lock import other_run

    if other := other_run(tree.state):
        console.notice(f"{other}: what it has not finished is listed as still to be made")


@contextmanager
def open_to_judge(
    tree: Tree, profile: Profile, options: Options, console: BuildConsole
) -> Iterator[Workshop]:
    """Open the workshop for a judgement of which nothing is kept: an interrupt says so."""
    from pipeline.core.errors import BuildInterrupted, JudgementInterrupted

    try:
        with open_workshop(tree, profile, options, console, wait=True) as shop:
            yield shop
    except BuildInterrupted as interrupt:
        raise JudgementInterrupted from interrupt
