"""Libraries for kinds of processors that this machine is not: made by workers, received here.

elsewhere_send.py says what they are asked for, elsewhere_check.py what is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.errors import PipelineError
from pipeline.core.processor import ANY, machine
from pipeline.core.store import Artifact, Store
from pipeline.geometry.load import load_geometry
from pipeline.release.version import MANIFEST
from pipeline.stages import NAMES
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import VERDICT, Verdict
from pipeline.stages.publish.elsewhere_check import checked, names
from pipeline.stages.publish.elsewhere_send import orders, send, tell_left_out
from pipeline.stages.publish.gate import HTML
from pipeline.stages.publish.release import Beside

if TYPE_CHECKING:
    from pipeline.elsewhere.order import Made, Order
    from pipeline.elsewhere.workers import Sent, Workers

Collect = Callable[[], tuple[Beside, ...]]


@contextmanager
def ordered(shop: Workshop, kinds: Sequence[str]) -> Iterator[Collect]:
    """Give the function that returns the libraries for ``kinds``; workers make them meanwhile.

    Without the address of a scheduler there are none, and the kinds are named. What is there
    already for the same sources, options and tools is not made again. In the end, also after
    ctrl-C, no worker goes on.
    """
    from pipeline.tune.engine import NONE

    wanted = [kind for kind in kinds if _has_its_own(shop, kind)]
    if not wanted or shop.options.scheduler in (None, NONE):
        _tell_not_made(shop, wanted)
        yield lambda: ()
        return
    wished = orders(shop, wanted)
    found = {order.kind: there for order in wished if (there := _find(shop, order))}
    missing = [order for order in wished if order.kind not in found]
    if not missing:
        yield lambda: _collect(shop, wanted, found)
        return
    from pipeline.elsewhere.workers import workers_of

    with workers_of(str(shop.options.scheduler)) as workers:
        sent = send(shop, workers, missing)
        yield lambda: _collect(shop, wanted, found | _receive(shop, workers, sent))


def _has_its_own(shop: Workshop, kind: str) -> bool:
    geometry = load_geometry(shop.tree, shop.profile.name, kind)
    own = geometry is not None and geometry.processor != ANY
    if not own:
        tell_common(shop, kind)
    return own


def tell_common(shop: Workshop, kind: str) -> None:
    """Say that a file for a kind of processor changes nothing."""
    shop.console.notice(f"{kind} has nothing of its own: the library for all serves it, too")


def _tell_not_made(shop: Workshop, kinds: Sequence[str]) -> None:
    if kinds:
        shop.console.notice(
            f"not made here, as this machine has {machine().name} and cannot judge them: "
            f"{', '.join(kinds)}; workers of a --scheduler on such machines can"
        )


# ---- what comes back -----------------------------------------------------------------------------


def _receive(shop: Workshop, workers: Workers, sent: Sequence[Sent]) -> dict[str, Artifact]:
    received = {}
    for one in sent:
        try:
            received[one.order.kind] = _receive_one(shop, workers, one)
        except PipelineError as error:
            hint = f"; {error.hint}" if error.hint else ""
            tell_left_out(shop, one.order.kind, f"{error.message}{hint}")
    return received


def _receive_one(shop: Workshop, workers: Workers, sent: Sent) -> Artifact:
    with shop.console.stage(f"for {sent.order.kind}") as line:
        line.step(f"waiting for the worker at {', '.join(sorted(sent.addresses))}")
        made = workers.wait(sent)
        artifact = take_in(shop, sent.order, made)
        line.done(f"made on {made.host}; {artifact.receipt.notes['reason']}")
    return artifact


def take_in(shop: Workshop, order: Order, made: Made) -> Artifact:
    """Return an artifact of what a worker has sent; it is checked before it is one.

    DataError where it is not what was ordered, ArtifactError where a file is not as the worker's
    manifest says, or the judge here would not let it pass.
    """

    def work(room: Path) -> dict[str, Any]:
        from pipeline.elsewhere.order import SENT_BACK

        for name, file in zip(SENT_BACK, names(shop), strict=True):
            (room / file).write_bytes(made.files[name])
        return {"host": made.host, **checked(shop, order, room)}

    store = Store(shop.store.folder)
    return store.make(_stage(order), _parts(order), work)


def _find(shop: Workshop, order: Order) -> Artifact | None:
    if shop.options.redo:
        return None
    found = Store(shop.store.folder).find(_stage(order), _parts(order))
    if found is not None:
        shop.console.reused(f"for {order.kind}", f"made on {found.receipt.notes['host']}")
    return found


def _stage(order: Order) -> str:
    return f"elsewhere-{order.kind}"


def _parts(order: Order) -> dict[str, Any]:
    asked = [word for word in order.words if word not in ("--from", *NAMES)]
    return {"snapshot": order.snapshot.digest, "words": asked, "tools": dict(order.tools)}


def _collect(
    shop: Workshop, kinds: Sequence[str], artifacts: dict[str, Artifact]
) -> tuple[Beside, ...]:
    return tuple(_beside(shop, kind, artifacts[kind]) for kind in kinds if kind in artifacts)


def _beside(shop: Workshop, kind: str, artifact: Artifact) -> Beside:
    geometry = load_geometry(shop.tree, shop.profile.name, kind)
    assert geometry is not None, "a kind without one was not ordered"
    notes = artifact.receipt.notes
    return Beside(
        library=shop.library(artifact),
        step=notes["step"],
        verdict=Verdict(artifact),
        geometry=geometry,
        made_on=notes["host"],
        records={name: artifact.path(name) for name in (MANIFEST, VERDICT, HTML)},
    )
