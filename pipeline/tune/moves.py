"""Proposals: the moves that model and trace suggest, kind by kind, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from pipeline.core.processor import Processor, machine
from pipeline.geometry.model import Geometry
from pipeline.geometry.rules import SMALL_MAX, check
from pipeline.tune import tables
from pipeline.tune.evidence import Evidence
from pipeline.tune.models import waste
from pipeline.tune.move import Move, code, constant, depths, pages, slabs, table

NEW_TABLES = (32, 48, 64)
"""Numbers of classes to try, beside the default's and the best by the price of a class."""


def proposals(evidence: Evidence, base: Geometry, processor: Processor | None = None) -> list[Move]:
    """Return the moves that are legal by themselves and change something, most promising first.

    One of each kind in turn: a short budget ends somewhere in this list, and each kind has been
    tried then. Code that ``processor``, this machine's if None, cannot run is not proposed.
    """
    here = processor or machine()
    kinds = [_sensible(kind, family(evidence, base), base) for kind, family in FAMILIES.items()]
    kinds.append(_sensible(INSTRUCTIONS, _instructions(evidence, base, here), base))
    return [move for rank in zip_longest(*kinds) for move in rank if move is not None]


def _sensible(kind: str, moves: Iterable[Move], base: Geometry) -> list[Move]:
    def sensible(move: Move) -> bool:
        changed = move.change(base)
        return changed.digest != base.digest and not check(changed)

    return [replace(move, kind=kind) for move in moves if sensible(move)]


