"""A build, as one straight page: its stages in order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pipeline.core.closure import closure_digest
from pipeline.core.processor import ALL, ANY, machine
from pipeline.core.store import Store
from pipeline.geometry.load import kind_for, kinds_of
from pipeline.stages.bolt.branch_stacks import require_branch_stacks
from pipeline.stages.bolt.edges import count_edges
from pipeline.stages.bolt.optimize import WITH_SAMPLES, bolt
from pipeline.stages.bolt.samples import add_samples
from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import Setup, configure, read_geometry
from pipeline.stages.build.cut import cut
from pipeline.stages.build.meanwhile import meanwhile
from pipeline.stages.build.record import record
from pipeline.stages.build.slowdown import slowdown
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.context import context
from pipeline.stages.pgo.instrument import instrument
from pipeline.stages.pgo.merge import merge
from pipeline.stages.pgo.optimize import pgo
from pipeline.stages.pgo.static import static
from pipeline.stages.pgo.train import train
from pipeline.stages.proof.ablation import Chosen, ablation, simple_steps
from pipeline.stages.proof.against_current import against_current
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.commands import try_commands
from pipeline.stages.proof.cost import cost
from pipeline.stages.proof.evidence import gather
from pipeline.stages.proof.plain import tell_unfit_checks
from pipeline.stages.proof.verify import VERDICT, verify
from pipeline.stages.publish.elsewhere import ordered, tell_common
from pipeline.stages.publish.elsewhere_send import tell_left_out
from pipeline.stages.publish.gate import passes
from pipeline.stages.publish.publish import Published, check_writable, publish
from pipeline.stages.publish.refusal import refuse_rejected_inputs
from pipeline.stages.publish.release import Beside, Release
from pipeline.stages.tuning.tune import tune


def build(shop: Workshop) -> Published:
    """Run all stages in order and return what was published; with ALL, for each kind once."""
    check_writable(shop.tree.dist(shop.line))
    if shop.options.branch_stacks:
        require_branch_stacks(shop)
    if shop.options.cpu != ALL:
        return publish(shop, make(shop))
    fitting, others = kinds(shop)
    common = for_processor(shop, ANY)
    with ordered(shop, others) as collect:
        ours = tuple(good for kind in fitting if (good := _for_kind(shop, kind)))
        release = replace(make(common), beside=(*ours, *collect()))
    return publish(common, release)


def kinds(shop: Workshop) -> tuple[list[str], list[str]]:
    """Return the kinds that have a geometry of their own: what this machine can judge, the rest."""
    profile = shop.profile.name
    fitting = kind_for(shop.tree, profile, machine().name)
    others = [kind for kind in kinds_of(shop.tree, profile) if kind != fitting]
    return [fitting] if fitting else [], others


def for_processor(shop: Workshop, name: str) -> Workshop:
    """Return the surroundings of a build for another kind of processor, with records of its own."""
    options, store = replace(shop.options, cpu=name), Store(shop.store.folder)
    return replace(shop, options=options, store=store)


def _for_kind(shop: Workshop, kind: str) -> Beside | None:
    """Make the library for one kind; None where it is the common one or the gate stops it."""
    shop.console.say(f"for {kind}:")
    release = make(for_processor(shop, kind))
    if release.geometry is None or release.geometry.processor == ANY:
        tell_common(shop, kind)
        return None
    allowed, reason = passes(shop, release.verdict)
    if not allowed:
        tell_left_out(shop, kind, reason)
        return None
    return Beside(
        library=release.candidate.library,
        step=release.candidate.name,
        verdict=release.verdict,
        geometry=release.geometry,
        records={VERDICT: release.verdict.artifact.path(VERDICT)},
    )


def make(shop: Workshop) -> Release:
    """Run all stages but the last and return what they have made.

    Order: configure, baseline, record, tune (if asked for), geometry, instrument, train, merge,
    pgo, a second training pass (context), bolt-instrument, bolt-train, bolt, bolt-samples and
    samples (if there are any), beside all of these static; sections, pgo-only and ablation (the
    choice of what is judged), slowdown, verify, layout-null, self-time, cost (of what is not
    production). Before it publishes, `publish` may ask for against-current.
    """
    closure_digest(__name__)  # all of this code is known in keys by what it is from now on
    setup = configure(shop)
    tell_unfit_checks(shop, setup)
    try_commands(shop, setup)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    if shop.options.tune_budget_s is not None:
        tune(shop, setup, plain, shop.options.tune_budget_s, shop.options.scheduler)
        setup = read_geometry(shop, setup)
    tuned = cut(shop, setup, plain)
    counting = instrument(shop, setup)
    training = train(shop, setup, plain, counting)
    refuse_rejected_inputs(shop, setup.geometry)
    profile = merge(shop, training)
    with meanwhile(shop, lambda aside: static(aside, setup, profile)) as archive:
        lto = Candidate("lto", pgo(shop, setup, tuned, profile), profile)
        last = lto
        if shop.chain:
            last = Candidate("context", *context(shop, setup, tuned, training, profile))
        edges = count_edges(shop, setup, plain, training, last.library)
        made = [last, *lay_out(shop, setup, last, edges)]
    if shop.chain:
        chain = [*simple_steps(shop, setup, plain, tuned, profile), lto, *made]
        chosen = ablation(shop, setup, plain, chain)
    else:
        chain = made
        chosen = Chosen(made[-1], None)
    verdict = verify(shop, setup, plain, chosen.candidate.library, slowdown(shop, setup))
    return Release(
        chosen.candidate,
        archive.result(),
        profile,
        training.factors,
        verdict,
        gather(shop, setup, plain, chain, chosen, verdict),
        setup.geometry,
        cost=cost(shop, setup, plain, chosen.candidate.library),
        against=partial(against_current, shop, setup, plain, chosen.candidate.library),
    )


def lay_out(shop: Workshop, setup: Setup, last: Candidate, edges: EdgeProfile) -> list[Candidate]:
    """Return what BOLT makes of ``last``: by the training and, where there are any, by samples.

    Without a chain nothing asks what the samples are worth, and the first one is left out then.
    """
    both = add_samples(shop, last.library, edges)
    made = []
    if both is None or shop.chain:
        library = bolt(shop, setup, last.library, edges)
        made.append(Candidate("bolt", library, last.profile, edges))
    if both is not None:
        library = bolt(shop, setup, last.library, both, WITH_SAMPLES)
        made.append(Candidate(WITH_SAMPLES, library, last.profile, both))
    return made
