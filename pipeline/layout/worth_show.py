"""The worth of proposed changes in words, as comments before a patch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.core.variant import asked_for
from pipeline.layout.worth import Counts, Tried, Worth, change

ALONE = "worth it alone, but not together with what saves more"
HOLDS = (
    "Simulations repeat exactly, so a difference is one, but for these programs alone: they are of "
    "the training. `.venv/bin/pipeline build --profile {}` judges a new library by others."
)


def lines(worth: Worth, library: str, cache: str, line: str) -> Iterator[str]:
    """Yield what was counted, what is proposed with its worth, and what is not, and why.

    ``line`` is the line of versions that the library belongs to.
    """
    before = worth.before
    yield (
        f"counted in whole {_names(before)}, simulated ({cache}): misses of {library} "
        f"as it is {before.misses:,.0f}, hot lines {before.lines:.1f} (means)"
    )
    yield from _section("worth it, most first:", worth.kept, worth)
    if worth.after is not None and len(worth.kept) > 1:
        yield f"all of these at once: {_counts(before, worth.after)}"
    yield from _section("tried, not proposed:", worth.left, worth)
    yield HOLDS.format(asked_for(line))


def _section(title: str, tried: Sequence[Tried], worth: Worth) -> Iterator[str]:
    if tried:
        yield title
    for one in tried:
        yield from (f"  {move}" for move in one.group.moves)
        several = len(one.group.names)
        yield f"    {f'all {several} together: ' if several > 1 else ''}{_outcome(one, worth)}"


def _outcome(one: Tried, worth: Worth) -> str:
    if one.counts is None:
        return f"not counted: {one.problem}"
    counted = _counts(worth.before, one.counts)
    return counted if one in worth.kept else f"{counted}: {_why_not(one, worth.before)}"


def _why_not(one: Tried, before: Counts) -> str:
    if one.counts is None or one.pays(before):
        return ALONE
    return "as many misses" if one.counts.misses == before.misses else "more misses"


def _counts(before: Counts, after: Counts) -> str:
    each = ", ".join(
        f"{name} {change(count, after.programs[name])}" for name, count in before.programs.items()
    )
    return (
        f"{before.misses:,.1f} -> {after.misses:,.1f} misses, "
        f"{change(before.misses, after.misses)} ({each}); "
        f"hot lines {before.lines:.1f} -> {after.lines:.1f}"
    )


def _names(counts: Counts) -> str:
    *first, last = counts.programs
    return f"{', '.join(first)} and {last}" if first else last
