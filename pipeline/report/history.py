"""Versions of a profile over time, from the reports that are kept of them.

A report of another schema is read as far as it goes: what it does not tell is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.judge.samples import Record
from pipeline.release.current import current
from pipeline.release.marks import Marks, read_marks
from pipeline.release.published import published
from pipeline.release.version import Version
from pipeline.report.files import JSON
from pipeline.report.text import names_apart, played_by

SAME, OTHER, UNSURE = "=", "≠", "?"
SIGNS = {SAME: "same library", OTHER: "other workloads", UNSURE: "workloads unknown"}
"""Signs of a version that does not continue the one before it, and why."""
_JUDGED_BY = {"text_bytes": (), "misses": ("counted", "files")}
"""What a quantity depends on beside the library; others on the timed workloads and recordings."""


class Point(Record):
    """One version as it was judged. None is unknown.

    ``mark`` says in words that it was rolled back or ``rejected``, ``damaged`` that its files are
    not as they were published, ``removed`` that it was published once.
    ``gain`` is its throughput over the baseline as a ratio, with the ends of its interval.
    ``baseline`` is the digest of that baseline: gains over two baselines cannot be compared.
    ``misses`` are what ``misses_of`` says: of the library, by the I-cache key of that time.
    Instructions are per operation, memory is the peak in MiB, text in bytes.

    ``workloads`` are the names of those that it was timed by, ``recordings`` those that it played,
    and ``counted`` the programs whose misses were counted; ``files`` has a digest of each of these.
    ``dropped`` and ``added`` say how the first differ from those of the version before it,
    ``uncounted`` and ``newly_counted`` the programs; ``replaced`` are programs with other files.
    ``same_library`` tells that its library has the same bytes as that of the version before it.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    version: str
    created: str
    published: bool
    current: bool
    mark: str | None = None
    rejected: bool = False
    damaged: bool = False
    removed: bool = False
    mode: str | None
    processor: str | None
    baseline: str | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    misses: float | None
    misses_of: str | None
    instructions: float | None
    memory_mib: float | None
    text_bytes: Annotated[int, Field(ge=0, lt=1 << 63)] | None
    library: str | None = None
    same_library: bool = False
    workloads: tuple[str, ...] | None = None
    recordings: tuple[str, ...] | None = None
    counted: tuple[str, ...] | None = None
    files: tuple[str, ...] | None = None
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    newly_counted: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    recorded_anew: bool = False


class History(Record):
    """All versions of a profile of which there is a report, oldest first."""

    schema_version: Literal[1] = 1
    profile: str
    points: tuple[Point, ...]
    unreadable: tuple[str, ...]

    def series(self, field: str) -> list[float | None]:
        """Return a quantity of each version; None also where it was measured in another way.

        The newest version says how misses are measured.
        """
        kind = self.points[-1].misses_of if self.points else None
        return [
            None if field == "misses" and point.misses_of != kind else getattr(point, field)
            for point in self.points
        ]

    def breaks(self, field: str) -> list[str]:
        """Return for each version why no line leads to it from the one before; "" where one does.

        The size of the code has nothing to do with the workloads.
        """
        return [
            _sign(before, after, _JUDGED_BY.get(field, ("workloads", "recordings")))
            for before, after in pairwise((None, *self.points))
            if after is not None
        ]


def _sign(before: Point | None, after: Point, judged_by: tuple[str, ...]) -> str:
    if before is None:
        return ""
    both = [(getattr(before, name), getattr(after, name)) for name in judged_by]
    apart = [one for one in both if one[0] != one[1]]
    if apart:
        return UNSURE if any(None in one for one in apart) else OTHER
    return SAME if after.same_library else ""


@dataclass(frozen=True)
class Quantity:
    """A quantity of the history: its field, its heading, its unit, and which way is better."""

    field: str
    heading: str
    unit: str
    more_is_better: bool = False


