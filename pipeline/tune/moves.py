"""Proposals: small named changes of the geometry, each with its reason from model or trace.

A move is a guess that costs nothing to state. Whether it pays is measured (search.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pipeline.geometry.model import Geometry, Route, SizeClass
from pipeline.geometry.rules import SMALL_MAX, check, usual_class, usual_pages
from pipeline.tune import tables
from pipeline.tune.evidence import Evidence
from pipeline.tune.models import waste

Change = Callable[[Geometry], Geometry]

TOPICS = ("pages", "table", "depth", "route", "constant")
"""The order in which moves are applied: a table is made before single classes are changed."""

NEW_TABLES = (32, 48, 64)
"""Numbers of classes to try, beside the default's and the best by the price of a class."""


@dataclass(frozen=True)
class Move:
    """A change with its reason. Of several moves with one ``topic`` at most one is taken."""

    name: str
    topic: str
    reason: str
    change: Change


def apply(geometry: Geometry, moves: Sequence[Move]) -> Geometry:
    """Return the geometry with all ``moves``, in the order in which they fit together."""
    for move in sorted(moves, key=lambda move: TOPICS.index(move.topic.split(":")[0])):
        geometry = move.change(geometry)
    return geometry


def proposals(evidence: Evidence, base: Geometry) -> list[Move]:
    """Return the moves that are legal by themselves and change something, most promising first."""
    families = (
        _table_moves(evidence, base),
        _magazine_moves(evidence, base),
        _memory_moves(evidence, base),
        _class_moves(evidence, base),
        _page_moves(evidence, base),
    )
    # One of each family in turn: a short budget ends somewhere in this list.
    moves = [move for rank in zip_longest(*families) for move in rank if move is not None]
    return [move for move in moves if _sensible(move, base)]


def _sensible(move: Move, base: Geometry) -> bool:
    changed = move.change(base)
    return changed.digest != base.digest and not check(changed)


# ---- the table of size classes -------------------------------------------------------------------


def _table_moves(evidence: Evidence, base: Geometry) -> list[Move]:
    found = tables.candidates(evidence.demand, len(base.classes), evidence.unseen_waste)
    by_price = tables.best_by_price(found, evidence.demand)
    wanted = {len(found[0].sizes), len(by_price.sizes), len(base.classes), *NEW_TABLES}
    chosen = [one for one in found if len(one.sizes) in wanted]
    chosen.sort(key=lambda one: one is not by_price)
    before = waste(evidence.demand, tables.slabs(base))
    moves = []
    for partition in chosen:
        after = tables.table_of(partition, base, evidence.demand).waste
        reason = (
            f"the best {len(partition.sizes)} classes for these sizes: at the peak "
            f"{_kib(after.peak + after.ends)} are lost in blocks and last pages instead of "
            f"{_kib(before.peak + before.ends)}, per request {after.per_request:.1f} instead of "
            f"{before.per_request:.1f} bytes (model)"
        )
        moves.append(
            Move(f"table-{len(partition.sizes)}", "table", reason, _table(partition.sizes, reason))
        )
    return moves


def _table(sizes: Sequence[int], why: str) -> Change:
    def change(geometry: Geometry) -> Geometry:
        page = geometry.page_bytes
        return geometry.with_classes((usual_class(size, page) for size in sizes), why=why)

    return change


# ---- constants -----------------------------------------------------------------------------------


