"""Damaged versions are refused, and the build that makes them whole again is named."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pipeline.core.errors import ArtifactError
from pipeline.core.nested import read_json
from pipeline.core.variant import asked_for, line_of
from pipeline.release.marks import read_marks
from pipeline.release.version import PROFILE, Version


def require_undamaged(version: Version) -> None:
    """Raise ArtifactError if a file of a published version is not as its manifest lists it."""
    damage = version.damage() if version.is_published else ""
    if damage:
        raise ArtifactError(f"{version.name} is damaged: {damage}", hint=how_to_mend(version))


def how_to_mend(version: Version) -> str:
    """Return what gives a damaged version its files back."""
    line = line_of_version(version)
    return (
        f"the same build makes it whole: {_same_build(version)}; so does "
        f"`.venv/bin/pipeline bundle import FILE` of its bundle; {_rejected(version)}"
        f"`.venv/bin/pipeline list -p {line}` shows other versions"
    )


def _same_build(version: Version) -> str:
    """Return the steps to the build of a version: commit, files that were not in it, command."""
    at, command = version.commit, f"`{_command_of(version)}`"
    if not at:
        return f"{command}, of its sources"
    missing = _not_committed(version)
    if not missing:
        return f"`git checkout {at} && {command[1:]}"
    return (
        f"`git checkout {at}`, then bring back what was not committed ({missing}), then {command}"
    )


def _not_committed(version: Version) -> str:
    """Name the files of its sources that were not committed, and the copies in the version."""
    git = version.manifest["git"]
    names = [name.strip('"').rpartition(" -> ")[2] for name in git.get("changed") or ()]
    if not names and git.get("clean") is False:
        return "files that its manifest does not name"
    return ", ".join(f"{name}{_copy_of(version, Path(name))}" for name in names)


def _copy_of(version: Version, path: Path) -> str:
    """Say which file of the version is a copy of a source; "" where none is, or none is whole."""
    copied = path.parts[0] == "layouts" or path.parent.name == "profiles"
    place = f"{PROFILE}/{path.name}"
    is_there = copied and place in (version.sums() or {}) and place not in version.damaged_files()
    return f": a copy is {place} of this version" if is_there else ""


def _rejected(version: Version) -> str:
    """Say what a build of a version that was rejected comes to; "" where it was not."""
    with suppress(ArtifactError):
        if read_marks(version.folder.parent).rejection(version):
            return "it stays rejected, so either ends with exit code 8 once the files are whole; "
    return ""


def line_of_version(version: Version) -> str:
    """Return the line of a version as its manifest has it, also of a copy; else its folder's."""
    with suppress(ArtifactError):
        if profile := version.manifest.get("profile"):
            return line_of(str(profile), version.variant)
    return version.folder.parent.name


def _command_of(version: Version) -> str:
    """Return the command of its build: as its report has it, or the plainest one of its line."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        report = read_json(version.folder / "report.json")
        if command := report["source"]["command"]:
            return str(command)
    return f"./bootstrap build --profile {asked_for(line_of_version(version))}"
