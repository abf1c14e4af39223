"""The exact models: held against definitions that are slow and plain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pipeline.trace.read import ROW, Kind, Resolved, Trace
from pipeline.tune import demand as demands
from pipeline.tune.demand import STEPS, Demand, Flow, demand, flow, merge, step_of
from pipeline.tune.models import Slab, slab_traffic, trips, trips_of, walks, waste
from pipeline.tune.partition import best_tables, forbid, waste_costs

RANDOM = np.random.default_rng(7)


def trace_of(*rows: tuple[Kind, int, int, int, int]) -> Trace:
    """Return a trace of rows (kind, object, size before, size after, thread)."""
    array = np.zeros(len(rows), dtype=ROW)
    for place, (kind, owner, before, after, thread) in enumerate(rows):
        array[place] = (after, before, owner, thread, 0, kind, 0, 0)
    process = Resolved(
        command="", damage="", flags=0, sample=1, pid=1, parent=0, started_ns=0, sealed_events=0,
        about_events=0, sealed_bytes=0, lost=0, left_out=0, recorder_ns=0, run_ns=0, cpu_ns=0,
        threads=1, closed=True, events=len(rows), objects=9, foreign=0, unseen=0, times=(),
    )  # fmt: skip
    return Trace(process, array)


def brute_force(costs: np.ndarray, classes: int) -> float:
    """Return the least cost of any table of ``classes`` classes: all of them are tried."""
    last = len(costs) - 1
    best = np.inf
    for cut in itertools.combinations(range(last), classes - 1):
        ends = [*cut, last]
        starts = [0, *(end + 1 for end in cut)]
        best = min(best, sum(costs[a, b] for a, b in zip(starts, ends, strict=True)))
    return float(best)


@pytest.mark.parametrize("round_", range(20))
def test_best_tables_are_those_of_brute_force(round_: int) -> None:
    random = np.random.default_rng(round_)
    steps = STEPS[: random.integers(3, 10)]
    weight = random.integers(0, 50, len(steps)).astype(float)
    asked = weight * steps - random.integers(0, 15, len(steps)).astype(float) * (weight > 0)
    costs = waste_costs(steps, weight, asked)
    found = best_tables(steps, costs, len(steps))
    assert [len(one.sizes) for one in found] == list(range(1, len(steps) + 1))
    for one in found:
        assert one.cost == pytest.approx(brute_force(costs, len(one.sizes)))
        assert one.cost == pytest.approx(cost_by_hand(one.sizes, steps, weight, asked))


def cost_by_hand(sizes: tuple[int, ...], steps, weight, asked) -> float:  # type: ignore[no-untyped-def]
    total = 0.0
    for step, blocks, bytes_ in zip(steps, weight, asked, strict=True):
        total += blocks * min(size for size in sizes if size >= step) - bytes_
    return total


@pytest.mark.parametrize("round_", range(10))
def test_tables_with_rules_are_those_of_brute_force(round_: int) -> None:
    random = np.random.default_rng(100 + round_)
    steps = STEPS[:12]
    weight = random.integers(0, 9, 12).astype(float)
    costs = forbid(waste_costs(steps, weight, weight * steps), steps, (64, 128), 0.34, 48)
    found = {len(one.sizes): one for one in best_tables(steps, costs, 12)}
    for classes in range(1, 13):
        least = brute_force(costs, classes)
        assert (classes in found) == np.isfinite(least)
        if classes in found:
            assert found[classes].cost == pytest.approx(least)
            assert {64, 128} <= set(found[classes].sizes)


def test_rules_hold_in_the_whole_table() -> None:
    weight = np.zeros(len(STEPS))
    weight[5] = 1e9
    costs = forbid(waste_costs(STEPS, weight, weight * STEPS), STEPS, (2048, 65536), 0.25, 128)
    sizes = best_tables(STEPS, costs, 80)[0].sizes
    assert sizes[-1] == 65536
    assert 2048 in sizes
    for smaller, larger in itertools.pairwise(sizes):
        assert larger <= 128 or smaller >= 0.75 * larger or larger - smaller == 16


def test_steps_are_what_the_allocators_tables_can_tell_apart() -> None:
    sizes = np.array([0, 1, 16, 17, 2048, 2049, 2304, 65536, 65537])
    steps = step_of(sizes)
    assert STEPS[steps[:-1]].tolist() == [16, 16, 16, 32, 2048, 2304, 2304, 65536]
    assert steps[-1] == len(STEPS)


def test_demand_counts_births_the_peak_and_the_most_of_each_size() -> None:
    found = demand(
        trace_of(
            (Kind.MALLOC, 0, 0, 100, 0),
            (Kind.MALLOC, 1, 0, 40, 0),
            (Kind.FREE, 0, 100, 0, 0),
            (Kind.CALLOC, 2, 0, 40, 0),
            (Kind.REALLOC, 2, 40, 600, 0),
            (Kind.FREE, 1, 40, 0, 0),
            (Kind.MALLOC, 3, 0, 1 << 20, 0),
        )
    )
    at = {int(STEPS[i]): i for i in range(len(STEPS))}
    assert found.count[at[48]] == 2
    assert found.asked[at[48]] == 80
    assert found.most[at[48]] == 2
    assert found.live[at[608]] == 1
    assert found.live[at[48]] == 1
    assert found.live[at[112]] == 0
    assert found.peak_bytes == 640
    assert found.requests == 4


def test_aligned_requests_count_as_what_they_are_rounded_up_to() -> None:
    trace = trace_of((Kind.ALIGNED, 0, 0, 100, 0))
    trace.rows["align"] = 8
    assert STEPS[flow(trace).step].tolist() == [256]


def random_flow(events: int) -> Flow:
    """Return a flow of three sizes on two threads that never frees what does not live."""
    live = [0, 0, 0]
    rows = []
    for _ in range(events):
        which = int(RANDOM.integers(3))
        change = -1 if live[which] and RANDOM.random() < 0.48 else 1
        live[which] += change
        rows.append((which * 3, change, int(RANDOM.integers(2))))
    step, change_, thread = (np.array(column) for column in zip(*rows, strict=True))
    return Flow(step, change_, thread, STEPS[step] - 3)


def test_the_most_alive_is_that_of_a_plain_loop() -> None:
    events = random_flow(3000)
    most, live = np.zeros(len(STEPS)), np.zeros(len(STEPS))
    for step, change in zip(events.step, events.change, strict=True):
        live[step] += change
        most[step] = max(most[step], live[step])
    assert demands.demand_of(events).most.tolist() == most.tolist()


def test_waste_is_what_blocks_have_beyond_what_was_asked_for() -> None:
    events = random_flow(2000)
    found = demands.demand_of(events)
    sizes = [64, 128, 65536]
    by_hand = 0
    for step, blocks in zip(STEPS, found.live, strict=True):
        by_hand += int(blocks) * (min(s for s in sizes if s >= step) - (int(step) - 3))
    result = waste(found, [Slab(size, max(size, 65536)) for size in sizes])
    assert result.peak == by_hand
    assert result.ends == 2 * 2048
    assert result.per_request > 3
    assert result.total == result.peak + result.tail + result.ends


def test_the_tail_of_full_slabs_counts() -> None:
    events = Flow(np.full(30, 0), np.full(30, 1), np.zeros(30, dtype=np.int64), np.full(30, 16))
    result = waste(demands.demand_of(events), [Slab(16, 165), Slab(65536, 65536)])
    assert result.tail == 3 * (165 % 16)


def test_magazines_go_to_slabs_when_empty_or_full() -> None:
    taken, freed = [-1] * 8, [1] * 8
    assert trips(np.array(taken), 4) == 4  # refilled by two each time
    assert trips(np.array(freed), 4) == 2  # full at 4, gives two back, full again
    assert trips(np.array([-1, 1] * 50), 4) == 1
    assert trips(np.array(taken + freed), 64) == 1


def test_walks_are_by_thread_and_class() -> None:
    events = random_flow(500)
    pieces = walks(events, [64, 65536])
    assert sum(len(piece) for piece in pieces.values()) == 500
    assert set(pieces) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    first = [-int(c) for s, c, t in zip(events.step, events.change, events.thread, strict=True)
             if t == 1 and STEPS[s] <= 64]  # fmt: skip
    assert pieces[1, 0].tolist() == first
    assert trips_of(pieces, [4, 4]).sum() >= trips_of(pieces, [64, 64]).sum()
    assert walks(Flow(*(np.zeros(0, dtype=np.int64) for _ in range(4))), [64]) == {}


def test_slabs_are_made_again_only_beyond_one_that_is_kept() -> None:
    def of(*changes: int) -> int:
        size = len(changes)
        events = Flow(
            np.zeros(size, int), np.array(changes), np.zeros(size, int), np.ones(size, int)
        )
        return int(slab_traffic(events, [Slab(16, 32), Slab(65536, 65536)]).sum())

    assert of(1, 1) == 1
    assert of(1, 1, 1, -1, 1, -1, 1) == 2  # swings about the border of the second slab
    assert of(*[1] * 6, *[-1] * 6, *[1] * 6) == 3 + 2


def test_merging_lets_no_trace_decide_by_its_length() -> None:
    width = len(STEPS)

    def of(step: int, blocks: float) -> Demand:
        count = np.zeros(width)
        count[step] = blocks
        return Demand(count, count * STEPS, count, count * STEPS, count)

    merged = merge([(of(3, 10), 1.0), (of(7, 100_000), 1.0)])
    assert merged.count[3] == pytest.approx(merged.count[7])
    assert merged.live_asked[3] == pytest.approx(merged.live_asked[7])
    with pytest.raises(ValueError, match="no demand"):
        merge([])
