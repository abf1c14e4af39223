"""What was learnt, as lines for people and as the difference of the file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.geometry.model import Geometry
from pipeline.geometry.write import render_toml
from pipeline.learn.figures import Figures
from pipeline.learn.rules import Proposal, overridden
from pipeline.learn.trial import Judged, Outcome


def summary(figures: Figures) -> list[str]:
    """Return the ratios that the rules look at, in three lines."""
    resident = "process_resident_bytes"
    waits = [f"{figures.part(name, resident):.0%} {word}" for name, word in WAITING.items()]
    retired = figures.grown("runs_given", "runs_taken")
    return [
        f"samples: {figures.samples}; processes: {figures.processes}",
        f"occupancy: {1 - figures.free_in_slabs:.0%} of slab memory is out; of resident memory "
        f"{', '.join(waits)}",
        f"traffic: {retired:.0%} as many runs retired as taken; {figures.purge_faults:.0%} of page "
        "faults may follow a purge",
    ]


WAITING = {"magazine_bytes": "is in magazines", "dirty_bytes": "waits for the purge"}


def not_proposed(figures: Figures, base: Geometry) -> Iterator[str]:
    """Say for which options nothing is proposed, because the programs did not have the default."""
    for name, values in overridden(figures, base).items():
        yield (
            f"HAKMEM_{name.upper()} was {values}, and the default is "
            f"{base.value(f'default_{name}')}: these figures do not show what the default does, "
            "so no other one is proposed. Sample programs that have the default"
        )


def proposal(one: Proposal) -> str:
    """Return a proposal with its reason, and how to try it without a build."""
    trial = f" (to try it in production at once: {one.option})" if one.option else ""
    return f"proposal: {one.move.name}: {one.move.reason}{trial}"


def verdicts(outcome: Outcome) -> Iterator[str]:
    """Return what the judge found, change by change."""
    for one in outcome.singles:
        yield _verdict(one)
    if outcome.together is not None:
        yield f"by fresh runs: {_verdict(outcome.together)}"


def _verdict(one: Judged) -> str:
    return f"{one.name}: {'pays' if one.pays else 'does not pay'}: {one.words}"


def difference(path: Path, geometry: Geometry, base: Geometry) -> Sequence[str]:
    """Return how the file at ``path`` would change, as lines of a unified diff."""
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    after = render_toml(geometry, base).splitlines()
    name = f"{path.parent.name}/{path.name}"
    return list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))
