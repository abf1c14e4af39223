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

    None where it need not be: it would not become current, or both have the same baseline.
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
    """Return whether the baselines differ, and the current library is there as it was judged."""
    from pipeline.report.files import read_report

    try:
        older, newer = read_report(now.folder).verify, release.verdict.result()
    except PipelineError:
        return False
    if older.baseline.sha256 == newer.baseline.sha256 or older.tuned.sha256 == newer.tuned.sha256:
        return False
    return now.library.is_file() and digest_file(now.library) == older.tuned.sha256
