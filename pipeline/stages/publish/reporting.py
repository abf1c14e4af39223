"""The report of a build: gathered when it is judged, kept whether it is published or not."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.errors import PipelineError
from pipeline.core.processor import ANY
from pipeline.core.receipt import Receipt, by_stage
from pipeline.geometry.difference import differences
from pipeline.geometry.model import Difference
from pipeline.geometry.tables import default_geometry
from pipeline.release.current import current
from pipeline.release.last import point_last
from pipeline.release.published import published
from pipeline.release.version import Version
from pipeline.stages.build.baseline import STAGE as BASELINE
from pipeline.stages.build.compile import LIBRARY
from pipeline.stages.build.configure import lacking
from pipeline.stages.build.doubts import learnt
from pipeline.stages.build.finish import UNSTRIPPED
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.merge import function_counts
from pipeline.stages.publish.product import STAGE
from pipeline.stages.publish.release import Release
from pipeline.stages.publish.sources import built_from
from pipeline.toolchain.profdata import PROFDATA
from pipeline.toolchain.symbols import read_lists

if TYPE_CHECKING:  # the judge's numpy and scipy come with it, and pyelftools
    from pipeline.judge.direct_speed import DirectSpeed
    from pipeline.layout.check import Finding
    from pipeline.report.facts import Build, Facts
    from pipeline.report.model import ReportModel, Source


def make_report(
    shop: Workshop,
    release: Release,
    version: str,
    receipts: list[Receipt],
    direct: DirectSpeed | None,
) -> ReportModel:
    """Gather what the report of a judged build says; the version before it is compared with."""
    from pipeline.report.build import Inputs, report_model
    from pipeline.report.history import read_history

    older = version_before(shop.tree.dist(shop.line), version)
    previous, reason = _previous(older)
    return report_model(
        profile=shop.profile.name,
        version=version,
        result=release.verdict.result(),
        allow_neutral=shop.options.allow_neutral,
        allow_regression=shop.options.allow_regression,
        inputs=Inputs(
            receipts=by_stage(receipts),
            evidence=release.evidence() if release.evidence else None,
            facts=_facts(shop, release, older),
            previous=previous,
            previous_reason=reason,
            origin=_origin(release.rebuilt_from),
            geometry=_geometry(shop, release),
            source=_source(shop, release),
            cut_for=release.geometry.processor if release.geometry else ANY,
            variant=shop.options.variant,
            cost=release.cost,
            direct=direct,
            judged=read_history(shop.tree, shop.line).points,
            doubts=learnt(one for one in shop.profile.workload if not lacking(one)),
        ),
    )


def _source(shop: Workshop, release: Release) -> Source:
    """Return the commit and the command of this build."""
    from pipeline.report.model import Source

    git = built_from(shop, release) or {}
    words = ("./bootstrap", "build", "--profile", shop.profile.name, *shop.options.words)
    return Source(
        commit=git.get("commit"),
        clean=git.get("clean"),
        command=None if release.rebuilt_from else shlex.join(words),
        changed=tuple(git.get("changed", ())),
    )


def _geometry(shop: Workshop, release: Release) -> tuple[Difference, ...]:
    if release.geometry is None:
        return ()
    return differences(release.geometry, default_geometry(shop.tree))


def keep_report(shop: Workshop, model: ReportModel) -> Path:
    """Write the report in all its forms where it stays, whatever the gate says; return its folder.

    ``reports/last`` points to it. The report of a version that was published stays as it is where
    this build of it is not to be published: it alone tells of that once the version is pruned.
    """
    from pipeline.report.files import write_reports

    told = None if model.published else _published_before(shop, model.version)
    folder = told or shop.tree.reports(shop.line) / model.version
    if told is None:
        write_reports(folder, model)
    point_last(shop.tree, shop.line, model.version)
    return folder


def _published_before(shop: Workshop, version: str) -> Path | None:
    """Return where the report of a version lies that says that it was published; or None."""
    from pipeline.report.kept import was_published

    places = (shop.tree.reports(shop.line) / version, shop.tree.dist(shop.line) / version)
    return next((place for place in places if was_published(place)), None)


def version_before(dist: Path, version: str) -> Version | None:
    """Return the version that a new one is compared with: the current one, or the newest other."""
    now = current(dist)
    if now is not None and now.name != version:
        return now
    return next((one for one in published(dist) if one.name != version), None)


def _previous(older: Version | None) -> tuple[ReportModel | None, str]:
    from pipeline.report.files import read_report

    if older is None:
        return None, "no version was published before this one"
    try:
        return read_report(older.folder), ""
    except PipelineError as error:
        return None, error.message


def _facts(shop: Workshop, release: Release, older: Version | None) -> Facts:
    """Read both libraries, what layouts/ has to say of them, and how far the profile drifted."""
    from pipeline.report.facts import Build, Facts, read_code, read_inlined, read_overlap

    counts = function_counts(shop, release.profile.path)
    candidate = release.candidate
    edges = candidate.edges.path if candidate.edges else None
    tuned = Build(candidate.library.artifact.path(UNSTRIPPED), counts, edges)
    lists = release.inputs or shop.tree.layout(shop.profile.layout.name)
    code, reason = read_code(Build(_baseline(shop, release), counts), tuned, read_lists(lists))
    overlap = read_overlap(
        release.profile.path,
        older.profile / PROFDATA if older else None,
        older.name if older else None,
        shop.tools.path("llvm-profdata"),
        shop.log(STAGE, "overlap"),
    )
    return Facts(
        code=code,
        reason=reason,
        overlap=overlap,
        inlined=read_inlined(code, tuned.library) if code else {},
        contract=_contract(shop, tuned, lists),
    )


def _baseline(shop: Workshop, release: Release) -> Path:
    """Return the baseline of this tree: a verdict that came with a bundle names another one's."""
    made = (one for one in shop.store.used if one.receipt.stage == BASELINE)
    artifact = next(made, None)
    return artifact.path(LIBRARY) if artifact else Path(release.verdict.result().baseline.path)


def _contract(shop: Workshop, tuned: Build, lists: Path) -> tuple[Finding, ...]:
    """Hold the library against the lists, as `pipeline layout check` does."""
    from pipeline.layout.check import check_layout
    from pipeline.layout.subject import Subject, excuse_for

    excuse = excuse_for(shop.line, shop.profile.layout.name, shop.options.quick)
    subject = Subject(shop.tree, tuned.library, tuned.edges, lists, excuse)
    return tuple(check_layout(subject.text, subject.promise()))


def _origin(rebuilt: Mapping[str, Any] | None) -> str | None:
    """Return what there is to say of a build that was made from a bundle."""
    if rebuilt is None:
        return None
    bytes_ = "the same bytes" if rebuilt["bit_identical"] else "other bytes"
    kept = "kept from it" if rebuilt["verdict_kept"] else "new"
    return f"rebuilt from the bundle of {rebuilt['version']}: {bytes_}, the verdict is {kept}"
