"""``pipeline layout propose --measure``: what each change is worth, before anybody writes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.say import say
from pipeline.commands.workshop import open_to_judge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from pipeline.layout.propose import Change
    from pipeline.layout.subject import Subject
    from pipeline.layout.worth import Worth
    from pipeline.release.version import Version
    from pipeline.stages.build.workshop import Workshop


def worthy(
    subject: Subject, profile: str, wish: str | None, changes: Sequence[Change]
) -> list[Change]:
    """Say what each change is worth, and return those that are, with their worth as a reason."""
    from pipeline.judge.l1i import machine_l1i, without_conflicts
    from pipeline.layout.worth import told
    from pipeline.layout.worth_show import lines
    from pipeline.release.mending import line_of_version

    version = published_version(subject, profile, wish)
    worth = _weigh(subject, profile, version, changes)
    cache = str(without_conflicts(machine_l1i()[0]))
    for line in lines(worth, version.name, cache, line_of_version(version)):
        say(f"# {line}")
    return told(worth)


def published_version(
    subject: Subject, profile: str, wish: str | None, who: str = "--measure"
) -> Version:
    """Return the version that is meant; UsageError for a library alone, which has no profile."""
    from pipeline.core.errors import UsageError
    from pipeline.release.version import MANIFEST
    from pipeline.release.wish import resolve

    if wish and Path(wish).is_file() and Path(wish).name != MANIFEST:
        raise UsageError(
            f"{who} makes a published version again, and {wish} is only a library",
            hint="name a version, or leave it out: the current one is taken",
        )
    return resolve(subject.tree, profile, wish)


def open_again(subject: Subject, line: str, version: Version) -> AbstractContextManager[Workshop]:
    """Open what makes a published version again, for the same processor and variant."""
    from pipeline.core.console import open_console
    from pipeline.core.variant import split_line
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options

    made_for = version.manifest.get("processor", {}).get("cut_for")
    options = Options(cpu=made_for, variant=version.variant)
    loaded = load_profile(subject.tree, split_line(line)[0])
    console = open_console(beside=True)  # the patch goes to standard output alone
    return open_to_judge(subject.tree, loaded, options, console)


def _weigh(subject: Subject, profile: str, version: Version, changes: Sequence[Change]) -> Worth:
    from pipeline.layout.groups import grouped
    from pipeline.release.contents import LISTS
    from pipeline.stages.proof.list_worth import weigh_changes

    files = {name: (subject.lists_folder / name).read_text("utf-8").splitlines() for name in LISTS}
    with open_again(subject, profile, version) as shop:
        return weigh_changes(shop, version, files, grouped(changes))
