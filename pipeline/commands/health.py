"""``pipeline health``: the health programs of profiles against what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import any_profile_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipeline.core.console import StageLine
    from pipeline.core.paths import Tree
    from pipeline.judge.model import HealthCheck
    from pipeline.profile.schema import Profile
    from pipeline.profile.workload import Command
    from pipeline.release.version import Version

HEADINGS = ("profile", "version", "program", "status", "detail", "log")
MARKS = {"passed": "green", "failed": "bold red", "skipped": "yellow"}
NOTHING = "nothing published"


@click.command("health")
@any_profile_option(
    "Profile: training/profiles/NAME.toml, or NAME+hardened.  "
    "[default: mixed, or the only one with a version]"
)
@click.option("--all", "every", is_flag=True, help="All profiles, each with its current version.")
@click.argument("version", required=False, shell_complete=complete_version)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of the table.")
def health_command(profile: str | None, every: bool, version: str | None, as_json: bool) -> int:
    """Run real programs with a published library, and without.

    They are the health programs of the profile. They must end alike and print the same. Without
    VERSION the current one is taken. Ends with exit code 6 if a program does something else with
    the library, 14 if the version is damaged, and 15 if nothing is published.

    \b
    Examples:
      pipeline health
      pipeline health -p server 0.1.0-3f2a
      pipeline health --all
    """
    if every and (profile is not None or version is not None):
        raise click.UsageError("--all takes neither --profile nor VERSION")
    import json

    from pipeline.core.console import open_console
    from pipeline.core.exit_codes import ExitCode
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names

    tree = Tree.here()
    names = profile_names(tree) if every else [line_meant(profile or "mixed", version)]
    found = {name: _target(tree, name, version, every) for name in names}
    with open_console(beside=True).stage("health") as stage:
        rows = [row for name in names for row in _rows(tree, name, found[name], stage)]
        _require_any(rows)
    if as_json:
        click.echo(json.dumps({"schema_version": 1, "checks": rows}, indent=1))
    else:
        click.echo(_table(rows), nl=False)
        for line in _marked(tree, rows):
            click.echo(line)
        say(f"next: {_next_step(rows)}")
    failed = any(row["status"] == "failed" for row in rows)
    return ExitCode.WORKLOAD if failed else ExitCode.OK


def _target(tree: Tree, line: str, wish: str | None, every: bool) -> tuple[Profile, Version] | None:
    """Return a profile and its version to check; None where one of all profiles has no version.

    ArtifactError if the version is damaged: what the programs do shows nothing of it then.
    """
    from pipeline.core.variant import split_line
    from pipeline.profile.load import load_profile
    from pipeline.release.current import current
    from pipeline.release.mending import require_undamaged
    from pipeline.release.wish import resolve

    if every and current(tree.dist(line)) is None:
        return None
    profile, version = load_profile(tree, split_line(line)[0]), resolve(tree, line, wish)
    require_undamaged(version)
    return profile, version


def _rows(
    tree: Tree, profile: str, target: tuple[Profile, Version] | None, line: StageLine
) -> Iterator[dict[str, Any]]:
    """Yield a row for each health program; of a profile without a version one that says so."""
    from pipeline.core.console import numbered
    from pipeline.profile.workload import Command

    if target is None:
        yield dict(zip(HEADINGS, (profile, None, None, NOTHING, "", None), strict=True))
        return
    loaded, found = target
    logs = tree.logs(profile) / "health"
    checks = [one for one in loaded.verifying if isinstance(one, Command)]
    say = numbered(line.step, len(checks))
    for one in checks:
        say(f"{profile}: {one.name}")
        done = _checked(tree, one, found.library, logs)
        cells = (profile, found.name, one.name, done.status, done.detail, done.log)
        yield dict(zip(HEADINGS, cells, strict=True))


def _checked(tree: Tree, workload: Command, library: Path, logs: Path) -> HealthCheck:
    """Run one program plain and with the library, if all that it needs is installed."""
    from pipeline.judge.health import check_one
    from pipeline.judge.model import HealthCheck
    from pipeline.stages.build.configure import lacking
    from pipeline.stages.proof.request import health_command

    gone = lacking(workload)
    if gone:
        detail = f"not on this machine: {', '.join(gone)}"
        return HealthCheck(name=workload.name, status="skipped", detail=detail)
    return check_one(health_command(tree.root, workload), library, logs)


def _require_any(rows: list[dict[str, Any]]) -> None:
    """Raise VersionError if no profile has a version, ProfileError if none has a health program."""
    from pipeline.core.errors import ProfileError, VersionError

    if rows and all(row["status"] == NOTHING for row in rows):
        raise VersionError(
            "nothing is published in this tree", hint="`.venv/bin/pipeline build` builds `mixed`"
        )
    if not rows:
        raise ProfileError(
            "the profile has no health program",
            hint='add a workload with kind = "command" and role = "verify"',
        )


def _table(rows: list[dict[str, Any]]) -> str:
    from collections import Counter

    from rich.table import Table
    from rich.text import Text

    from pipeline.core.paths import from_here
    from pipeline.report.terminal import plain

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS[:-1]:
        table.add_column(heading, no_wrap=heading != "detail")
    for row in rows:
        status = Text(row["status"], style=MARKS.get(row["status"], ""))
        log = f" (log: {from_here(row['log'])})" if row["status"] == "failed" else ""
        words = (row["profile"], row["version"] or "", row["program"] or "")
        table.add_row(*words, status, Text(f"{row['detail']}{log}"))
    counted = Counter(row["status"] for row in rows)
    profiles = len({row["profile"] for row in rows if row["version"]})
    said = ", ".join(f"{counted[word]} {word}" for word in MARKS)
    return plain(table, f"{said}; profiles with a version: {profiles}")


def _marked(tree: Tree, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what people decided of versions: a rejected one may pass all checks."""
    from pipeline.release.marks import read_marks
    from pipeline.release.version import Version

    checked = dict.fromkeys((row["profile"], row["version"]) for row in rows if row["version"])
    for line, version in checked:
        dist = tree.dist(line)
        if mark := read_marks(dist).said_of(Version(dist / version)):
            yield f"{line} {version}: {mark}"


def _next_step(rows: list[dict[str, Any]]) -> str:
    """Return what to do about the checks."""
    from pipeline.core.paths import from_here
    from pipeline.judge.health import compare_logs

    failed = next((row for row in rows if row["status"] == "failed"), None)
    if failed:
        logs = from_here(failed["log"].rpartition("/")[0])
        return (
            f"{compare_logs([failed['program']], logs)}. `.venv/bin/pipeline reject -p "
            f"{failed['profile']} {failed['version']} --reason WHY` takes that version out of use"
        )
    if all(row["status"] != "passed" for row in rows):
        return "nothing is shown: mend what the skipped programs name, and run this again"
    if any(row["status"] == "skipped" for row in rows):
        return "nothing has to be done; to check the skipped programs, too, mend what they name"
    return "nothing has to be done: the programs do the same with the library as without"
