"""Files that `import` is given, with their weights, sorted by kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.fleet.merging import Given


PERF_MAGIC = b"PERFILE2"


def file_given(text: str) -> Given:
    """Return FILE=WEIGHT as a file and its weight."""
    from pipeline.core.errors import UsageError
    from pipeline.fleet.merging import Given

    name, equals, weight = text.rpartition("=")
    path = Path(name if equals and not Path(text).exists() else text)
    try:
        number = float(weight) if path != Path(text) else 1.0
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise UsageError(f"{text}: a weight is a number above 0, as in {name}=2.5")
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}", hint="give the path of a profile: FILE or FILE=WEIGHT"
        )
    return Given(path, number)


def by_kind(
    given: Sequence[Given], counts: Sequence[str], edges: Sequence[str]
) -> tuple[list[Given], list[Given], list[Given]]:
    """Return the files by kind: counts, edges, samples. UsageError for any other kind."""
    from pipeline.core.errors import UsageError

    kinds: tuple[list[Given], list[Given], list[Given]] = ([], [], [])
    for one in given:
        if one.path.suffix in counts:
            kinds[0].append(one)
        elif one.path.suffix in edges:
            kinds[1].append(one)
        elif _is_of_perf(one.path):
            kinds[2].append(one)
        else:
            raise UsageError(
                f"{one.path}: neither *.profraw, *.profdata, *.fdata nor perf's data",
                hint="rename it if it is one of these",
            )
    return kinds


def _is_of_perf(path: Path) -> bool:
    """Return whether perf has written a file, by its first bytes: it may have gigabytes."""
    with path.open("rb") as stream:
        return stream.read(len(PERF_MAGIC)) == PERF_MAGIC
