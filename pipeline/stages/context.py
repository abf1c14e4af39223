"""context: a second training pass, in the library as the first pass's profile has compiled it."""

from __future__ import annotations

from pipeline.stages.baseline import Baseline
from pipeline.stages.candidate import Candidate
from pipeline.stages.configure import Setup
from pipeline.stages.instrument import instrument_again
from pipeline.stages.merge import ProfileData, merge
from pipeline.stages.pgo import CONTEXT, pgo
from pipeline.stages.train import Training, train_again
from pipeline.stages.workshop import Workshop


def context(
    shop: Workshop, setup: Setup, plain: Baseline, training: Training, first: ProfileData
) -> Candidate:
    """Return the library compiled by both profiles (context-sensitive PGO)."""
    counting = instrument_again(shop, setup, first)
    again = train_again(shop, setup, plain, counting, training)
    both = merge(shop, again, first)
    return Candidate("context", pgo(shop, setup, plain, both, CONTEXT), both)
