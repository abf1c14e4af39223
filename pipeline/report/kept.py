"""Reports of builds that were judged here, published or not: found by name."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.release.marks import read_marks
from pipeline.release.published import lines_with, published
from pipeline.release.wish import has, of_another, the_one
from pipeline.report.files import JSON


def kept_reports(reports: Path) -> list[Path]:
    """Return the folders with a report, by name; `last` is a link to one of them."""
    folders = [file.parent for file in sorted(reports.glob(f"[!.]*/{JSON}"))]
    return [folder for folder in folders if not folder.is_symlink()]


def was_published(report: Path) -> bool:
    """Say whether the build of a kept report was published then; False where it cannot be read."""
    try:
        content = read_json(report / JSON)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("published") is True


def removed_last(tree: Tree, profile: str) -> str | None:
    """Return the newest version that was published and has no folder any more; None for none.

    Nobody wants one back that was rejected.
    """
    dist = tree.dist(profile)
    others = {one.name for one in published(dist)}
    others |= {one.version for one in read_marks(dist).rejected}
    gone = [one for one in kept_reports(tree.reports(profile)) if one.name not in others]
    dated = [(_judged_at(one), one.name) for one in gone if was_published(one)]
    return max(dated)[1] if dated else None


def _judged_at(report: Path) -> str:
    try:
        return str(read_json(report / JSON)["verify"]["created"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def lines_judged(tree: Tree) -> list[str]:
    """Return the names of the profiles, and their variants, of which a report is kept here."""
    return lines_with(tree.state, lambda line: kept_reports(line / "reports"))


def find_report(tree: Tree, profile: str, wish: str) -> Path | None:
    """Return the folder of the report that ``wish`` names, as `pipeline history` does; or None.

    VersionError where it fits several builds, or no build of this profile, but of another one.
    """
    if (Path(wish) / JSON).is_file():
        return Path(wish).resolve()
    if has(published(tree.dist(profile)), wish):
        return None  # who looked among these has said that it fits several
    found = the_one(kept_reports(tree.reports(profile)), wish, profile)
    if found is not None or lines_with(tree.dists, lambda line: has(published(line), wish)):
        return found
    owners = lines_with(tree.state, lambda line: has(kept_reports(line / "reports"), wish))
    if owners:
        raise of_another(wish, profile, owners)
    return None
