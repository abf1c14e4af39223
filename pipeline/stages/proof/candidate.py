"""A build that may be published, with the profiles it was made by."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.workshop import Library
from pipeline.stages.pgo.merge import ProfileData

# The chain of builds: each has all that the ones before it have. Names stand in manifests.
ADDS = {
    "baseline": "the same sources at -O2",
    "tune": "built with the geometry of the profile",
    "sections": "functions on cache lines, in the order of layouts/",
    "pgo": "compiled by the profile of the training",
    "lto": "compiled across files",
    "context": "a second training pass, which counts inlined copies apart",
    "bolt": "blocks and functions laid out by edge counts",
    "samples": "laid out by imported samples as well",
}
# BOLT has made these, each of the step before them.
LAID_OUT = ("bolt", "samples")


@dataclass(frozen=True)
class Candidate:
    """One step of the chain. A profile is None where the step makes no use of one."""

    name: str
    library: Library
    profile: ProfileData | None = None
    edges: EdgeProfile | None = None
