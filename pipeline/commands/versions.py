"""``pipeline list``: what is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pipeline.commands.profile_options import any_profile_option, known_line
from pipeline.commands.say import say_other_run

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pipeline.core.paths import Tree
    from pipeline.release.version import Version


HEADINGS = (
    *("", "profile", "version", "published", "throughput", "I-cache"),
    *("mode", "library", "folder", ""),
)
VERSION = HEADINGS.index("version")
SPARED = ("folder", "library", "mode", "I-cache", "throughput")
"""Columns that a narrow terminal does without, the first one first."""


def complete_version(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return the names of published versions for shell completion."""
    from pipeline.core.paths import Tree
    from pipeline.release.published import published

    profile = context.params.get("profile") or "mixed"
    names = [version.name for version in published(Tree.here().dist(profile))]
    return [name for name in names if name.startswith(incomplete)]


def complete_qualified(incomplete: str) -> list[str]:
    """Return PROFILE:current for each profile; after PROFILE: the versions of that one, too."""
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names
    from pipeline.release.published import published

    tree, (named, colon, _) = Tree.here(), incomplete.partition(":")
    names = [f"{name}:current" for name in profile_names(tree)]
    names += [f"{named}:{one.name}" for one in published(tree.dist(named))] if colon else []
    return [name for name in names if name.startswith(incomplete)]


@click.command("list")
@any_profile_option("Only versions of this profile.")
def list_command(profile: str | None) -> None:
    """List published versions, newest first; * is current.

    With date, verdicts of throughput and I-cache, how much was measured, and size of the library
    and of everything. Ends with exit code 15 if nothing is published yet.

    \b
    Examples:
      pipeline list
      pipeline list -p mixed
    """
    from pipeline.core.output import room
    from pipeline.core.paths import Tree
    from pipeline.release.published import require_published

    tree = Tree.here()
    names = _lines_of(tree, profile) if profile else _profiles_published(tree)
    rows: list[tuple[str, ...]] = [HEADINGS]
    for name in names:
        require_published(tree.dist(name), name)
        rows += _rows(tree, name)
    for line in _table(rows, room()):
        click.echo(line)
    say_other_run(tree)


def _table(rows: list[tuple[str, ...]], room: int) -> Iterator[str]:
    """Yield the lines of the table; columns without room stand in a second one below.

    What is said of a version stands behind its row, or below the table where it has no room there.
    """
    from pipeline.report.columns import left_out, narrow

    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[0] = 1  # also where no version is current
    out = left_out(HEADINGS, widths[:-1], SPARED, room)
    kept = [number for number, name in enumerate(HEADINGS[:-1]) if name not in out]
    below = []
    for row in rows:
        line = _line(row, kept, widths)
        fits = not row[-1] or len(line) + 2 + len(row[-1]) <= room
        yield f"{line}  {row[-1] if fits else ''}".rstrip()
        below += [] if fits else [f"{row[VERSION]}: {row[-1]}"]
    more = [VERSION, *(HEADINGS.index(name) for name in HEADINGS if name in out)]
    second = [_line(row, more, widths).rstrip() for row in rows] if out else []
    fit = all(len(line) <= room for line in second)
    yield from (*(["", *second] if second and fit else []), *below, *narrow([] if fit else out))


def _line(row: tuple[str, ...], columns: Sequence[int], widths: Sequence[int]) -> str:
    return "  ".join(row[number].ljust(widths[number]) for number in columns)


def _lines_of(tree: Tree, profile: str) -> list[str]:
    """Return the profile, and its variants of which something is published."""
    from pipeline.core.variant import VARIANTS, line_of
    from pipeline.release.published import published

    others = [line_of(profile, variant) for variant in VARIANTS[1:]]
    there = [line for line in others if published(tree.dist(line))]
    return there if there and not published(tree.dist(profile)) else [known_line(profile), *there]


def _profiles_published(tree: Tree) -> list[str]:
    """Return the profiles with published versions, sorted; VersionError if there are none."""
    from pipeline.core.errors import NothingYet
    from pipeline.release.published import check_folder, published

    folders = [path for path in sorted(tree.dists.glob("[!.]*")) if path.is_dir()]
    found = [folder.name for folder in folders if published(folder)]
    check_folder(tree.dist("mixed"))
    if not found:
        raise NothingYet(
            f"nothing is published in this tree, {tree.root}",
            hint=_judged_only(tree) or "`.venv/bin/pipeline build` builds `mixed`",
        )
    return found


def _judged_only(tree: Tree) -> str:
    """Return how to see what was judged and not published; "" where nothing was."""
    from pipeline.report.kept import lines_judged

    shown = ", ".join(f"`.venv/bin/pipeline report last -p {name}`" for name in lines_judged(tree))
    return shown and f"see what was judged and not published: {shown}"


def _rows(tree: Tree, profile: str) -> Iterator[tuple[str, ...]]:
    """Yield a row of cells for each version of a profile."""
    from pipeline.release.current import current
    from pipeline.release.marks import read_marks
    from pipeline.release.published import published

    dist = tree.dist(profile)
    now, marks = current(dist), read_marks(dist)
    newer = now is not None
    for one in published(dist):
        newer = newer and one != now
        *described, state = _describe(one)
        beside = "newer than the current one" if newer else ""
        words = "; ".join(filter(None, (state, marks.said_of(one) or beside)))
        yield ("*" if one == now else "", profile, one.name, *described, words)


def _describe(version: Version) -> tuple[str, ...]:
    """Return the cells of a version's row; what its manifest does not tell is "unknown"."""
    from pipeline.core.errors import ArtifactError
    from pipeline.release.prune import disk_bytes
    from pipeline.report.text import day, kib

    sizes = [kib(version.library.stat().st_size)] if version.library.is_file() else ["gone"]
    sizes.append(kib(disk_bytes(version.folder)))
    try:
        verdict = version.manifest["verdict"]
        keys = [str(verdict[key]) for key in ("throughput", "icache")]
    except (ArtifactError, KeyError, TypeError):
        return ("unknown",) * 4 + (*sizes, "DAMAGED: its manifest cannot be read")
    mode = str(verdict.get("mode", "unknown"))
    state = "DAMAGED" if version.damaged_files() else ""
    return (day(version.created), *keys, mode, *sizes, state)
