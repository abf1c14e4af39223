"""What a search of layouts found, in words: a table as comments before a patch, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.variant import asked_for
from pipeline.evidence.choice import FEW_MISSES
from pipeline.layout.candidates import ORDER, Candidate
from pipeline.layout.search import Cost, Exchange, Found, Tried
from pipeline.layout.worth import change
from pipeline.toolchain.text_model import LINE

ALIKE = f"{FEW_MISSES:.0%}".replace("%", " %")
JUDGED = (
    "It was chosen by programs of the training: `.venv/bin/pipeline build --profile {}` makes "
    "the next library, and its verify judges by others"
)


def table(found: Found) -> Iterator[str]:
    """Yield all that was tried, fewest misses first; then what has no count, and why."""
    counted = [one for one in found.tried if one.cost]
    rows = [("as it is", found.before), *((_name(one.candidate), one.cost) for one in counted)]
    if found.together and found.together.cost:
        rows.append((f"together: {found.together.candidate.name}", found.together.cost))
    known = [(name, cost) for name, cost in rows if cost]
    wide = max(len(name) for name, _ in known)
    yield f"  {'layout':<{wide}}  {'misses':>9}  {'ratio':>6}  text touched"
    for name, cost in sorted(known, key=lambda row: row[1].misses):
        yield f"  {name:<{wide}}  {_figures(cost, found.before)}"
    for one in (*found.tried, *([found.together] if found.together else ())):
        if one.cost is None:
            yield f"  {_name(one.candidate)}: not counted: {one.problem}"
    if found.untried:
        yield f"  no time for: {', '.join(_name(one) for one in found.untried)}"


def exchanges(found: Found) -> Iterator[str]:
    """Yield how many exchanges of neighbours were counted, and each that is kept."""
    said = f"exchanges of neighbours in hot.txt counted: {found.exchanged}"
    start = found.start.candidate.name if found.start else "the list as it is"
    yield f"{said}, from {start}, and {len(found.exchanges) or 'none'} kept{_end(found)}"
    cost = found.start.cost if found.start and found.start.cost else found.before
    for one in found.exchanges:
        yield f"  {_exchange(one, cost)}"
        cost = one.cost


def outcome(found: Found, line: str, where: str) -> Iterator[str]:
    """Yield in a sentence each what was found, how to take it, and who judges it.

    ``line`` is the line of versions, ``where`` is the list that is meant.
    """
    cost = found.order[1]
    flags = _best_flags(found)
    if found.better(cost):
        saved = change(found.before.misses, cost.misses)
        yield f"found: {where} in another order changes the misses by {saved}: the diff below"
    if flags and flags.cost:
        saved = change(found.before.misses, flags.cost.misses)
        yield f"found: {flags.candidate.words} changes the misses by {saved}: {_take(flags)}"
    if not found.better(cost) and not flags:
        yield f"found: nothing saves more than {ALIKE} of the misses as they are{_nearest(found)}"
        return
    yield JUDGED.format(asked_for(line))


def _best_flags(found: Found) -> Tried | None:
    best = _fewest(found, {one.candidate.kind for one in found.tried} - {ORDER})
    return best if best and found.better(best.cost) else None


def _fewest(found: Found, kinds: set[str]) -> Tried | None:
    """Return the best candidate of these kinds, or all together where that has fewer misses."""
    best, both = found.best(kinds), found.together
    if both and both.cost and best and best.cost and both.cost < best.cost:
        return both
    return best


def _take(tried: Tried) -> str:
    if tried.candidate.kind == "alignment":
        return "a proposal for `align_functions` of the geometry or pipeline/toolchain/flags.py"
    return "a proposal for pipeline/toolchain/flags.py"


def _nearest(found: Found) -> str:
    """Return what comes nearest to being better; "" where nothing has fewer misses at all."""
    best = _fewest(found, {one.candidate.kind for one in found.tried})
    if best is None or best.cost is None:
        return ", and nothing has fewer misses"
    saved = change(found.before.misses, best.cost.misses)
    return f"; nearest is {_name(best.candidate)} with {saved}"


def _name(candidate: Candidate) -> str:
    return f"{candidate.kind} {candidate.name}"


def _figures(cost: Cost, before: Cost) -> str:
    ratio = cost.misses / before.misses if before.misses else 1.0
    text = f"{cost.lines * LINE / 1024:.1f} KiB in {cost.pages:.1f} pages"
    return f"{cost.misses:>9,.1f}  {ratio:>6.4f}  {text}"


def _exchange(one: Exchange, before: Cost) -> str:
    fewer = one.cost.misses < before.misses
    saved = f"{change(before.misses, one.cost.misses) if fewer else 'as many'} misses"
    pages = f"pages {before.pages:.2f} -> {one.cost.pages:.2f}"
    return f"{one.first} and {one.second} change places: {saved}, {pages}"


def _end(found: Found) -> str:
    return f"; {found.ended}" if found.ended else ""
