"""What workers are asked for: an order for each kind of processor that this machine is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.geometry.load import kind_for
from pipeline.profile.workload import Trace
from pipeline.stages import NAMES
from pipeline.stages.build.workshop import Workshop

if TYPE_CHECKING:
    from pipeline.elsewhere.order import Order
    from pipeline.elsewhere.snapshot import Snapshot
    from pipeline.elsewhere.workers import Sent, Workers


def tell_left_out(shop: Workshop, kind: str, reason: str) -> None:
    """Say that a library for a kind of processor is not published with the others, and why."""
    shop.console.notice(f"the library for {kind} is left out: {reason}")


def orders(shop: Workshop, kinds: Sequence[str]) -> list[Order]:
    """Return an order for each kind, all for the same sources."""
    from pipeline.elsewhere.order import Order

    snapshot = _snapshot(shop)
    return [
        Order(kind, shop.line, _words(shop, kind), shop.tools.versions, snapshot) for kind in kinds
    ]


def _snapshot(shop: Workshop) -> Snapshot:
    from pipeline.elsewhere.snapshot import take

    traces = (one.trace for one in shop.profile.workload if isinstance(one, Trace))
    return take(shop.tree.root, [shop.tree.root / trace for trace in traces if trace])


def _words(shop: Workshop, kind: str) -> tuple[str, ...]:
    """Return the options of a build for one kind; it is published where it is built."""
    options = replace(shop.options, cpu=kind, no_publish=False)
    again = next((name for name in NAMES if name in options.redo), None)
    return (
        *("--profile", shop.profile.name, *options.words),
        *(("--from", again) if again else ()),
    )


def send(shop: Workshop, workers: Workers, orders: Sequence[Order]) -> list[Sent]:
    """Give each order to the workers whose processor it fits; name those that fit none."""
    there = workers.processors()
    sent = []
    for order in orders:
        fitting = {
            address
            for address, name in there.items()
            if kind_for(shop.tree, shop.profile.name, name) == order.kind
        }
        if fitting:
            sent.append(workers.send(order, frozenset(fitting)))
        else:
            has = ", ".join(sorted(set(there.values()))) or "none that is known"
            tell_left_out(shop, order.kind, f"no worker has such a processor; workers have: {has}")
    return sent
