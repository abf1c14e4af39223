"""``pipeline sample`` and ``pipeline import``: profiles from programs that run elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.options import Finite, complete_file, new_file_option, profile_option
from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.core.paths import Tree
    from pipeline.fleet.counts import Overlap
    from pipeline.fleet.merging import Given, Merged
    from pipeline.fleet.samples import Shares
    from pipeline.fleet.sources import Source

SHOWN_FUNCTIONS = 12
PERF_MAGIC = b"PERFILE2"


@click.command("sample", epilog="Example: pipeline sample --pid 4711 --seconds 30 -o perf.data")
@click.option("--pid", type=click.IntRange(1), required=True, metavar="PID", help="The process.")
@click.option(
    "--seconds",
    type=Finite(0.1, 3600),
    default=10.0,
    show_default=True,
    metavar="N",
    help="How long.",
)
@new_file_option("What perf writes.", default=Path("perf.data"), show_default=True)
def sample_command(pid: int, seconds: float, output: Path) -> None:
    """Show what the library costs a running process, by perf.

    The process goes on at full speed. With branch stacks perf also sees where branches go.
    """
    from pipeline.fleet.merging import Given
    from pipeline.fleet.samples import require_process, sample

    require_process(pid)
    perf = _perf()
    click.echo(f"sampling process {pid} for {seconds:g} s", err=True)
    kind = sample(perf, pid, seconds, output)
    click.echo(f"sampled process {pid} for {seconds:g} s by {kind}: {output}")
    show_samples([Given(output)])


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
    counts, edges, samples = _sort([_given(text) for text in files], COUNTS, EDGES)
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
    from pipeline.fleet.convert import Tools
    from pipeline.fleet.taking_in import take_in_samples
    from pipeline.toolchain.find import find_llvm

    taken = take_in_samples(tree, Tools(_perf(), find_llvm()), profile, files)
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


def show_samples(files: Sequence[Given]) -> None:
    """Print what samples say about the library, file by file and together by weight.

    A file that perf cannot read is named and skipped; DataError if all are like that.
    """
    from pipeline.core.errors import DataError
    from pipeline.fleet.samples import together

    perf, read = _perf(), []
    for given in files:
        try:
            read.append((given.weight, _show(perf, given.path)))
        except DataError as error:
            click.echo(f"skipped: {error.message}", err=True)
    if not read:
        raise DataError(
            "no file has samples that can be read",
            hint="name .profraw, .profdata or .fdata files, or data of perf",
        )
    if len(read) > 1:
        share, functions = together(read)
        click.echo(f"together, by weight: {100 * share:.1f} % in libhakmem")
        _show_functions(functions)


def _show(perf: Path, data: Path) -> Shares:
    from pipeline.fleet.samples import read_samples, shares

    found = read_samples(perf, data)
    share = f" ({100 * found.inside / found.total:.1f} %)" if found.total else ""
    click.echo(f"{data}: {found.total:,} samples, {found.inside:,} in libhakmem{share}")
    if found.library is None:
        click.echo("the process did not run with libhakmem, or was not busy in it")
    result = shares(found)
    if result.unknown:
        click.echo(f"functions are unknown: {result.unknown}")
    _show_functions(result.functions)
    return result


def _show_functions(functions: Mapping[str, float]) -> None:
    total = sum(functions.values())
    for name, share in sorted(functions.items(), key=lambda row: -row[1])[:SHOWN_FUNCTIONS]:
        click.echo(f"  {100 * share / total:5.1f} %  {name}")


def _given(text: str) -> Given:
    """Return FILE=WEIGHT as a file and its weight."""
    from pipeline.core.errors import UsageError
    from pipeline.fleet.merging import Given

    name, equals, weight = text.rpartition("=")
    path = Path(name if equals and not Path(text).exists() else text)
    try:
        number = float(weight) if path != Path(text) else 1.0
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise UsageError(f"{text}: a weight is a number above 0, as in {name}=2.5")
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}", hint="give the path of a profile: FILE or FILE=WEIGHT"
        )
    return Given(path, number)


def _sort(
    given: Sequence[Given], counts: Sequence[str], edges: Sequence[str]
) -> tuple[list[Given], list[Given], list[Given]]:
    """Return the files by kind: counts, edges, samples. UsageError for any other kind."""
    from pipeline.core.errors import UsageError

    kinds: tuple[list[Given], list[Given], list[Given]] = ([], [], [])
    for one in given:
        if one.path.suffix in counts:
            kinds[0].append(one)
        elif one.path.suffix in edges:
            kinds[1].append(one)
        elif _is_of_perf(one.path):
            kinds[2].append(one)
        else:
            raise UsageError(
                f"{one.path}: neither *.profraw, *.profdata, *.fdata nor perf's data",
                hint="rename it if it is one of these",
            )
    return kinds


def _is_of_perf(path: Path) -> bool:
    """Tell whether perf has written a file, by its first bytes: it may have gigabytes."""
    with path.open("rb") as stream:
        return stream.read(len(PERF_MAGIC)) == PERF_MAGIC


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


def _perf() -> Path:
    import shutil

    from pipeline.core.errors import ToolError

    found = shutil.which("perf")
    if found is None:
        raise ToolError("there is no perf", hint="`apt-get install linux-perf`")
    return Path(found)
