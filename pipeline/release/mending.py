"""Damaged versions are refused, and the build that makes them whole again is named."""

from __future__ import annotations

from contextlib import suppress

from pipeline.core.errors import ArtifactError
from pipeline.core.nested import read_json
from pipeline.core.variant import asked_for, line_of
from pipeline.release.version import Version


def require_undamaged(version: Version) -> None:
    """Raise ArtifactError if a file of a published version is not as its manifest lists it."""
    damage = version.damage() if version.is_published else ""
    if damage:
        raise ArtifactError(f"{version.name} is damaged: {damage}", hint=how_to_mend(version))


def how_to_mend(version: Version) -> str:
    """Return what gives a damaged version its files back."""
    line, at = line_of_version(version), version.commit
    checkout = f"git checkout {at} && " if at else ""
    of = "" if at else ", of its sources"
    return (
        f"the same build makes it whole: `{checkout}{_command_of(version)}`{of}; so does "
        "`.venv/bin/pipeline bundle import FILE` of its bundle; "
        f"`.venv/bin/pipeline list -p {line}` shows other versions"
    )


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
