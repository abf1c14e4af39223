"""Reading what a review is about from the tree: reports, libraries, and lines of the lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ArtifactError
from pipeline.core.paths import Tree
from pipeline.core.variant import asked_for, split_line
from pipeline.judge.model import VerifyResult
from pipeline.profile.load import load_profile
from pipeline.release.marks import read_marks
from pipeline.release.mending import require_undamaged
from pipeline.release.version import Version, in_short
from pipeline.report.compare import compare_versions
from pipeline.report.compare_notes import other_geometry
from pipeline.report.files import read_report
from pipeline.report.model import ReportModel
from pipeline.report.relisted import relisted
from pipeline.review.model import Lists, Review, identity

Judge = Callable[[Path, Path], VerifyResult]
"""Judges the second library against the first one."""


@dataclass(frozen=True)
class Build:
    """One side of a review: its report, with the folder it lies in, and its library."""

    report: ReportModel
    library: Path
    folder: Path


def read_build(tree: Tree, line: str, folder: Path) -> Build:
    """Return the build whose report lies in ``folder``; ArtifactError if its library is gone."""
    require_undamaged(Version(folder))
    report = read_report(folder)
    places = (
        Version(folder).library,
        Version(tree.dist(line) / report.version).library,
        Path(report.verify.tuned.path),
    )
    library = next((path for path in places if path.is_file()), None)
    if library is None:
        raise ArtifactError(
            f"the library of {report.version} is gone",
            hint=f"`.venv/bin/pipeline build --profile {asked_for(line)}` makes it again",
        )
    return Build(report, library, folder)


def gather(tree: Tree, line: str, base: Build, head: Build, judge: Judge | None) -> Review:
    """Return the review of ``head`` against ``base``: judged now, or by what is on record.

    ``line`` is the profile, or a variant of it (docs/hardening.md). A library is not judged
    against itself.
    """
    before, after = base.report.verify, head.report.verify
    same = before.tuned.sha256 == after.tuned.sha256
    direct = judge(base.library, head.library) if judge and not same else None
    return Review(
        base=base.report.version,
        base_mode=base.report.verify.mode,
        head=head.report,
        # BASE is often judged last.
        comparison=compare_versions(base.report, head.report, direct, in_order=False),
        profile_file=str((tree.profiles / f"{split_line(line)[0]}.toml").relative_to(tree.root)),
        lists=_lists(tree, split_line(line)[0]),
        relisted=relisted(base.report, head.report),
        same=same,
        found_before=frozenset(map(identity, base.report.contract or ())),
        same_plain=before.baseline.sha256 == after.baseline.sha256,
        made_of=(_made_of(base), _made_of(head)),
        other_geometry=tuple(other_geometry(base.report, head.report)),
        decided=read_marks(tree.dist(line)).since(Version(tree.dist(line) / head.report.version)),
    )


def _made_of(build: Build) -> str:
    """Return the commit of a build, in short; "" where neither report nor manifest know it."""
    source = build.report.source
    if source is None or source.commit is None:
        known = Version(build.folder).commit
        return f"commit {known}" if known else ""
    return f"commit {in_short(source.commit)}{'' if source.clean else ' with files not committed'}"


def _lists(tree: Tree, profile: str) -> Lists:
    folder = tree.layout(load_profile(tree, profile).layout.name)
    hot, cold = (_file(tree, folder / f"{name}.txt") for name in ("hot", "cold"))
    return Lists(hot, cold, _lines(tree.root / hot), _lines(tree.root / cold))


def _file(tree: Tree, path: Path) -> str:
    """Return a list's own name in the tree; of a link that of what it points to."""
    return str(path.resolve().relative_to(tree.root.resolve()))


def _lines(path: Path) -> dict[str, int]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    names = ((line.partition("#")[0].strip(), number) for number, line in enumerate(lines, 1))
    return {name: number for name, number in names if name}
