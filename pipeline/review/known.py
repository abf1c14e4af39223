"""Which published version of a tree is what `.ci/review` would build as BASE.

    python -m pipeline.review.known DIST COMMIT MODE

It is only named, not taken: nobody knows whether the compilers are still those of then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline.core.errors import ArtifactError
from pipeline.core.paths import BUILT_FROM
from pipeline.release.commit import is_alike
from pipeline.release.published import published
from pipeline.release.version import Version


def built_at(dist: Path, commit: str, mode: str) -> Version | None:
    """Return the newest whole version that was built from the files of a commit, in this mode."""
    return next((one for one in published(dist) if _is_of(one, dist, commit, mode)), None)


def _is_of(version: Version, dist: Path, commit: str, mode: str) -> bool:
    try:
        git, verdict = version.manifest.get("git") or {}, version.manifest.get("verdict") or {}
    except ArtifactError:
        return False
    if verdict.get("mode") != mode or not git.get("clean") or not git.get("commit"):
        return False
    return is_alike(dist.parent.parent, git["commit"], commit, BUILT_FROM) and version.is_whole()


def main(dist: str, commit: str, mode: str) -> None:
    """Print how to save the build, if there is such a version."""
    if (found := built_at(Path(dist), commit, mode)) is not None:
        print(
            f"{found.folder} was published from the same files. As BASE it saves this build: "
            f"`.ci/review {found.folder} {found.folder.parent.name}`, if the compilers are still "
            "those of then."
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
