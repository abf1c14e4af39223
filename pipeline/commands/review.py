"""``pipeline review``: a build held against the version it came from, for those who review."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.profile_options import line_option
from pipeline.commands.report_meant import complete_wish

if TYPE_CHECKING:
    from pipeline.core.paths import Tree
    from pipeline.review.gather import Build
    from pipeline.review.model import Review

COMMENT, JUNIT, SARIF = "comment.md", "junit.xml", "review.sarif"


@click.command("review")
@line_option
@click.argument("base", shell_complete=complete_wish)
@click.argument("head", default="last", shell_complete=complete_wish)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help=f"Write {COMMENT}, {JUNIT} and {SARIF} there.",
)
@click.option("--quick", is_flag=True, help="Judge with fewer runs.")
@click.option("--no-measure", is_flag=True, help="Compare by what is on record alone.")
def review_command(
    profile: str, base: str, head: str, output: Path | None, quick: bool, no_measure: bool
) -> int:
    """Say what a change does to the library: HEAD against BASE.

    BASE is a published version, the path of its folder, or another tree: the build that was judged
    last there. HEAD is a version; without it, the build that was judged last here. Neither need be
    published. Both libraries are judged against each other, in pairs of runs. Then come the verdict
    on HEAD and what `pipeline layout check` says of it. In a job on GitHub the remarks become
    annotations.

    Ends with exit code 16 if HEAD is worse than BASE, is shown to be bad in one of the keys, was
    rejected or rolled back, or breaks the layout contract.

    \b
    Examples:
      pipeline review main-version/ --quick -o review/
      pipeline review ../hakmem-main --quick
      pipeline review ../hakmem-main --variant hardened
      .ci/review main                            # builds both, anywhere
    """
    import os

    from pipeline.core.exit_codes import ExitCode
    from pipeline.review.render import annotation_lines, markdown

    review = _review(profile, base, head, quick, not no_measure)
    if output is not None:
        _write(review, output)
    click.echo(markdown(review).partition("\n")[2], nl=False)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotation_lines(review):
            click.echo(line)
    return ExitCode.REGRESSION if review.errors else ExitCode.OK


def _review(profile: str, base: str, head: str, quick: bool, measure: bool) -> Review:
    from functools import partial

    from pipeline.commands.diff import judged
    from pipeline.commands.report_meant import folder_of
    from pipeline.core.paths import Tree
    from pipeline.review.gather import gather, read_build

    tree = Tree.here()
    build = read_build(tree, profile, folder_of(profile, head))
    judge = partial(judged, profile, quick=quick) if measure else None
    return gather(tree, profile, _base(tree, profile, base), build, judge)


def _base(tree: Tree, profile: str, wish: str) -> Build:
    """Return the build that ``wish`` names; VersionError if there is none."""
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree
    from pipeline.release.last import LAST
    from pipeline.release.version import Version
    from pipeline.release.wish import resolve
    from pipeline.review.gather import read_build

    other = Tree(Path(wish).resolve())
    last = other.reports(profile) / LAST
    if last.is_dir():
        return read_build(other, profile, last)
    if "/" in wish and not Version(Path(wish)).is_published:
        raise VersionError(
            f"{wish} is no folder of a version, and no build of {profile!r} was judged in it",
            hint="give a version, or the folder of one or of a tree; "
            "`.ci/review REVISION` builds a revision",
        )
    try:
        found = resolve(tree, profile, wish)
    except VersionError as error:
        revision = f"; `.ci/review {shlex.quote(wish)}` builds the revision of that name"
        raise VersionError(str(error), hint=error.hint + revision) from None
    return read_build(tree, profile, found.folder)


def _write(review: Review, folder: Path) -> None:
    from pipeline.core.files import replace_text
    from pipeline.core.paths import Tree
    from pipeline.review.render import junit, markdown, sarif

    replace_text(folder / COMMENT, markdown(review))
    replace_text(folder / JUNIT, junit(review))
    replace_text(folder / SARIF, sarif(review, Tree.here().version))
