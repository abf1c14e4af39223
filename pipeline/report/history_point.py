"""A version as its kept report has it.

A report of another schema is read as far as it goes: what it does not say is unknown.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from pipeline.report.history_model import Point
from pipeline.report.text import played_by


def known_point(name: str, report: dict[str, Any], is_published: bool) -> Point | None:
    """Return what a report says; None where a figure of it is none."""
    try:
        return _point(name, report, is_published)
    except ValidationError:
        return None


def _point(name: str, report: dict[str, Any], is_published: bool) -> Point:
    gain = _at(report, "verify", "throughput", "overall")
    return Point(
        version=name,
        created=str(_at(report, "verify", "created") or ""),
        published=is_published,
        removed=not is_published and _at(report, "published") is True,
        current=False,
        mode=_at(report, "verify", "mode"),
        processor=_at(report, "verify", "environment", "processor"),
        baseline=_at(report, "verify", "baseline", "sha256"),
        gain=_at(gain, "value"),
        gain_low=_at(gain, "low"),
        gain_high=_at(gain, "high"),
        misses=_value(_row(report, "I-cache misses")),
        misses_of=_at(_row(report, "I-cache misses"), "name"),
        instructions=_value(_row(report, "instructions")),
        memory_mib=_value(_row(report, "peak")),
        text_bytes=_at(report, "verify", "tuned", "text_bytes"),
        library=_at(report, "verify", "tuned", "sha256"),
        workloads=_workloads(report),
        recordings=_recordings(report),
        counted=_counted(report),
        files=_files(report),
    )


def _workloads(report: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the names of the workloads that a version was timed by, sorted."""
    found = _at(report, "verify", "throughput", "workloads")
    names = [_at(one, "name") for one in found] if isinstance(found, list) else []
    return tuple(sorted(map(str, names))) if names and all(names) else None


def _recordings(report: dict[str, Any]) -> tuple[str, ...] | None:
    """Return which workload plays which recording: those lie in folders named by their key."""
    found = _at(report, "verify", "throughput", "workloads")
    if not isinstance(found, list):
        return None
    played = [(_at(one, "name"), played_by(_words(_at(one, "argv")))) for one in found]
    return tuple(sorted(f"{name} {file}" for name, files in played for file in files))


def _words(content: Any) -> list[str]:
    """Return a command line; nothing where another schema has something else there."""
    return [one for one in content if isinstance(one, str)] if isinstance(content, list) else []


def _counted(report: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the names of the programs that the I-cache key was judged by, sorted."""
    both = _counted_programs(report)
    return None if both is None else tuple(sorted(str(_at(one, "name")) for one in both))


def _files(report: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the same names, each with the digest of its files; None where one is unknown."""
    both = _counted_programs(report)
    if both is None or not all(_at(one, "digest") for one in both):
        return None
    return tuple(sorted(f"{_at(one, 'name')} {_at(one, 'digest')}" for one in both))


def _counted_programs(report: dict[str, Any]) -> list[Any] | None:
    found = _at(report, "verify", "programs")
    if not isinstance(found, list):
        return None
    return [one for one in found if _at(one, "baseline") and _at(one, "tuned")]


def _row(report: dict[str, Any], beginning: str) -> Any:
    """Return the row of the short table whose name begins so, or None."""
    rows = _at(report, "summary")
    listed = rows if isinstance(rows, list) else ()
    return next((row for row in listed if str(_at(row, "name") or "").startswith(beginning)), None)


def _value(row: Any) -> float | None:
    """Return this version's figure in a row."""
    value = _at(row, "tuned")
    return value if isinstance(value, int | float) else None


def _at(content: Any, *names: str) -> Any:
    """Return what stands at a path of names; None where the path ends before."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content