def _magazine_moves(evidence: Evidence, base: Geometry) -> list[Move]:
    small, deep = base.value("small_depth"), base.value("deep_bytes")
    moves = []
    for depth in (small * 2, small // 2, small * 4):
        reason = (
            f"magazines that have not grown: {evidence.trips_at(depth):.3f} trips to a slab per "
            f"request with {depth} slots, {evidence.trips_at(small):.3f} with {small} (model)"
        )
        moves.append(_constant(base, "small_depth", depth, reason))
    for room in (deep // 8, deep // 2, deep * 4):
        reason = (
            f"grown magazines of {_kib(room)} instead of {_kib(deep)}: the live blocks of one size "
            f"swing by up to {_kib(evidence.swing)} (trace)"
        )
        moves.append(_constant(base, "deep_bytes", room, reason))
    first = base.value("first_batch")
    for batch in (first // 4, first * 4):
        reason = (
            f"{evidence.used_classes} classes are used, half of them for fewer than "
            f"{evidence.median_requests:.0f} requests: the first refill takes {batch} blocks "
            f"instead of {first} (trace)"
        )
        moves.append(_constant(base, "first_batch", batch, reason))
    if evidence.remote_share > 0.01:
        reason = (
            f"{evidence.remote_share:.0%} of frees are by another thread than the malloc (trace)"
        )
        moves += [_constant(base, "few_share", share, reason) for share in (2, 32)]
    return moves


def _memory_moves(evidence: Evidence, base: Geometry) -> list[Move]:
    moves = []
    delay = base.value("default_purge_delay")
    if evidence.seconds * 1000 > delay / 2:
        reason = (
            f"runs of {evidence.seconds:.1f} s; live memory falls to {evidence.valley:.0%} of its "
            "peak in between (trace)"
        )
        moves += [
            _constant(base, "default_purge_delay", value, reason)
            for value in (delay // 5, delay * 6)
        ]
    if evidence.demand.peak_bytes > 4 << 20:
        reason = f"{_kib(evidence.demand.peak_bytes)} live at the peak: fewer page faults (trace)"
        moves.append(_constant(base, "default_huge_pages", 2, reason))
    keep = base.value("keep_pages")
    reason = (
        f"free pages that wait for reuse: {_kib(keep * base.page_bytes)} at least, where "
        f"{_kib(evidence.demand.peak_bytes)} are live at the peak (trace)"
    )
    moves.append(_constant(base, "keep_pages", keep // 16, reason))
    warm = base.value("warm_slabs")
    reason = f"{evidence.slab_traffic} slabs are made again after they were given back (model)"
    moves += [_constant(base, "warm_slabs", slabs, reason) for slabs in (warm * 4, warm * 16)]
    return moves


def _page_moves(evidence: Evidence, base: Geometry) -> list[Move]:
    shift = base.value("page_shift") + 1
    reason = (
        f"{evidence.slab_traffic} slabs are made; pages of {1 << shift >> 10} KiB halve that, and "
        f"classes below {(1 << shift) >> 12} bytes are served by the next one (model)"
    )

    def change(geometry: Geometry) -> Geometry:
        wider = geometry.with_value("page_shift", shift, why=reason)
        least, page = wider.page_bytes >> 12, wider.page_bytes
        classes = [_recut(one, page) for one in wider.classes if one.size >= least]
        return wider.with_classes(classes, why=geometry.classes_why or reason)

    return [Move(f"page_shift={shift}", "pages", reason, change)]


def _recut(one: SizeClass, page_bytes: int) -> SizeClass:
    return one.model_copy(update={"pages": usual_pages(one.size, page_bytes)})


def _constant(base: Geometry, name: str, value: int, reason: str) -> Move:
    one = base.constant(name)
    value = max(one.lowest, min(one.highest, value))
    return Move(
        f"{name}={value}",
        f"constant:{name}",
        reason,
        lambda geometry: geometry.with_value(name, value, why=reason),
    )


# ---- single classes ------------------------------------------------------------------------------


def _class_moves(evidence: Evidence, base: Geometry) -> list[Move]:
    moves = []
    rare = evidence.rare_above(8192)
    if rare:
        sizes = f"{len(rare)} classes above 8 KiB"
        share = f"serve {evidence.share_of(rare):.2%} of the requests (trace)"
        moves += [
            _routes("rare-large", rare, "LARGE", f"{sizes} {share}: whole pages keep nothing back"),
            _routes("rare-pool", rare, "POOL", f"{sizes} {share}: no magazine keeps blocks back"),
        ]
    for one in evidence.build_up(base):
        reason = (
            f"{one.requests:.0f} requests, of which only {one.reused:.0%} could have a block that "
            "was freed before: a magazine is only passed through (trace)"
        )
        moves.append(_routes(f"hot-{one.size}", (one.size,), "HOT", reason))
    for one in evidence.busiest(base):
        reason = f"{one.share:.0%} of all requests; a list of free blocks needs no slots (trace)"
        moves.append(_routes(f"list-{one.size}", (one.size,), "ULTRA_LIST", reason))
    moves.append(_depths("shallow-medium", 4, "blocks above 2 KiB that magazines keep back"))
    return moves


def _routes(name: str, sizes: Sequence[int], route: Route, reason: str) -> Move:
    lowest, highest = min(sizes), max(sizes)

    def change(geometry: Geometry) -> Geometry:
        return geometry.with_classes(
            (
                one.model_copy(update={"route": route, "why": reason})
                if lowest <= one.size <= highest and (one.size > SMALL_MAX) == (lowest > SMALL_MAX)
                else one
                for one in geometry.classes
            ),
            why=geometry.classes_why,
            worth=geometry.classes_worth,
        )

    return Move(name, "route", reason, change)


def _depths(name: str, divisor: int, reason: str) -> Move:
    def change(geometry: Geometry) -> Geometry:
        return geometry.with_classes(
            (
                one.model_copy(update={"depth": max(2, one.depth // divisor), "why": reason})
                if one.size > SMALL_MAX
                else one
                for one in geometry.classes
            ),
            why=geometry.classes_why,
            worth=geometry.classes_worth,
        )

    return Move(name, "depth", reason, change)


def _kib(number: float) -> str:
    return f"{number / 1024:,.0f} KiB"