QUANTITIES = (
    Quantity("gain", "throughput against the baseline", "ratio", more_is_better=True),
    Quantity("misses", "I-cache misses of the library", ""),
    Quantity("instructions", "instructions per operation", ""),
    Quantity("memory_mib", "peak memory", "MiB"),
    Quantity("text_bytes", "text size", "bytes"),
)


def read_history(tree: Tree, profile: str) -> History:
    """Return what is known of the versions of ``profile``: published ones, and judged ones."""
    dist = tree.dist(profile)
    now, kept = current(dist), {one.name: one for one in published(dist)}
    marks = read_marks(dist)
    points: dict[str, Point] = {}
    unreadable = []
    for file in _reports(tree, profile):
        name = file.parent.name
        report = _read(file)
        point = None if report is None else _known_point(name, report, name in kept)
        if point is None:
            unreadable.append(str(file))
        elif name not in points:
            points[name] = point.model_copy(
                update={
                    "current": now is not None and now.name == name,
                    "mark": _said(marks, name, kept),
                    "rejected": marks.refuses(name, kept.get(name)),
                    "damaged": name in kept and bool(kept[name].damaged_files()),
                }
            )
    ordered = sorted(points.values(), key=lambda one: (one.created, one.version))
    return History(
        profile=profile, points=tuple(_after_another(ordered)), unreadable=tuple(unreadable)
    )


def _said(marks: Marks, name: str, kept: dict[str, Version]) -> str | None:
    """Return what is said of a version; of one that is published also as another name of it."""
    said = marks.said_of(kept[name]) if name in kept else marks.by_version().get(name)
    return said or None


def _after_another(points: list[Point]) -> Iterator[Point]:
    """Yield each version with what it shares with the one before it, and what it does not."""
    yield from points[:1]
    for before, after in pairwise(points):
        same = after.library is not None and after.library == before.library
        update: dict[str, Any] = {"same_library": same}
        update["dropped"], update["added"] = _apart(before.workloads, after.workloads)
        update["uncounted"], update["newly_counted"] = _apart(before.counted, after.counted)
        update["recorded_anew"] = _same_name_anew(before, after)
        update["replaced"] = _replaced(before, after)
        yield after.model_copy(update=update)


def _apart(
    then: tuple[str, ...] | None, now: tuple[str, ...] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which names were dropped, and which added; none where one side is unknown."""
    return ((), ()) if then is None or now is None else names_apart(then, now)


def _replaced(before: Point, after: Point) -> tuple[str, ...]:
    """Return the programs of both that are other files in the one than in the other."""
    old, new = (dict(map(_split, point.files or ())) for point in (before, after))
    return tuple(name for name in new if name in old and old[name] != new[name])


def _split(name_and_digest: str) -> tuple[str, str]:
    name, _, digest = name_and_digest.rpartition(" ")
    return name, digest


def _same_name_anew(before: Point, after: Point) -> bool:
    """Return whether a workload of both plays another recording."""
    shared = set(before.workloads or ()) & set(after.workloads or ())
    old, new = (
        {one for one in point.recordings or () if one.partition(" ")[0] in shared}
        for point in (before, after)
    )
    return None not in (before.recordings, after.recordings) and old != new


def _reports(tree: Tree, profile: str) -> Iterator[Path]:
    """Yield the files of reports; those of published versions first."""
    for folder in (tree.dist(profile), tree.reports(profile)):
        for file in sorted(folder.glob(f"[!.]*/{JSON}")):
            if not file.parent.is_symlink():
                yield file


def _read(file: Path) -> dict[str, Any] | None:
    try:
        content = read_json(file)
    except (OSError, ValueError):
        return None
    return (
        content if isinstance(content, dict) and isinstance(content.get("verify"), dict) else None
    )


def _known_point(name: str, report: dict[str, Any], is_published: bool) -> Point | None:
    """Return what a report tells; None where a figure of it is none."""
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
