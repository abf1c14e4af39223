"""What the traces of a profile's training say, in the few figures that proposals go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.geometry.model import Geometry
from pipeline.trace.read import Trace
from pipeline.trace.statistics import statistics
from pipeline.tune import demand as demands
from pipeline.tune.demand import STEPS, Demand, Flow
from pipeline.tune.models import class_of_steps, slab_traffic, trips_of, walks
from pipeline.tune.tables import slabs


@dataclass(frozen=True)
class ClassUse:
    """How often a class of the default table is asked."""

    size: int
    requests: float


@dataclass(frozen=True)
class Evidence:
    """The figures. ``swing`` is in bytes; ``valley`` the lowest live share after the peak.

    ``slabs_made`` counts, for each class of the default table, the slabs that were made.
    ``unseen_waste`` is not from the traces: it is what the profile allows tables to waste.
    """

    demand: Demand
    flows: tuple[Flow, ...]
    uses: tuple[ClassUse, ...]
    base: Geometry
    seconds: float
    valley: float
    remote_share: float
    slabs_made: tuple[int, ...]
    swing: float
    unseen_waste: float

    @property
    def used_classes(self) -> int:
        """Return how many classes of the default table serve requests."""
        return sum(one.requests > 0 for one in self.uses)

    @property
    def median_requests(self) -> float:
        """Return the requests of the middle one of the classes that are used."""
        used = [one.requests for one in self.uses if one.requests > 0]
        return float(np.median(used)) if used else 0.0

    @property
    def slab_traffic(self) -> int:
        """Return the slabs that are made, over all classes."""
        return sum(self.slabs_made)

    def slab_makers(self) -> dict[int, int]:
        """Return the classes that most slabs are made for, three quarters of all, and how many."""
        ranked = sorted(
            ((made, one.size) for made, one in zip(self.slabs_made, self.uses, strict=True)),
            reverse=True,
        )
        found: dict[int, int] = {}
        for made, size in ranked:
            if made == 0 or sum(found.values()) >= 0.75 * self.slab_traffic:
                break
            found[size] = made
        return found

    def trips_at(self, depth: int) -> float:
        """Return trips between magazines of ``depth`` slots and slabs, per request."""
        sizes = [one.size for one in self.base.classes]
        depths = [depth] * len(sizes)
        made = sum(int(trips_of(walks(flow, sizes), depths).sum()) for flow in self.flows)
        requests = sum(int((flow.change > 0).sum()) for flow in self.flows)
        return made / max(requests, 1)


def gather(traces: Sequence[tuple[Trace, float]], base: Geometry, unseen_waste: float) -> Evidence:
    """Return the evidence of traces with their weights. Raises ValueError without any."""
    flows = tuple(demands.flow(trace) for trace, _ in traces)
    weights = [weight for _, weight in traces]
    parts = [demands.demand_of(flow) for flow in flows]
    merged = demands.merge(list(zip(parts, weights, strict=True)))
    told = [statistics(trace) for trace, _ in traces]
    cut = slabs(base)
    return Evidence(
        demand=merged,
        flows=flows,
        uses=_uses(merged, base),
        base=base,
        seconds=max(trace.process.run_ns for trace, _ in traces) / 1e9,
        valley=min(_valley([point.bytes for point in one.timeline]) for one in told),
        remote_share=float(np.average([one.remote_share for one in told], weights=weights)),
        slabs_made=tuple(np.sum([slab_traffic(flow, cut) for flow in flows], axis=0).tolist()),
        swing=float((merged.most * STEPS).max()),
        unseen_waste=unseen_waste,
    )


def _uses(demand: Demand, base: Geometry) -> tuple[ClassUse, ...]:
    sizes = [one.size for one in base.classes]
    count = np.bincount(class_of_steps(sizes), demand.count, minlength=len(sizes))
    return tuple(ClassUse(size, float(n)) for size, n in zip(sizes, count, strict=True))


def _valley(live: Sequence[int]) -> float:
    """Return the lowest live bytes after the peak, as a share of it."""
    peak = int(np.argmax(live)) if len(live) else 0
    return min(live[peak:]) / max(live[peak], 1) if len(live) else 1.0
