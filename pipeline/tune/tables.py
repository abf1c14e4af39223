"""Tables of size classes for a demand: the best ones by the exact partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.geometry.model import Geometry, SizeClass
from pipeline.geometry.rules import usual_class
from pipeline.tune.demand import MEDIUM_MAX, STEPS, Demand, Floats
from pipeline.tune.models import SYSTEM_PAGE, Slab, Waste, waste
from pipeline.tune.partition import Partition, best_tables, forbid, waste_costs

ALWAYS = tuple(1 << exponent for exponent in range(4, MEDIUM_MAX.bit_length()))
"""Powers of two stay classes: aligned requests find blocks that are aligned to them."""

WASTE_FROM = 64
"""Up to here a class more or less wastes little: tables are free."""

PRICE = SYSTEM_PAGE / 2
"""What a class costs at the peak beside the waste in its blocks: its last page is half empty."""


@dataclass(frozen=True)
class Table:
    """A table of classes for a geometry, and what it wastes of the demand."""

    classes: tuple[SizeClass, ...]
    waste: Waste


def slabs(geometry: Geometry) -> list[Slab]:
    """Return how the classes of a geometry are cut."""
    return [Slab(one.size, one.pages * geometry.page_bytes) for one in geometry.classes]


def candidates(demand: Demand, limit: int, unseen_waste: float) -> list[Partition]:
    """Return the best tables of each size up to ``limit`` classes, for memory at the peak.

    In none of them may a size above WASTE_FROM leave more than ``unseen_waste`` of its block.
    Where the peak cannot tell two tables apart, the waste per request does: each request weighs
    a thousandth of what it would weigh if it were alive.
    """
    share = 0.001 * demand.live.sum() / max(demand.requests, 1.0)
    weight: Floats = demand.live + share * demand.count
    asked: Floats = demand.live_asked + share * demand.asked
    cost = forbid(waste_costs(STEPS, weight, asked), STEPS, ALWAYS, unseen_waste, WASTE_FROM)
    return best_tables(STEPS, cost, limit)


def best_by_price(tables: Sequence[Partition], demand: Demand) -> Partition:
    """Return the table whose waste and whose used classes together cost least at the peak."""
    return min(tables, key=lambda table: _total(table, demand))


def _total(table: Partition, demand: Demand) -> float:
    found = waste(demand, [Slab(size, max(size, 65536)) for size in table.sizes])
    return found.peak + found.ends


def table_of(partition: Partition, geometry: Geometry, demand: Demand) -> Table:
    """Return the classes of a partition, cut by the default rules for the geometry's pages."""
    classes = tuple(usual_class(size, geometry.page_bytes) for size in partition.sizes)
    return Table(classes, waste(demand, slabs(geometry.with_classes(classes))))
