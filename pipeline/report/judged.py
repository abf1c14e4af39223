"""Builds that were judged and not published: of these only the report is there."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.errors import VersionError
from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.release.marking import refuse
from pipeline.release.marks import Mark, mark_of, mark_of_version, read_marks
from pipeline.release.published import published
from pipeline.release.wish import the_one
from pipeline.report.files import JSON
from pipeline.report.kept import find_report, kept_reports, was_published


def judged_alone(tree: Tree, profile: str, wish: str) -> Path | None:
    """Return the report of a build that ``wish`` names and that never was published; or None."""
    found = judged_as(tree, profile, wish) if wish else None
    return None if found is None or was_published(found) else found


def require_one(tree: Tree, profile: str, wish: str) -> None:
    """Raise VersionError if ``wish`` fits several: versions, and builds that were judged alone."""
    if not wish or "/" in wish:
        return
    reports = kept_reports(tree.reports(profile))
    found = {one.name: one for one in reports if not was_published(one)}
    found |= {one.name: one.folder for one in published(tree.dist(profile))}
    the_one(list(found.values()), wish, profile)


def judged_as(tree: Tree, profile: str, wish: str) -> Path | None:
    """Return the report of a build that ``wish`` names, published or not; None for a path."""
    return None if "/" in wish else find_report(tree, profile, wish)


def reject_judged(dist: Path, report: Path, reason: str) -> Mark:
    """Refuse a build that was judged alone; VersionError if it, or the same library, was before."""
    fresh = mark_of(report.name, library=_library(report), reason=reason)
    known = read_marks(dist).same_as(fresh)
    if known is not None:
        raise rejected_already(known, report.name, dist.name)
    _require_no_twin(dist, fresh)
    refuse(dist, fresh)
    return fresh


def _require_no_twin(dist: Path, mark: Mark) -> None:
    """Raise VersionError if the library is published by another name: that is the one to refuse."""
    twins = [one for one in published(dist) if mark_of_version(one).library == mark.library]
    if twins:
        raise VersionError(
            f"{mark.version} is the same library as {twins[0].name}, which is published",
            hint="refuse that one: "
            f'`.venv/bin/pipeline reject -p {dist.name} {twins[0].name} --reason "TEXT"`',
        )


def rejected_already(found: Mark, name: str, profile: str) -> VersionError:
    """Return the error for a version that is rejected: its reason and date are kept."""
    same = "" if found.version == name else f" is the same as {found.version}, which"
    return VersionError(
        f"{name}{same} was rejected already on {found.since[:10]}: {found.reason}",
        hint="for another reason take that back first: "
        f"`.venv/bin/pipeline reject -p {profile} {found.version} --undo`",
    )


def what_became(tree: Tree, mark: Mark, profile: str) -> str:
    """Return what a version without a folder is, in words that end a sentence."""
    report = tree.reports(profile) / mark.version
    alone = (report / JSON).is_file() and not was_published(report)
    return "was never published" if alone else "was removed since"


def _library(report: Path) -> str:
    """Return the digest of the library that a report is about."""
    try:
        return str(read_json(report / JSON)["verify"]["tuned"]["sha256"])
    except (OSError, ValueError, LookupError, TypeError):
        raise VersionError(
            f"{report / JSON} does not say which library it is about",
            hint="so nobody could know that library again: build again, and reject that build",
        ) from None
