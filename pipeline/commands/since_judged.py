"""What has become of a version since it was judged: rejected, set aside, damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.release.version import Version
    from pipeline.report.model import Decision, ReportModel


def said_since(model: ReportModel) -> list[str]:
    """Return what has become of a version since it was judged, a sentence each."""
    damage = f"DAMAGED: {model.damage}" if model.damage else ""
    decided = model.decided.said if model.decided else ""
    return [said for said in (damage, decided) if said]


def since_judged(profile: str, version: Version, model: ReportModel) -> ReportModel:
    """Return the report of a version with what has become of it since it was judged."""
    from pipeline.release.current import current_since

    # Of one that was current at once its own report says so.
    since = current_since(_dist(profile, version), version.name) if model.stays else ""
    decided, damage = _decided(profile, version), _damage(version)
    fields = {"decided": decided, "damage": damage, "current_since": since}
    return model.model_copy(update=fields)


def _decided(profile: str, version: Version) -> Decision | None:
    """Return what people decided of a version after it was judged; None if nothing."""
    from pipeline.release.marks import read_marks
    from pipeline.report.model import Decision

    marks = read_marks(_dist(profile, version))
    refused = marks.rejection(version)
    mark = refused or marks.rolled_back(version)
    if mark is None:
        return None
    return Decision(
        what="rejected" if refused else "set aside",
        since=mark.since,
        reason=mark.reason,
        said=f"{marks.since(version)}{_undone(profile, version) if refused else ''}",
    )


def _dist(profile: str, version: Version) -> Path:
    """Return the folder of the versions that a version belongs to, published or not."""
    from pipeline.core.paths import Tree

    return version.folder.parent if version.is_published else Tree.here().dist(profile)


def _damage(version: Version) -> str:
    """Return what is wrong with the files of a published version, and the cure; "" for nothing."""
    from pipeline.release.mending import how_to_mend

    damage = version.damage() if version.is_published else ""
    return damage and f"{damage}; {how_to_mend(version)}"


def _undone(line: str, version: Version) -> str:
    command = f".venv/bin/pipeline reject -p {line} {version.name} --undo"
    return f"; `{command}` takes that back"
