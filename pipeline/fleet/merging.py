"""Merging profiles of many hosts with weights, and keeping the result for the next build.

Counts grow with the time that a process ran. So that a weight means a share of the work, each
file's counts are first divided by their sum, as the training's are by the time of its workloads.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core.digest import digest_file
from pipeline.core.errors import ChildError, DataError
from pipeline.core.files import replace_text, replacing
from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.fleet.counts import LIMIT_S, Overlap, edge_overlap, overlap, total_count
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.profdata import PROFDATA

FDATA = "bolt.fdata"
# The largest factor: counts of 10 ** 12 times it still fit into 64 bits.
SCALE = 1_000_000
COUNTS, EDGES = (".profraw", ".profdata"), (".fdata",)


@dataclass(frozen=True)
class Given:
    """A file and its weight, a share of the work of all files together."""

    path: Path
    weight: float = 1.0


@dataclass(frozen=True)
class Merged:
    """What came of a merge: the file, how many were good, what was skipped, and the drift.

    ``drift`` compares with the profile of the published version, None where there is none.
    """

    path: Path
    used: int
    skipped: tuple[str, ...]
    drift: Overlap | None


def merge_counts(tree: Tree, profdata: Path, profile: str, files: Sequence[Given]) -> Merged:
    """Merge raw and indexed profiles into the imported one of ``profile``.

    A corrupt file is skipped, with the reason in ``skipped``. DataError if none is left.
    """
    good: dict[Path, tuple[float, float]] = {}
    skipped = []
    for given in files:
        try:
            good[given.path] = (given.weight, float(total_count(profdata, given.path)))
        except DataError as error:
            skipped.append(error.message)
    _require(good, skipped)
    target = tree.imported(profile) / PROFDATA
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        merged = Path(folder) / PROFDATA
        _merge(profdata, whole_factors(good), merged)
        drift = _drift(tree.dist(profile) / "current" / "profile" / PROFDATA, merged, profdata)
        with replacing(target) as fresh:
            shutil.copyfile(merged, fresh)
    _write_origin(target, {path: weight for path, (weight, _) in good.items()})
    return Merged(target, len(good), tuple(skipped), drift)


def read_origin(imported: Path) -> list[dict[str, Any]] | None:
    """Return which files an imported profile was merged from, with their weights.

    None where that was not written down, or not about this very profile.
    """
    try:
        said = read_json(_origin(imported))
        return list(said["from"]) if said["profile"] == digest_file(imported) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_origin(target: Path, weights: Mapping[Path, float]) -> None:
    rows = [
        {"file": path.name, "sha256": digest_file(path), "weight": weight}
        for path, weight in weights.items()
    ]
    said = {"profile": digest_file(target), "from": rows}
    replace_text(_origin(target), json.dumps(said, indent=1) + "\n")


def _origin(imported: Path) -> Path:
    return imported.with_suffix(".origin.json")


def merge_edges(tree: Tree, profile: str, files: Sequence[Given]) -> Merged:
    """Merge BOLT's profiles into the imported one of ``profile``; as merge_counts."""
    read: dict[Path, tuple[float, Edges]] = {}
    skipped = []
    for given in files:
        edges = Edges()
        if edges.add_file(given.path, 1) and edges.taken.total() > 0:
            read[given.path] = (given.weight, edges)
        else:
            skipped.append(f"{given.path}: not a profile of BOLT's edge counts")
    _require(read, skipped)
    sums = {path: (w, float(e.taken.total())) for path, (w, e) in read.items()}
    total = Edges()
    for path, factor in whole_factors(sums).items():
        total.add_file(path, factor)
    target = tree.imported(profile) / FDATA
    published, last = tree.dist(profile) / "current" / "profile" / FDATA, Edges()
    known = last.add_file(published, 1)
    target.parent.mkdir(parents=True, exist_ok=True)
    total.write(target)
    drift = edge_overlap(last, total) if known else None
    return Merged(target, len(read), tuple(skipped), drift)


def combine(profdata: Path, training: Path, imported: Path, output: Path) -> dict[str, int]:
    """Write training and imported profile, equally heavy, to ``output``; return their factors."""
    sums = {path: (1.0, float(total_count(profdata, path))) for path in (training, imported)}
    factors = whole_factors(sums)
    _merge(profdata, factors, output)
    return {"training": factors[training], "imported": factors[imported]}


def whole_factors(good: dict[Path, tuple[float, float]]) -> dict[Path, int]:
    """Return a whole-number factor for each file, from its weight and the sum of its counts.

    Hosts may differ by far more than training workloads do, hence the room between the factors.
    """
    wanted = {path: weight / total for path, (weight, total) in good.items()}
    top = max(wanted.values())
    return {path: max(1, round(SCALE * value / top)) for path, value in wanted.items()}


def _merge(profdata: Path, factors: dict[Path, int], output: Path) -> None:
    inputs = [f"-weighted-input={factor},{path}" for path, factor in factors.items()]
    try:
        run([profdata, "merge", *inputs, "-o", output], timeout_s=LIMIT_S)
    except ChildError as error:
        raise DataError(
            f"the profiles cannot be merged: {error.message}",
            hint="are they all from builds with the same LLVM?",
        ) from error


def _drift(published: Path, merged: Path, profdata: Path) -> Overlap | None:
    return overlap(profdata, published, merged) if published.is_file() else None


def _require(good: object, skipped: Sequence[str]) -> None:
    if not good:
        raise DataError(
            "none of the files can be used:\n  " + "\n  ".join(skipped),
            hint="they must come from the library of this profile: docs/recording.md",
        )
