"""The rules: what figures of production suggest, as moves of the geometry with their reasons.

A rule is a guess, as the moves of `pipeline tune` are: the judge says whether it pays. So there is
one threshold for all of them, low enough that little is missed: a tenth. What is counted must also
have happened so often that a judge could see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline.geometry.model import Geometry
from pipeline.geometry.rules import check
from pipeline.learn.figures import Figures
from pipeline.tune.move import Move, constant, depths, slabs

NOTABLE = 0.1
"""A share of less than a tenth is left alone."""

SEEN_FROM = 1000
"""Fewer events than these, in all samples, are left alone, whatever their share.

A page fault or a retired run costs some microseconds. A thousand of them take milliseconds of the
minute that `pipeline learn --pid` looks, and no judge sees a ten-thousandth.
"""

DENSE_FROM = 18 << 20
"""Bytes from which the library itself looks at huge pages (option HAKMEM_HUGE_PAGES)."""

STEERED = ("purge_delay", "huge_pages")
"""Options whose defaults the rules propose."""


@dataclass(frozen=True)
class Proposal:
    """A move, and the option that tries the same in a running program, where there is one."""

    move: Move
    option: str = ""


def proposals(figures: Figures, base: Geometry) -> list[Proposal]:
    """Return what the ``figures`` suggest, as far as it is legal and changes ``base``."""
    found = [one for rule in RULES for one in rule(figures, base)]
    return [one for one in found if _sensible(one.move, base)]


def _sensible(move: Move, base: Geometry) -> bool:
    changed = move.change(base)
    return changed.digest != base.digest and not check(changed)


def overridden(figures: Figures, base: Geometry) -> dict[str, str]:
    """Return options that were not at the default of ``base``, each with what was in force.

    What such a program did says nothing about the default, so none of these is proposed.
    """
    used = {name: figures.options.get(name, frozenset()) for name in STEERED}
    others = {n: sorted(used[n] - {str(base.value(f"default_{n}"))}) for n in STEERED}
    return {name: ", ".join(values) for name, values in others.items() if values}


def _option(
    figures: Figures, base: Geometry, name: str, value: int, reason: str
) -> Iterator[Proposal]:
    """Propose another default of the option ``name``, such as purge_delay."""
    if name in overridden(figures, base):
        return
    move = constant(base, f"default_{name}", value, reason)
    legal = move.name.rpartition("=")[2]
    yield Proposal(move, f"HAKMEM_{name.upper()}={legal}")


def _purge_sooner(figures: Figures, base: Geometry) -> Iterator[Proposal]:
    part = figures.part("dirty_bytes", "process_resident_bytes")
    if part >= NOTABLE:
        delay = base.value("default_purge_delay")
        reason = f"{part:.0%} of resident memory are free pages that wait {delay} ms for the purge"
        yield from _option(figures, base, "purge_delay", delay // 5, reason)


def _purge_later(figures: Figures, base: Geometry) -> Iterator[Proposal]:
    faults = figures.counters.get("minor_page_faults_total", 0)
    if figures.purge_faults >= NOTABLE and figures.purge_faults * faults >= SEEN_FROM:
        purged = figures.counters["purged_pages"]
        reason = (
            f"{purged:,} pages were purged while there were {faults:,} page faults: up "
            f"to {figures.purge_faults:.0%} of these may be for memory that was purged too soon"
        )
        delay = base.value("default_purge_delay")
        yield from _option(figures, base, "purge_delay", max(delay, 50) * 6, reason)


def _retire_less(figures: Figures, base: Geometry) -> Iterator[Proposal]:
    retired = figures.grown("runs_given", "runs_taken")
    given = figures.counters.get("runs_given", 0)
    if retired >= NOTABLE and given >= SEEN_FROM:
        taken = figures.counters["runs_taken"]
        warm = base.value("warm_slabs")
        reason = (
            f"{given:,} runs of pages were retired while {taken:,} were taken: more empty slabs "
            f"than {warm} of a class may be worth keeping"
        )
        yield Proposal(constant(base, "warm_slabs", warm * 4, reason))


def _smaller_magazines(figures: Figures, base: Geometry) -> Iterator[Proposal]:
    part = figures.part("magazine_bytes", "process_resident_bytes")
    if part >= NOTABLE:
        reason = f"{part:.0%} of resident memory are free blocks in the magazines of threads"
        yield Proposal(constant(base, "deep_bytes", base.value("deep_bytes") // 8, reason))
        yield Proposal(depths("shallow-magazines", lambda one: one.depth > 2, 1 / 4, reason))


def _smaller_slabs(figures: Figures, base: Geometry) -> Iterator[Proposal]:
    all_slabs = figures.gauges.get("slab_bytes", 0.0)
    pages = {one.size: one.pages for one in base.classes}
    empty = [
        room
        for room in figures.rooms
        if room.free_share >= 0.5 and pages.get(room.size, 1) > 1 and room.free > 0
    ]
    free = sum(room.free for room in empty)
    if all_slabs and free / all_slabs >= NOTABLE:
        sizes = {room.size for room in empty}
        reason = (
            f"the slabs of {len(empty)} classes are more than half free and hold "
            f"{free / all_slabs:.0%} of all slab memory so: half the pages in each"
        )
        yield Proposal(slabs("narrow-slabs", lambda one: one.size in sizes, 1 / 2, reason))


def _huge_pages(figures: Figures, base: Geometry) -> Iterator[Proposal]:
    """Propose huge pages where memory is full and large, and none where it is half empty."""
    committed, empty = figures.gauges.get("committed_bytes", 0.0), figures.free_in_slabs
    if committed < DENSE_FROM:
        return
    advised = figures.part("huge_page_advised_bytes", "committed_bytes")
    reason = f"{empty:.0%} of the slabs are free, and {advised:.0%} of memory may have huge pages"
    if empty < NOTABLE and advised < 1 - NOTABLE:
        yield from _option(figures, base, "huge_pages", 2, reason)
    if empty >= 0.5 and advised >= NOTABLE:
        yield from _option(figures, base, "huge_pages", 1, reason)


RULES: tuple[Callable[[Figures, Geometry], Iterator[Proposal]], ...] = (
    _purge_sooner,
    _purge_later,
    _retire_less,
    _smaller_magazines,
    _smaller_slabs,
    _huge_pages,
)
