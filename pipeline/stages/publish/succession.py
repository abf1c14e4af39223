"""Whether a new library has to be judged directly against the current one before it follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.core.digest import digest_file
from pipeline.core.errors import PipelineError
from pipeline.release.current import current, why_current_stays
from pipeline.release.version import Version
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.publish.gate import passes
from pipeline.stages.publish.release import Release

if TYPE_CHECKING:
    from pipeline.judge.direct_speed import DirectSpeed


def judged_directly(shop: Workshop, release: Release, version: Version) -> DirectSpeed | None:
    """Judge a library directly against the current one's, where only that tells which is faster.

    None where it need not be: it would not become current, or both were judged by the same
    workloads over the same baseline. None also where it cannot be: `now` is not as it was.
    """
    now = current(version.folder.parent)
    if release.against is None or now is None or not _may_follow(shop, release, now, version):
        return None
    return release.against(now) if _is_incomparable(release, now) else None


def _may_follow(shop: Workshop, release: Release, now: Version, version: Version) -> bool:
    """Return whether the version would be published, and become current, whatever its speed."""
    if shop.options.no_publish or now == version or not passes(shop, release.verdict)[0]:
        return False
    return why_current_stays(now, version, shop.options.mode, ()) is None


def _is_incomparable(release: Release, now: Version) -> bool:
    """Return whether two judgements made apart cannot tell, and the current library is whole."""
    from pipeline.report.compare_alike import judged_alike
    from pipeline.report.files import read_report

    newer = release.verdict.result()
    try:
        older = read_report(now.folder).verify
    except PipelineError:  # nothing is known of it but its library
        return _is_as_published(now) and digest_file(now.library) != newer.tuned.sha256
    if older.tuned.sha256 == newer.tuned.sha256 or judged_alike(older, newer):
        return False
    return now.library.is_file() and digest_file(now.library) == older.tuned.sha256


def _is_as_published(now: Version) -> bool:
    """Return whether the library has the bytes that the version was published with."""
    listed = (now.sums() or {}).get(now.place)
    return listed is not None and now.library.is_file() and digest_file(now.library) == listed
