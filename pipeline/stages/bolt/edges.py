"""The edge counts of a library, by the way that the build was asked for."""

from __future__ import annotations

from pipeline.stages.bolt.branch_stacks import sample_branches
from pipeline.stages.bolt.instrument import bolt_instrument
from pipeline.stages.bolt.train import EdgeProfile, bolt_train
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.train import Training


def count_edges(
    shop: Workshop, setup: Setup, plain: Baseline, training: Training, library: Library
) -> EdgeProfile:
    """Run the training workloads once more with ``library``: with BOLT's counters, or sampled."""
    if shop.options.branch_stacks:
        return sample_branches(shop, setup, plain, training, library)
    counted = bolt_instrument(shop, library)
    return bolt_train(shop, setup, plain, training, counted)
