"""What is known before `.ci/review` builds anything.

    python -m pipeline.review.known DIST COMMIT MODE    # which version BASE would be
    python -m pipeline.review.known DIST                # whether what this tree has was rejected

A version is only named, not taken: nobody knows whether the compilers are still those of then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline.core.errors import ArtifactError
from pipeline.core.paths import BUILT_FROM
from pipeline.core.variant import split_line
from pipeline.release.commit import commit_of, is_alike
from pipeline.release.marks import Mark, read_marks
from pipeline.release.published import published
from pipeline.release.version import Version


def built_at(dist: Path, commit: str, mode: str) -> Version | None:
    """Return the newest whole version that was built from the files of a commit, in this mode."""
    return next((one for one in published(dist) if _is_of(one, dist, commit, mode)), None)


def rejected_here(dist: Path) -> tuple[Version, Mark] | None:
    """Return a version that was built from the files of this tree and rejected; None if unknown."""
    here = commit_of(dist.parent.parent, BUILT_FROM, split_line(dist.name)[0])
    if here is None or not here["clean"]:
        return None
    marks = read_marks(dist)
    return next(
        (
            (one, refused)
            for one in published(dist)
            if (refused := marks.rejection(one)) and _is_from(one, dist, here["commit"])
        ),
        None,
    )


def _is_of(version: Version, dist: Path, commit: str, mode: str) -> bool:
    try:
        verdict = version.manifest.get("verdict") or {}
    except ArtifactError:
        return False
    return verdict.get("mode") == mode and _is_from(version, dist, commit) and version.is_whole()


def _is_from(version: Version, dist: Path, commit: str) -> bool:
    """Return whether a version was built from the files of a commit, and nothing beside them."""
    try:
        git = version.manifest.get("git") or {}
    except ArtifactError:
        return False
    if not git.get("clean") or not git.get("commit"):
        return False
    return is_alike(dist.parent.parent, git["commit"], commit, BUILT_FROM)


def tell_rejected(dist: Path) -> None:
    """Print that a review of this tree can only end badly, and what changes that."""
    if (found := rejected_here(dist)) is None:
        return
    version, refused = found
    print(
        f"note: {version.name} was built from the files of this tree, and was rejected on "
        f"{refused.since[:10]}: {refused.reason}. So the review ends with exit code 16; "
        f"`.venv/bin/pipeline reject -p {dist.name} {refused.version} --undo` takes that back."
    )


def main(dist: str, commit: str = "", mode: str = "") -> None:
    """Print how to save the build of BASE, if a version does; without COMMIT what was rejected."""
    if not commit:
        tell_rejected(Path(dist))
        return
    if (found := built_at(Path(dist), commit, mode)) is not None:
        print(
            f"{found.folder} was published from the same files. As BASE it saves this build: "
            f"`.ci/review {found.folder} {found.folder.parent.name}`, if the compilers are still "
            "those of then."
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
