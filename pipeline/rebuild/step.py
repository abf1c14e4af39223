"""The step that a version ended with, done once more by the profiles of its bundle."""

from __future__ import annotations

from pipeline.rebuild.imported import Imported
from pipeline.release.contents import CONTEXT_PROFDATA, FDATA
from pipeline.stages.bolt.optimize import bolt
from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.cut import cut
from pipeline.stages.build.finish import finish
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.pgo.optimize import CONTEXT, FLAVOURS, SECTIONS, WHOLE, Flavour, pgo
from pipeline.stages.proof.candidate import LAID_OUT, Candidate
from pipeline.toolchain.profdata import PROFDATA


def compile_step(shop: Workshop, setup: Setup, plain: Baseline, imported: Imported) -> Candidate:
    """Do the step that the bundle's version ended with, and those that it stands on."""
    step = imported.bundle.step
    plain = cut(shop, setup, plain)
    if step == "tune":
        return Candidate(step, finish(shop, plain.library))
    flavour = FLAVOURS.get(step) or best_flavour(imported)
    profile = None if flavour is SECTIONS else profile_for(imported, flavour)
    linked = pgo(shop, setup, plain, profile, flavour)
    if step not in LAID_OUT:
        return Candidate(step, finish(shop, linked), profile)
    path, digest = imported.input(FDATA)
    edges = EdgeProfile(path, digest, imported.artifact)
    return Candidate(step, bolt(shop, setup, linked, edges, step), profile, edges)


def best_flavour(imported: Imported) -> Flavour:
    """Return how the library that BOLT lays out is compiled: by all profiles that there are."""
    return CONTEXT if imported.has(CONTEXT_PROFDATA) else WHOLE


def profile_for(imported: Imported, flavour: Flavour) -> ProfileData:
    """Return the bundle's profile that a flavour is compiled by."""
    return imported.profdata(CONTEXT_PROFDATA if flavour is CONTEXT else PROFDATA)
