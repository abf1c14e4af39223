"""bolt-samples: the training's edge counts and imported samples, as one profile for BOLT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_file
from pipeline.core.receipt import Notes
from pipeline.core.variant import PRODUCTION
from pipeline.fleet.sources import read_sources, samples_file
from pipeline.stages.bolt.train import FDATA, EdgeProfile
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.elf import read_build_id
from pipeline.toolchain.fdata import Edges

if TYPE_CHECKING:
    from pipeline.fleet.weighing import Weighed

STAGE = "bolt-samples"


def add_samples(shop: Workshop, library: Library, training: EdgeProfile) -> EdgeProfile | None:
    """Return the profile of the training and the imported samples; None where there are none.

    Samples are of production's code, and no other variant takes them.
    """
    path = samples_file(shop.tree, shop.profile.name)
    if shop.options.variant != PRODUCTION or not path.exists():
        return None
    sources = read_sources(path)
    parts = {
        "library": library.digest,
        "training": training.digest,
        "samples": digest_file(path),
    }

    def work(room: Path, line: StageLine) -> Notes:
        from pipeline.fleet.weighing import weigh
        from pipeline.toolchain.text_map import read_text_map

        line.step("weighing")
        edges = Edges()
        edges.add_file(training.path, 1)
        names = {
            name: one.name for one in read_text_map(library.path).functions for name in one.names
        }
        merged, rows = weigh(edges, sources, read_build_id(library.path), names)
        merged.write(room / FDATA)
        return {"sources": [_row(one) for one in rows], "branches": len(merged.taken)}

    made = shop.do(STAGE, parts, work, summary=_summary)
    exact = training.exact and not any(one["by"] == "edges" for one in _rows(made.receipt.notes))
    return EdgeProfile(made.path(FDATA), made.digest(FDATA), made, exact=exact)


def _row(weighed: Weighed) -> dict[str, Any]:
    """Return what manifest and report say of a source."""
    source = weighed.source
    return {
        "file": source.file,
        "sha256": source.sha256,
        "weight": source.weight,
        "share": round(weighed.share, 4),
        "event": source.event,
        "samples": source.samples,
        "build_id": source.build_id,
        "by": "edges" if weighed.by_edges else "functions",
        "unknown": round(weighed.unknown, 4),
    }


def _rows(notes: Notes) -> list[dict[str, Any]]:
    return list(notes["sources"])


def _summary(notes: Notes) -> str:
    rows = _rows(notes)
    by = " and ".join(sorted({row["by"] for row in rows}))
    return f"{sum(row['samples'] for row in rows):,} samples of {len(rows)} files, by {by}"
