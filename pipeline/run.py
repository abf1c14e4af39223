"""A build, as one straight page."""

from __future__ import annotations

from pipeline.stages.ablation import Chosen, ablation, simple_steps
from pipeline.stages.baseline import baseline
from pipeline.stages.bolt import bolt
from pipeline.stages.branch_stacks import require_branch_stacks
from pipeline.stages.candidate import Candidate
from pipeline.stages.configure import configure, read_geometry
from pipeline.stages.context import context
from pipeline.stages.edges import count_edges
from pipeline.stages.evidence import gather
from pipeline.stages.geometry import cut
from pipeline.stages.instrument import instrument
from pipeline.stages.merge import merge
from pipeline.stages.pgo import pgo
from pipeline.stages.publish import Published, check_writable, publish
from pipeline.stages.record import record
from pipeline.stages.release import Release
from pipeline.stages.slowdown import slowdown
from pipeline.stages.static import static
from pipeline.stages.train import train
from pipeline.stages.tune import tune
from pipeline.stages.verify import verify
from pipeline.stages.workshop import Workshop


def build(shop: Workshop) -> Published:
    """Run all stages in order and return what was published.

    Order: configure, baseline, record, tune (if asked for), geometry, instrument, train, merge,
    pgo, static, a second training pass (context), bolt-instrument, bolt-train, bolt, ablation (the
    choice of what is judged), slowdown, verify, layout-null, programs, publish.
    """
    check_writable(shop.tree.dist(shop.profile.name))
    if shop.options.branch_stacks:
        require_branch_stacks(shop)
    setup = configure(shop)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    if shop.options.tune_budget_s is not None:
        tune(shop, setup, plain, shop.options.tune_budget_s, shop.options.scheduler)
        setup = read_geometry(shop, setup)
    tuned = cut(shop, setup, plain)
    counting = instrument(shop, setup)
    training = train(shop, setup, plain, counting)
    profile = merge(shop, training)
    lto = Candidate("lto", pgo(shop, setup, tuned, profile), profile)
    archive = static(shop, setup, profile)
    last = context(shop, setup, tuned, training, profile) if shop.chain else lto
    edges = count_edges(shop, setup, plain, training, last.library)
    full = Candidate("bolt", bolt(shop, setup, last.library, edges), last.profile, edges)
    if shop.chain:
        chain = [*simple_steps(shop, setup, plain, tuned, profile), lto, last, full]
        chosen = ablation(shop, setup, plain, chain)
    else:
        chain = [last, full]
        chosen = Chosen(full, None)
    verdict = verify(shop, setup, plain, chosen.candidate.library, slowdown(shop, setup))
    evidence = gather(shop, setup, plain, training, chain, chosen, verdict)
    release = Release(
        chosen.candidate, archive, profile, training.factors, verdict, evidence, setup.geometry
    )
    return publish(shop, release)
