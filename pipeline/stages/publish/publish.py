"""publish: a versioned folder under dist/, complete and on disk, then one rename of ``current``.

Nothing that a user preloads is ever half-written: the folder is made under another name, forced to
disk, renamed; only then the symbolic link ``current`` is replaced, which is one rename as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.digest import digest_value
from pipeline.core.errors import SpaceError, how_to_write
from pipeline.core.lock import marks_lock
from pipeline.release.current import current, point_current, why_current_stays
from pipeline.release.last import point_last
from pipeline.release.marking import lift
from pipeline.release.marks import read_marks
from pipeline.release.published import check_folder
from pipeline.release.version import CURRENT, Version
from pipeline.report.text import change as percent
from pipeline.stages.build.given import refuse_changed
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import VERDICT
from pipeline.stages.publish.folder import mend_version, write_version
from pipeline.stages.publish.gate import pass_gate
from pipeline.stages.publish.product import STAGE, inputs_of
from pipeline.stages.publish.refusal import known_by, refuse_rejected
from pipeline.stages.publish.release import Release
from pipeline.stages.publish.reporting import keep_report, make_report
from pipeline.stages.publish.succession import judged_directly

if TYPE_CHECKING:
    from pipeline.judge.direct_speed import DirectSpeed
    from pipeline.report.model import ReportModel


@dataclass(frozen=True)
class Published:
    """A version under dist/. ``report`` is None when it was there already and nothing was judged.

    ``stays`` says why ``current`` has not moved to it; None: it is current. ``before`` is what was
    current until then; None: nothing. ``judged`` is where the report lies if nothing was to be
    published: then there is no such version. ``mended`` are the files that were damaged, of a
    version that was there already. ``was_there`` says that it was published before, and is whole.
    """

    folder: Path
    report: ReportModel | None
    stays: str | None = None
    judged: Path | None = None
    mended: tuple[str, ...] = ()
    before: Version | None = None
    was_there: bool = False

    @property
    def library(self) -> Path:
        """The library as a user preloads it: by way of ``current``, if this version is that."""
        name = self.folder.name if self.stays else CURRENT
        return self.folder.parent / name / Version(self.folder).place

    @property
    def beside(self) -> list[Path]:
        """The libraries for single kinds of processors."""
        return Version(self.folder).beside()


def check_writable(folder: Path) -> None:
    """Raise SpaceError now, not after minutes of work, if ``folder`` cannot be written."""
    check_folder(folder)
    probe = folder / ".probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink(missing_ok=True)  # another build may have been quicker
    except OSError as error:
        raise SpaceError(
            f"cannot write in {folder}: {error.strerror}", hint=how_to_write(error)
        ) from error


def publish(shop: Workshop, release: Release) -> Published:
    """Publish the library if the judge lets it pass; GateError, and nothing moved, if not.

    A version that was rolled back does not come back by itself, and one that was rejected is
    refused. A folder that is published and whole is not written again.
    """
    if release.inputs is None:  # else they are a bundle's
        refuse_changed(shop)
    dist, version = shop.tree.dist(shop.line), _version(shop, release)
    folder = dist / version
    digest = release.candidate.library.digest
    inputs = inputs_of(shop, release.geometry, release.inputs)
    mended = _mended(shop, release, folder)  # first: what was refused may be whole all the same
    refuse_rejected(shop, digest, inputs)
    if known := _known(shop, folder, digest, inputs, mended):
        return _again(shop, known)
    direct = judged_directly(shop, release, Version(folder))
    receipts = [artifact.receipt for artifact in shop.store.used]
    from pipeline.release.check_version import require_good

    with shop.console.stage(STAGE) as line:
        line.step("writing the report")
        model = _as_asked(shop, make_report(shop, release, version, receipts, direct))
        model = model.model_copy(update={"stays": _why_it_stays(shop, Version(folder), model)})
        report = keep_report(shop, model)
        pass_gate(shop, model, release.verdict, report)
        if shop.options.no_publish:
            line.done("left out, as --no-publish asks")
            return Published(folder, model, judged=report)
        line.step("writing the version")
        with marks_lock(shop.tree.state):
            refuse_rejected(shop, digest, inputs)  # since the build began
            if held := _held(dist, digest, inputs):
                line.done(str(held.stays))
                return _again(shop, held)
            if not (was_there := Version(folder).is_whole()):
                write_version(shop, folder, release, receipts, report)
            require_good(shop.tree, Version(folder))
            before = current(dist)
            stays = _move_current(shop, Version(folder), model)
        line.done(f"{version}, not current" if stays else version)
    return Published(folder, model, stays, before=before, was_there=was_there)


def _known(
    shop: Workshop, folder: Path, digest: str, inputs: str, mended: tuple[str, ...] | None
) -> Published | None:
    """Return what holds where nothing is to be published: it is there, or was rolled back."""
    is_current = mended is not None and current(folder.parent) == Version(folder)
    if is_current and (mended or STAGE not in shop.options.redo):
        if not mended:
            shop.console.reused(STAGE, f"{folder.name} is current")
        return Published(folder, None, mended=mended or (), before=Version(folder))
    if held := _held(folder.parent, digest, inputs):
        shop.console.reused(STAGE, str(held.stays))
        return held
    if not mended:
        return None
    from pipeline.report.files import read_report

    with marks_lock(shop.tree.state):
        before = current(folder.parent)
        stays = _move_current(shop, Version(folder), read_report(folder))
    return Published(folder, None, stays, mended=mended, before=before)


def _again(shop: Workshop, published: Published) -> Published:
    """Return what was published before: `report last` and reviews are about it from now on."""
    point_last(shop.tree, shop.line, published.folder.name)
    return published


def _mended(shop: Workshop, release: Release, folder: Path) -> tuple[str, ...] | None:
    """Make a damaged version whole that this build is of, and return which files were damaged.

    (): it was whole. None: there is no such version, or it is damaged still.
    """
    if not folder.is_dir():
        return None
    if Version(folder).is_whole():
        return ()
    if shop.options.no_publish:
        return None
    from pipeline.release.check_version import require_good

    with shop.console.stage(STAGE) as line, marks_lock(shop.tree.state):
        report = shop.tree.reports(shop.line) / folder.name
        mended = mend_version(shop, folder, release, report)
        if not mended:
            line.done(f"{folder.name} is damaged in its records, which no build can make again")
            return None
        require_good(shop.tree, Version(folder))
        line.done(f"{folder.name} was damaged ({', '.join(mended)}), and is whole again")
    return tuple(mended)


def _as_asked(shop: Workshop, model: ReportModel) -> ReportModel:
    """Return the report; it says so where a build that may be published is not to be."""
    if not (shop.options.no_publish and model.published):
        return model
    reason = f"the judge lets it pass ({model.reason})"
    return model.model_copy(update={"published": False, "withheld": True, "reason": reason})


def _held(dist: Path, digest: str, inputs: str) -> Published | None:
    """Return what holds instead of this build, if it is a version that was rolled back."""
    aside = known_by(read_marks(dist).aside, digest, inputs)
    if aside is None or current(dist) is None:
        return None
    held = f"{aside.version} was rolled back, and this is built of the same"
    return Published(dist / aside.version, None, held, before=current(dist))


def _move_current(shop: Workshop, version: Version, model: ReportModel) -> str | None:
    """Make a version current, or return why ``current`` stays.

    What was rolled back is lifted by something new alone: not by what was current all the time.
    """
    stays = _why_it_stays(shop, version, model)
    if stays is None and current(version.folder.parent) != version:
        point_current(version)
        lift(version.folder.parent)
    return stays


def _why_it_stays(shop: Workshop, version: Version, model: ReportModel) -> str | None:
    if not model.published:
        return None
    now, worse = current(version.folder.parent), _worse_than_current(model)
    return why_current_stays(now, version, shop.options.mode, worse)


def _worse_than_current(model: ReportModel) -> tuple[str, ...]:
    """Return what got worse against the current version over all workloads, a sentence each.

    Of one whose report cannot be read nothing is known but what was judged directly.
    """
    if model.previous is None:
        return _slower_than_current(model.direct)
    rows = model.previous.worse_overall
    return tuple(f"{row.name} {percent(row.ratio)}" if row.ratio else row.name for row in rows)


def _slower_than_current(direct: DirectSpeed | None) -> tuple[str, ...]:
    if direct is None or direct.key.ratio is None or not direct.is_slower:
        return ()
    return (f"throughput {percent(direct.key.ratio.value)}",)


def _version(shop: Workshop, release: Release) -> str:
    key = digest_value(
        [
            release.candidate.library.digest,
            release.archive.digest,
            release.verdict.artifact.digest(VERDICT),
            *(one.library.digest for one in release.beside),
        ]
    )
    return f"{shop.tree.version}-{key[:12]}"
