"""``pipeline import``: profiles that other machines have collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import complete_file
from pipeline.commands.files_given import by_kind, file_given
from pipeline.commands.profile_options import profile_option
from pipeline.commands.sample import show_samples
from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.core.paths import Tree
    from pipeline.fleet.counts import Overlap
    from pipeline.fleet.merging import Given, Merged
    from pipeline.fleet.sources import Source


@click.command("import", epilog="Example: pipeline import -p mixed host1.profraw=3 host2.profraw=1")
@profile_option
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE[=WEIGHT]...", shell_complete=complete_file
)
def import_command(profile: str, files: tuple[str, ...]) -> None:
    """Take in profiles that other machines have collected.

    *.profraw and *.profdata are merged by weight for the next build of the profile, and so are the
    samples of perf.data; *.fdata for `pipeline layout propose`. A file that is corrupt, or says too
    little, is named and skipped.
    """
    from pipeline.core.lock import tree_lock
    from pipeline.core.paths import Tree
    from pipeline.fleet.merging import COUNTS, EDGES, merge_counts, merge_edges
    from pipeline.profile.load import load_profile
    from pipeline.toolchain.find import find_llvm

    tree = Tree.here()
    load_profile(tree, profile)
    counts, edges, samples = by_kind([file_given(text) for text in files], COUNTS, EDGES)
    with tree_lock(tree.state, wait=True, say=click.echo):  # a build may read them just now
        if counts:
            merged = merge_counts(tree, find_llvm() / "llvm-profdata", profile, counts)
            _say(merged, len(counts), tree)
            click.echo(f"the next build of {profile} counts it as much as its own training")
        if edges:
            merged = merge_edges(tree, profile, edges)
            _say(merged, len(edges), tree)
            use = f".venv/bin/pipeline layout propose -p {profile} --data {merged.path}"
            say(f"use it: {use}")
    if samples:
        show_samples(samples)
        with tree_lock(tree.state, wait=True, say=click.echo):
            _take_in(tree, profile, samples)


def _take_in(tree: Tree, profile: str, files: Sequence[Given]) -> None:
    """Convert samples for the next build, and say what became of them."""
    from pipeline.commands.sample import find_perf
    from pipeline.fleet.convert import Tools
    from pipeline.fleet.taking_in import take_in_samples
    from pipeline.toolchain.find import find_llvm

    taken = take_in_samples(tree, Tools(find_perf(), find_llvm()), profile, files)
    for text in taken.skipped:
        click.echo(f"skipped: {text}", err=True)
    for one in taken.sources:
        click.echo(f"{one.file}: {one.samples:,} samples, weight {one.weight:g}: {_tells(one)}")
    if taken.for_pgo is None:
        click.echo("the compiler is told nothing: no build here has kept the library's symbols")
    place = taken.path.relative_to(tree.root)
    click.echo(f"the next build of {profile} counts {place} as much as its own training")


def _tells(source: Source) -> str:
    """Return in words what a file of samples tells a build."""
    if source.kind == "edges":
        return f"{len(source.edges):,} branches, from branch stacks"
    return f"how the time is shared out between {len(source.functions)} functions ({source.event})"


def _say(merged: Merged, given: int, tree: Tree) -> None:
    for text in merged.skipped:
        click.echo(f"skipped: {text}", err=True)
    place = merged.path.relative_to(tree.root)
    click.echo(f"merged {merged.used} of {given} files into {place}")
    click.echo(_drift(merged.drift))


def _drift(drift: Overlap | None) -> str:
    if drift is None:
        return "drift: unknown, nothing is published to compare with"
    text = f"drift: {100 * drift.alike:.1f} % like the published version's profile"
    changed = f", {100 * drift.mismatched:.1f} % of counts in changed code"
    return text + (changed if drift.mismatched else "")
