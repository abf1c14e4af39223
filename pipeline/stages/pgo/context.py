"""context: a second training pass, in the library as the first pass's profile has compiled it."""

from __future__ import annotations

from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.instrument import instrument_again
from pipeline.stages.pgo.merge import ProfileData, merge
from pipeline.stages.pgo.optimize import CONTEXT, pgo
from pipeline.stages.pgo.train import Training, train_again


def context(
    shop: Workshop, setup: Setup, plain: Baseline, training: Training, first: ProfileData
) -> tuple[Library, ProfileData]:
    """Return the library compiled by both profiles (context-sensitive PGO), and the merged one."""
    counting = instrument_again(shop, setup, first)
    again = train_again(shop, setup, plain, counting, training)
    both = merge(shop, again, first)
    return pgo(shop, setup, plain, both, CONTEXT), both
