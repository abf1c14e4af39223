"""What people have said of versions: which are set aside, which are refused for good.

It stands in ``dist/<profile>/marks.json``, beside the versions, which are never written again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.core.errors import ArtifactError, VersionError
from pipeline.release.version import Version

MARKS = "marks.json"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Mark(_Record):
    """A version that people want no more, and how to know it again when it is built once more.

    ``library`` is the digest of its library, ``inputs`` of all that it was made from; None where
    the manifest does not tell.
    """

    version: str
    library: str | None
    inputs: str | None
    since: str
    reason: str = ""

    def means(self, library: str, inputs: str) -> bool:
        """Return whether a build is this version again: the same bytes, or the same inputs."""
        return library == self.library or inputs == self.inputs


class Marks(_Record):
    """All marks of a profile. ``aside``: what was rolled back, until it is lifted."""

    schema_version: int = 1
    aside: tuple[Mark, ...] = ()
    rejected: tuple[Mark, ...] = ()

    def by_version(self) -> dict[str, str]:
        """Return what is said of each version that has a mark."""
        said = {one.version: "set aside" for one in self.aside}
        return said | {one.version: f"REJECTED: {one.reason}" for one in self.rejected}

    def said_of(self, version: Version) -> str:
        """Return what is said of a published version, also by the mark of one that is the same."""
        refused = self.rejection(version)
        if refused is None or refused.version == version.name:
            return self.by_version().get(version.name, "")
        return f"REJECTED as {refused.version}: {refused.reason}"

    def rejection(self, version: Version) -> Mark | None:
        """Return why a published version, or one that is the same, is refused; or None."""
        own = next((one for one in self.rejected if one.version == version.name), None)
        return own or (self.same_as(mark_of_version(version)) if self.rejected else None)

    def refuses(self, name: str, version: Version | None) -> bool:
        """Return whether a version is refused; one without a folder (None) is known by its name."""
        named = any(one.version == name for one in self.rejected)
        return named or (version is not None and self.rejection(version) is not None)

    def since(self, version: Version) -> str:
        """Return what was said of a published version after it was judged, in a sentence; or ""."""
        if (refused := self.rejection(version)) is not None:
            twin = "" if refused.version == version.name else f" as {refused.version}"
            return f"REJECTED{twin} on {refused.since[:10]}: {refused.reason}"
        if (rolled := self.rolled_back(version)) is not None:
            return f"set aside by a rollback on {rolled.since[:10]}"
        return ""

    def rolled_back(self, version: Version) -> Mark | None:
        """Return the mark of a published version that was rolled back, or None."""
        return next((one for one in self.aside if one.version == version.name), None)

    def with_rejection(self, mark: Mark) -> Marks:
        """Return the marks with one version refused for good."""
        others = tuple(one for one in self.rejected if one.version != mark.version)
        return self.model_copy(update={"rejected": (*others, mark)})

    def same_as(self, known: Mark) -> Mark | None:
        """Return the rejection that holds for another version, or a build of it; or None."""
        return next((one for one in self.rejected if _same(one, known)), None)


def require_accepted(version: Version) -> None:
    """Raise VersionError if a published version was rejected: it goes nowhere any more."""
    line = version.folder.parent.name
    refused = read_marks(version.folder.parent).rejection(version)
    if refused is not None:
        raise VersionError(
            f"{named(refused, version)} rejected on {refused.since[:10]}: {refused.reason}",
            hint=f"take another one, `.venv/bin/pipeline list -p {line}` shows them; "
            f"or take that back: `.venv/bin/pipeline reject -p {line} {refused.version} --undo`",
        )


def named(refused: Mark, version: Version) -> str:
    """Begin a sentence on a version that is refused: itself, or another that is the same."""
    if refused.version == version.name:
        return f"{version.name} was"
    return f"{version.name} is the same as {refused.version}, which was"


def _same(one: Mark, other: Mark) -> bool:
    pairs = (
        (one.version, other.version),
        (one.library, other.library),
        (one.inputs, other.inputs),
    )
    return any(mine is not None and mine == theirs for mine, theirs in pairs)


def read_marks(dist: Path) -> Marks:
    """Return the marks in a dist folder; ArtifactError, which names the file, if damaged."""
    path = dist / MARKS
    try:
        return Marks.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Marks()
    except (OSError, ValidationError, ValueError) as error:
        raise ArtifactError(
            f"{path} cannot be read: it says which versions were rolled back or rejected",
            hint="mend it or remove it; then nothing is rolled back or rejected",
        ) from error


def mark_of_version(version: Version, reason: str = "") -> Mark:
    """Return the mark of a version that has a folder, made now."""
    try:
        manifest = version.manifest
        library, inputs = manifest.get("files", {}).get(version.place), manifest.get("inputs")
    except ArtifactError:  # a damaged version may be marked as well
        library = inputs = None
    return mark_of(version.name, library, inputs, reason)


def mark_of(version: str, library: str | None, inputs: str | None = None, reason: str = "") -> Mark:
    """Return the mark of a version, made now."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return Mark(version=version, library=library, inputs=inputs, since=since, reason=reason)
