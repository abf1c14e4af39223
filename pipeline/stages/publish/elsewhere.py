"""Libraries for kinds of processors that this machine is not: made by workers, checked here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.digest import digest_bytes
from pipeline.core.errors import ArtifactError, DataError, PipelineError
from pipeline.core.processor import ANY, OTHER, machine, nearest
from pipeline.core.store import Artifact, Store
from pipeline.geometry.load import kind_for, load_geometry
from pipeline.profile.schema import Trace
from pipeline.release.contents import debug_place
from pipeline.release.origin import other_sources, other_tools
from pipeline.release.version import MANIFEST, library_place
from pipeline.stages import NAMES
from pipeline.stages.build.compile import LIBRARY as LIBRARY_FILE
from pipeline.stages.build.compile import source_digests
from pipeline.stages.build.finish import debug_name
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import VERDICT, Verdict
from pipeline.stages.publish.gate import HTML, may_pass
from pipeline.stages.publish.release import Beside

if TYPE_CHECKING:
    from pipeline.elsewhere.order import Made, Order
    from pipeline.elsewhere.snapshot import Snapshot
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
        sent = _send(shop, workers, missing)
        yield lambda: _collect(shop, wanted, found | _receive(shop, workers, sent))


def _has_its_own(shop: Workshop, kind: str) -> bool:
    geometry = load_geometry(shop.tree, shop.profile.name, kind)
    own = geometry is not None and geometry.processor != ANY
    if not own:
        tell_common(shop, kind)
    return own


def tell_common(shop: Workshop, kind: str) -> None:
    """Say that a file for a kind of processor changes nothing."""
    shop.console.notice(f"{kind} has nothing of its own: the library for all is its, too")


def tell_left_out(shop: Workshop, kind: str, reason: str) -> None:
    """Say that a library for a kind of processor is not published with the others, and why."""
    shop.console.notice(f"the library for {kind} is left out: {reason}")


def _tell_not_made(shop: Workshop, kinds: Sequence[str]) -> None:
    if kinds:
        shop.console.notice(
            f"not made here, as this machine has {machine().name} and cannot judge them: "
            f"{', '.join(kinds)}; workers of a --scheduler on such machines can"
        )


# ---- what is sent --------------------------------------------------------------------------------


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


def _send(shop: Workshop, workers: Workers, orders: Sequence[Order]) -> list[Sent]:
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
            tell_left_out(shop, order.kind, f"no worker has such a processor; there is: {has}")
    return sent


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
        return {"host": made.host, **_checked(shop, order, room)}

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


def names(shop: Workshop) -> tuple[str, ...]:
    """Return what the files SENT_BACK are called in an artifact."""
    return (LIBRARY_FILE, debug_name(shop), MANIFEST, VERDICT, HTML)


def _checked(shop: Workshop, order: Order, room: Path) -> dict[str, Any]:
    """Hold what came against the worker's manifest, that against the order; return step, reason."""
    try:
        manifest = json.loads((room / MANIFEST).read_text(encoding="utf-8"))
        _check_digests(shop, manifest["files"], room)
        _check_origin(shop, order, manifest)
        return {"step": str(manifest["step"]), "reason": _check_verdict(shop, order, room)}
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"what the worker sent cannot be read: {error!r}") from error


def _check_digests(shop: Workshop, listed: dict[str, str], room: Path) -> None:
    from pipeline.release.check_version import check_library_file

    library = room / LIBRARY_FILE
    places = {
        library_place(shop.options.variant): library,
        str(debug_place(library)): room / debug_name(shop),
        **{name: room / name for name in (VERDICT, HTML)},
    }
    for place, file in places.items():
        if digest_bytes(file.read_bytes()) != listed[place]:
            raise ArtifactError(f"{place} is not the file that the worker's manifest lists")
    for check in check_library_file(shop.tree, library):
        if not check.holds:
            raise ArtifactError(f"{check.rule}: {check.found or 'no'}")


def _check_origin(shop: Workshop, order: Order, manifest: dict[str, Any]) -> None:
    geometry = load_geometry(shop.tree, shop.profile.name, order.kind)
    wanted = {
        "profile": shop.profile.name,
        "variant": shop.options.variant,
        "geometry": geometry.digest if geometry else None,
    }
    for name, value in wanted.items():
        if manifest[name] != value:
            raise DataError(f"it has another {name} than was ordered: {manifest[name]}")
    cut_for = manifest["processor"]["cut_for"]
    if cut_for != order.kind:
        raise DataError(f"it was built for {cut_for}, not for {order.kind}")
    sources = manifest["stages"]["static"]["inputs"]["sources"]
    if differing := other_sources(sources, source_digests(shop)["sources"]):
        raise DataError(f"it was made from other sources: {differing}")
    if differing := other_tools(manifest["tools"], shop.tools.versions):
        raise DataError(f"it was made by other tools: {differing}")


def _check_verdict(shop: Workshop, order: Order, room: Path) -> str:
    """Return why the judge lets it pass; the verdict must be about these bytes, on that kind."""
    from pipeline.judge.model import VerifyResult

    result = VerifyResult.model_validate_json((room / VERDICT).read_text(encoding="utf-8"))
    judged_on = result.environment.processor or OTHER
    if result.tuned.sha256 != digest_bytes((room / LIBRARY_FILE).read_bytes()):
        raise DataError("the verdict that came with it is about another library")
    if order.kind not in nearest(judged_on):
        raise DataError(f"it was judged on {judged_on}, not on {order.kind}")
    allowed, reason = may_pass(shop, result)
    if not allowed:
        raise ArtifactError(reason)
    return reason


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
