"""What `build` says at its end: the verdict, where the version is, what is current."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.core.variant import asked_for

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.core.console import BuildConsole
    from pipeline.release.version import Version
    from pipeline.report.model import ReportModel
    from pipeline.stages.publish.publish import Published


def _conclude_beside(console: BuildConsole, published: Published, seconds: float) -> None:
    """Say why ``current`` has not moved, and what would move it."""
    from pipeline.core.paths import from_here

    name, profile = published.folder.name, published.folder.parent.name
    if published.report is not None:
        _show(console, published.report)
        where = from_here(published.folder)
        console.say(f"{_published(published, seconds)}, but not made current: {where}")
        cure = (
            f"`.venv/bin/pipeline rollback -p {profile} --to {name}` makes it current all the same"
        )
    else:
        cure = (
            f"`.venv/bin/pipeline unpin -p {profile}` lifts that; "
            "so does a change of sources, flags, training, lists or geometry"
        )
    _tell_speed(console, published.report)
    console.prose(f"{_where_it_stays(published)}; {cure}")
    _tell_same(console, published)
    _tell_next(console, published.report)


def _published(published: Published, seconds: float) -> str:
    return "published before" if published.was_there else f"published in {seconds:.1f} s"


def _tell_mended(console: BuildConsole, published: Published) -> None:
    """Say which files a damaged version has again, and that nothing else of it is new."""
    console.prose(
        f"{published.folder.name} is whole again: {', '.join(published.mended)} had been damaged; "
        "its report and its date are as they were"
    )
    if published.stays is not None:
        console.prose(_where_it_stays(published))


def _tell_speed(console: BuildConsole, report: ReportModel | None) -> None:
    """Say how fast the library is against the one that was current, where that was judged."""
    if report is None or report.direct is None:
        return
    found = report.direct
    console.prose(f"speed against {found.version}, {found.how}: {found.key.reason}")


def _where_it_stays(published: Published) -> str:
    """Say which version is current still, and why."""
    now = published.before.name if published.before else "no version"
    return f"`current` is still {now}: {published.stays}"


def _where_it_is(published: Published) -> str:
    """Say which version is current now, and which one was before."""
    now, before = published.folder.name, published.before
    if before is None:
        return f"`current` is now {now}; no version was current before"
    if before.name == now:
        return f"`current` is {now}, as before"
    if (back := _went_back(published, before)) is not None:
        return back
    return (
        f"`current` is now {now}; it was {before.name} before. This one was judged in no shorter "
        f"mode, and is not shown to be worse{_left_open(published.report)}"
    )


def _tell_same(console: BuildConsole, published: Published) -> None:
    """Say that a new version has the bytes of the one that was current, and only its verdict."""
    before = published.before
    if before is None or before.folder == published.folder or not _is_same(published, before):
        return
    console.prose(
        f"it is the same library as {before.name}, byte for byte, judged again: a version is a "
        "library with its verdict, so this one has a name of its own. A restart brings programs "
        "nothing new"
    )


def _is_same(published: Published, before: Version) -> bool:
    """Return whether all libraries of both versions were published with the same bytes."""
    from pipeline.release.version import Version

    both = (Version(published.folder).sums(), before.sums())
    now, then = ({n: d for n, d in (one or {}).items() if n.endswith(".so")} for one in both)
    return bool(now) and now == then


def _left_open(report: ReportModel | None) -> str:
    """Say that nobody knows whether it is slower, where the time was too short for that."""
    is_open = report is not None and report.direct is not None and report.direct.is_open
    return "; whether it is slower is not decided" if is_open else ""


def _went_back(published: Published, before: Version) -> str | None:
    """Say that ``current`` has moved to an older version, as an import may do; or None."""
    from pipeline.release.version import Version

    now = Version(published.folder)
    if not now.created or now.created >= before.created:
        return None
    line = published.folder.parent.name
    then, later = (one.created[:16].replace("T", " ") for one in (now, before))
    return (
        f"`current` went back to {now.name}, of {then}; it was {before.name} before, of {later}. "
        f"`.venv/bin/pipeline rollback -p {line} --to {before.name}` takes that one again"
    )


def _show(console: BuildConsole, report: ReportModel) -> None:
    """Print the verdict table. Where nothing was done there is none, and its modules stay away."""
    from pipeline.report.terminal import show_verdict

    show_verdict(console, report)


def _tell_next(console: BuildConsole, report: ReportModel | None) -> None:
    """Say which command would decide what is undecided in a build that was published."""
    from pipeline.core.console import is_brief

    if report is None or is_brief():
        return
    from pipeline.report.what_next import next_command

    if step := next_command(report):
        console.prose(f"next: {step}")


def next_commands(line: str) -> list[str]:
    """Return what most people do with a new version, each with a command to paste."""
    install = f".venv/bin/pipeline install --profile {asked_for(line)} --prefix /usr/local"
    return [
        f"next, is it better than libc:  .venv/bin/pipeline versus libc {line}:current",
        f"next, copy it to its place:  {install}",
        "next, does a process use it:  .venv/bin/hakmem check PID",
    ]


def conclude(console: BuildConsole, published: Published, seconds: float) -> None:
    """Print the verdict table (or why there was nothing to do) and the line to copy."""
    if published.judged is not None and published.report is not None:
        _tell_judged(console, published.judged, published.folder.parent, published.report, seconds)
        return
    if published.stays is not None and not published.mended:
        _conclude_beside(console, published, seconds)
        return
    _tell_made(console, published, seconds)
    _tell_speed(console, published.report)
    if published.stays is None:
        console.prose(_where_it_is(published))
    _tell_same(console, published)
    _tell_next(console, published.report)
    _tell_commands(console, published)


def _tell_judged(
    console: BuildConsole, kept: Path, dist: Path, report: ReportModel, seconds: float
) -> None:
    """Say what came of a build that --no-publish keeps back."""
    from pipeline.core.paths import from_here
    from pipeline.release.current import untouched
    from pipeline.report.what_next import next_command

    _show(console, report)
    console.prose(
        f"judged in {seconds:.1f} s, and not published, as --no-publish asks; "
        f"{untouched(dist)}; report: {from_here(kept)}; {next_command(report)}"
    )


def _tell_made(console: BuildConsole, published: Published, seconds: float) -> None:
    from pipeline.core.paths import from_here

    if published.mended:
        _tell_mended(console, published)
    elif published.report is not None:
        _show(console, published.report)
        console.say(f"{_published(published, seconds)}: {from_here(published.folder)}")
    else:
        console.prose(
            "nothing to do: sources, profile, layout, flags and tools are those of "
            f"{published.folder.name} (checked in {seconds:.1f} s)"
        )


def _tell_commands(console: BuildConsole, published: Published) -> None:
    """Say what most people do next, and the lines to copy."""
    from pipeline.core.console import is_brief
    from pipeline.core.preload import preloading

    if is_brief():  # they would act on the tree that is reviewed, not on this one
        return
    if published.report is not None:
        for line in next_commands(published.folder.parent.name):
            console.say(line)
    for library in published.beside:
        console.say(f"on {library.parent.name}:  {preloading(library)} your-program")
    console.say(f"use it:  {preloading(published.library)} your-program")
