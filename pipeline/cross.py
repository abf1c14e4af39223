"""A library for another architecture from a bundle, as one straight page.

It is compiled by the profile that was trained here and tried under an emulator. Nobody times or
judges it, so it lies beside the versions of this machine, and is never current.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.core.architecture import Architecture
from pipeline.core.processor import ANY
from pipeline.geometry.code import CHOICES
from pipeline.geometry.model import Geometry
from pipeline.profile.workload import Program
from pipeline.rebuild.differences import differences, refuse_others
from pipeline.rebuild.imported import Imported, bundled_geometry, take_in
from pipeline.rebuild.step import best_flavour, profile_for
from pipeline.stages.bolt.emulated import count_emulated
from pipeline.stages.bolt.optimize import STAGE as BOLT
from pipeline.stages.bolt.optimize import bolt
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.check_names import check_names
from pipeline.stages.build.compile import source_digests
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.cut import cut
from pipeline.stages.build.finish import finish
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.optimize import CONTEXT, pgo
from pipeline.stages.pgo.static import static
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.publish.abroad import Abroad, publish_abroad
from pipeline.stages.publish.publish import check_writable
from pipeline.toolchain.profdata import PROFDATA
from pipeline.toolchain.symbols import read_lists
from pipeline.toolchain.target import cross_to

SLOWER = 10
"""How much longer than on a processor a program may take under an emulator."""

NO_RUNTIME = (
    "without BOLT: its counters need its run-time library for {name} (--bolt-runtime); the linker "
    "has laid functions out in the order of the lists"
)
NO_PROGRAMS = (
    "without BOLT: profile {profile} trains on no program of ours, and no other runs under the "
    "emulator"
)


def workshop_for(shop: Workshop, architecture: Architecture) -> Workshop:
    """Return the surroundings of a build for another architecture, with artifacts of its own.

    Programs of the training run short: they are emulated. ToolError if something is missing.
    """
    from pipeline.core.store import Store

    store = Store(shop.tree.state / f"{shop.line}@{architecture.kernel}")
    target = cross_to(architecture, shop.tools.path("clang"), store.folder / "probe")
    options = replace(shop.options, quick=True)
    return replace(shop, store=store, target=target, options=options)


def cross_build(
    shop: Workshop, file: Path, allowed: frozenset[str], runtime: Path | None
) -> Abroad:
    """Build the library of a bundle for the architecture of ``shop``, and publish it beside.

    ``runtime`` is BOLT's run-time library for that; without it BOLT has no counts, and is left
    out. What differs from the bundle and is not ``allowed`` is refused: ToolError or DataError.
    """
    check_writable(shop.tree.dist(shop.line))
    shop.store.clear_rooms()
    imported = take_in(shop.store, file)
    setup = _setup(shop, imported)
    differing = refuse_others(
        differences(shop, setup, imported), allowed, "the manifest names it then"
    )
    plain = cut(shop, setup, baseline(shop, setup))
    archive = static(shop, setup, imported.profdata(PROFDATA))
    flavour = best_flavour(imported)
    profile = profile_for(imported, flavour)
    linked = pgo(shop, setup, plain, profile, flavour)
    _tell_stale(shop, linked)
    if why := _why_no_bolt(shop, setup, runtime):
        shop.console.notice(why)
        step = "context" if flavour is CONTEXT else "lto"
        candidate = Candidate(step, finish(shop, linked), profile)
    else:
        assert runtime is not None, "else there is a reason"
        edges = count_emulated(shop, setup, plain, linked, runtime)
        candidate = Candidate(BOLT, bolt(shop, setup, linked, edges), profile, edges)
    made = publish_abroad(shop, imported, candidate, archive, setup.geometry, differing)
    shop.store.tidy()
    return made


def _tell_stale(shop: Workshop, linked: Library) -> None:
    """Name the functions that the training's counts do not fit: their code branches otherwise."""
    if stale := linked.artifact.receipt.notes["stale"]:
        name = shop.target.architecture.name
        shop.console.notice(
            f"compiled without counts, as they differ for {name}: {', '.join(stale)}"
        )


def _why_no_bolt(shop: Workshop, setup: Setup, runtime: Path | None) -> str:
    if runtime is None:
        return NO_RUNTIME.format(name=shop.target.architecture.name)
    return "" if setup.training else NO_PROGRAMS.format(profile=shop.profile.name)


def _setup(shop: Workshop, imported: Imported) -> Setup:
    shop.hashed.update(source_digests(shop))
    lists = read_lists(imported.profile)
    check_names(shop.tree, shop.profile, lists)
    ours = (w for w in shop.profile.workload if isinstance(w, Program) and w.role == "train")
    slower = (w.model_copy(update={"timeout_s": SLOWER * w.timeout_s}) for w in ours)
    geometry = bundled_geometry(shop, imported)
    return Setup(
        sources=shop.hashed["sources"],
        programs=shop.hashed["programs"],
        lists=lists,
        geometry=_for_any(geometry) if geometry else None,
        training=tuple(slower),
        verifying=(),
        traces=(),
        skipped={},
    )


def _for_any(geometry: Geometry) -> Geometry:
    """Return a geometry without the instructions of the machine that it was chosen on."""
    return geometry.with_setting("march", CHOICES["march"].default).for_processor(ANY)