def _size_classes(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    found = tables.candidates(evidence.demand, len(base.classes), evidence.unseen_waste)
    by_price = tables.best_by_price(found, evidence.demand)
    wanted = {len(found[0].sizes), len(by_price.sizes), len(base.classes), *NEW_TABLES}
    chosen = [one for one in found if len(one.sizes) in wanted]
    chosen.sort(key=lambda one: one is not by_price)
    before = waste(evidence.demand, tables.slabs(base))
    for partition in chosen:
        after = tables.table_of(partition, base, evidence.demand).waste
        reason = (
            f"the best {len(partition.sizes)} classes for these sizes: at the peak "
            f"{_kib(after.peak + after.ends)} are lost in blocks and last pages instead of "
            f"{_kib(before.peak + before.ends)}, per request {after.per_request:.1f} instead of "
            f"{before.per_request:.1f} bytes (model)"
        )
        yield table(partition.sizes, reason)


def _magazine_depth(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    usual, room, times = (base.value(n) for n in ("small_depth", "deep_bytes", "deep_times"))
    yield _small(evidence, base, usual * 2)
    yield _deep(evidence, base, "deep_bytes", room // 8)
    yield _deep(evidence, base, "deep_times", times // 4)
    yield depths(
        "shallow-medium",
        lambda one: one.size > SMALL_MAX,
        1 / 4,
        "a quarter of the blocks above 2 KiB that magazines keep back",
    )
    yield _small(evidence, base, usual // 2)
    yield _deep(evidence, base, "deep_bytes", room * 4)
    if evidence.remote_share > 0.01:
        reason = (
            f"{evidence.remote_share:.0%} of frees are by another thread than the malloc (trace)"
        )
        yield from (constant(base, "few_share", share, reason) for share in (2, 32))
    yield _small(evidence, base, usual * 4)
    yield _deep(evidence, base, "deep_times", times * 4)


def _small(evidence: Evidence, base: Geometry, depth: int) -> Move:
    usual = base.value("small_depth")
    reason = (
        f"magazines that have not grown: {evidence.trips_at(depth):.3f} trips to a slab per "
        f"request with {depth} slots, {evidence.trips_at(usual):.3f} with {usual} (model)"
    )
    return constant(base, "small_depth", depth, reason)


def _deep(evidence: Evidence, base: Geometry, name: str, value: int) -> Move:
    reason = (
        f"grown magazines: {name} {value} instead of {base.value(name)}; the live blocks of "
        f"one size swing by up to {_kib(evidence.swing)} (trace)"
    )
    return constant(base, name, value, reason)


def _refill_batch(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    def move(name: str, value: int, what: str) -> Move:
        reason = (
            f"{evidence.used_classes} classes are used, half of them for fewer than "
            f"{evidence.median_requests:.0f} requests: {what} instead of {base.value(name)} (trace)"
        )
        return constant(base, name, value, reason)

    first, share = base.value("first_batch"), base.value("batch_share")
    yield move("first_batch", first * 4, f"the first refill takes {first * 4} blocks")
    yield move("batch_share", share // 4, f"refills take up to 1/{share // 4} of a magazine")
    yield move("first_batch", first // 4, f"the first refill takes {first // 4} blocks")
    yield move("batch_share", share * 4, f"refills take up to 1/{share * 4} of a magazine")
    coarse = 0 if base.value("coarse_blocks") else 4
    yield move("coarse_blocks", coarse, f"{coarse} blocks come from a coarser class first")


def _kept(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    warm, keep = base.value("warm_slabs"), base.value("keep_pages")
    again = f"{evidence.slab_traffic} slabs are made again after they were given back (model)"
    yield constant(base, "warm_slabs", warm * 4, again)
    reason = (
        f"free pages that wait for reuse: {_kib(keep * base.page_bytes)} at least, where "
        f"{_kib(evidence.demand.peak_bytes)} are live at the peak (trace)"
    )
    yield constant(base, "keep_pages", keep // 16, reason)
    yield constant(base, "warm_slabs", warm * 16, again)
    yield constant(base, "keep_pages", max(keep, 16) * 16, reason)
    yield constant(base, "warm_slabs", warm // 4, again)


def _purge_delay(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    delay, run_ms = base.value("default_purge_delay"), evidence.seconds * 1000
    reason = (
        f"runs of {run_ms:.0f} ms; live memory falls to {evidence.valley:.0%} of its peak in "
        f"between (trace), and what is free waits {delay} ms"
    )
    # A delay that no run outlives is as good as none: for short ones a share of the run.
    shorter = delay // 5 if run_ms > delay / 2 else max(1, round(run_ms / 10))
    yield constant(base, "default_purge_delay", shorter, reason)
    yield constant(base, "default_purge_lazily", 1, reason)
    if run_ms > delay / 2:
        yield constant(base, "default_purge_delay", max(delay, 50) * 6, reason)


def _huge_pages(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    peak = evidence.demand.peak_bytes
    live = f"{_kib(peak)} live at the peak (trace)"
    yield constant(base, "default_huge_pages", 2, f"{live}: huge pages mean fewer page faults")
    if peak > 16 << 20:
        yield constant(base, "default_huge_pages", 1, f"{live}: small pages are never half empty")
    yield constant(base, "default_huge_pages", 3, f"{live}: huge pages where memory is dense")


def _prefetch(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    for lines in (1, 2, 0):
        reason = (
            f"{_kib(evidence.demand.peak_bytes)} live at the peak (trace): what has left the cache "
            f"when it is used again is fetched ahead, {lines} x 64 bytes of the next block"
        )
        yield constant(base, "prefetch_lines", lines, reason)


def _pages(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    busy = evidence.slab_makers()
    if busy:
        reason = (
            f"{sum(busy.values())} of {evidence.slab_traffic} slabs are made for {len(busy)} "
            "classes: four times the pages in each (model)"
        )
        yield slabs("wide-slabs", lambda one: one.size in busy, 4, reason)
    shift = base.value("page_shift") + 1
    reason = (
        f"{evidence.slab_traffic} slabs are made; pages of {1 << shift >> 10} KiB halve that, and "
        f"classes below {(1 << shift) >> 12} bytes are served by the next one (model)"
    )
    yield pages(shift, reason)
    several = [one.size for one in base.classes if one.pages > 1]
    reason = f"{len(several)} classes have slabs of several pages: half as many in each"
    yield slabs("narrow-slabs", lambda one: one.pages > 1, 1 / 2, reason)


def _lane(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    hand = base.value("hand")
    where = "in its slot" if hand else "in hand, in one word with the count"
    reason = (
        f"{evidence.demand.requests:,.0f} requests: malloc's next block is kept {where}; which is "
        "faster depends on the processor more than on the program"
    )
    yield constant(base, "hand", 1 - hand, reason)


def _instructions(evidence: Evidence, base: Geometry, here: Processor) -> Iterator[Move]:
    for level in reversed(here.architecture.levels):
        if not here.missing(level):
            reason = (
                f"{evidence.demand.requests:,.0f} requests (trace): instructions of {level}, which "
                f"{here.name} has"
            )
            yield code(base, "march", level, reason)


def _alignment(evidence: Evidence, base: Geometry) -> Iterator[Move]:
    before = base.setting("align_functions").value
    for align in ("32", "128", "16", "64"):
        reason = (
            f"{evidence.demand.requests:,.0f} requests (trace): functions start at multiples of "
            f"{align} bytes instead of {before}"
        )
        yield code(base, "align_functions", align, reason)


def _kib(number: float) -> str:
    return f"{number / 1024:,.0f} KiB"


Family = Callable[[Evidence, Geometry], Iterator[Move]]
FAMILIES: dict[str, Family] = {
    "lane": _lane,
    "size classes": _size_classes,
    "magazine depth": _magazine_depth,
    "partial and warm pages": _kept,
    "refill batch": _refill_batch,
    "prefetch": _prefetch,
    "pages of a class": _pages,
    "purge delay": _purge_delay,
    "huge pages": _huge_pages,
    "code alignment": _alignment,
}
INSTRUCTIONS = "instruction set"
KINDS = (*FAMILIES, INSTRUCTIONS)
"""What tuning is about: at least one move of each is proposed for every program."""
