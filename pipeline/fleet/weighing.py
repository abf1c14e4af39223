"""Training and imported samples as one profile for BOLT.

All samples together count as much as the training, and each file by its weight. Samples without
branch stacks tell how the time is shared out between functions, not which way the code goes: that
the training tells. So such a file is the training's edges once more, with those of each function
multiplied so that its share of all edges is its share of the samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.fleet.sources import Source
from pipeline.layout.heat import plain
from pipeline.toolchain.fdata import Edges

_OUTSIDE = "[unknown]"


@dataclass(frozen=True)
class Weighed:
    """How a source came in: ``share`` of the whole profile, by its edges or by its functions.

    ``unknown`` is the share of its samples in functions that the training never ran. Nothing tells
    the way through these, so they are left out.
    """

    source: Source
    share: float
    by_edges: bool
    unknown: float = 0.0


def weigh(
    training: Edges, sources: Sequence[Source], library: str, names: Mapping[str, str]
) -> tuple[Edges, list[Weighed]]:
    """Return the profile of the training and all ``sources``, and how each came in.

    ``library`` is the build-id of what BOLT is about to lay out. ``names`` leads from each name of
    a function of it to the one by which it is known here.
    """
    total, weights = training.taken.total(), sum(one.weight for one in sources)
    merged = Edges(Counter(training.taken), Counter(training.missed))
    rows = []
    for one in sources:
        share = one.weight / weights
        exact = one.kind == "edges" and one.edges_of == library
        if exact:
            own, unknown = Edges(), 0.0
            own.add_lines(one.edges, 1)
            _add(merged, own, dict.fromkeys(own.taken, share * total / own.taken.total()))
        else:
            factors, unknown = _factors(training, one, share * total, names)
            _add(
                merged,
                training,
                {edge: factors.get(_of(edge, names), 0) for edge in training.taken},
            )
        rows.append(Weighed(one, share / 2, exact, unknown))
    return merged, rows


def _factors(
    training: Edges, source: Source, total: float, names: Mapping[str, str]
) -> tuple[dict[str, float], float]:
    """Return by what each function's edges are multiplied, and the share that is unknown."""
    ran: Counter[str] = Counter()
    for edge, count in training.taken.items():
        ran[_of(edge, names)] += count
    samples: Counter[str] = Counter()
    for name, count in source.functions.items():
        samples[names.get(name, name)] += count
    known = {name: count for name, count in samples.items() if ran[name]}
    inside = sum(known.values()) or 1
    factors = {name: total * count / inside / ran[name] for name, count in known.items()}
    return factors, 1 - sum(known.values()) / (samples.total() or 1)


def _of(edge: str, names: Mapping[str, str]) -> str:
    """Return the function that an edge counts for: where it leads to, or it comes from outside.

    So all that enters a function, and all inside it, is multiplied by the same.
    """
    fields = edge.split()
    name = plain(fields[1] if fields[4] == _OUTSIDE else fields[4])
    return names.get(name, name)


def _add(merged: Edges, edges: Edges, factors: Mapping[str, float]) -> None:
    for edge, count in edges.taken.items():
        merged.taken[edge] += round(count * factors[edge])
        merged.missed[edge] += round(edges.missed[edge] * factors[edge])
