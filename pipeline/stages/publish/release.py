"""What the stages before ``publish`` have made of a build: all that is published or reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.stages.build.workshop import Library
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.pgo.static import Archive
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.verify import Verdict

if TYPE_CHECKING:
    from pipeline.evidence.model import Evidence
    from pipeline.geometry.model import Geometry
    from pipeline.judge.cost import Cost
    from pipeline.judge.direct_speed import DirectSpeed
    from pipeline.release.version import Version


@dataclass(frozen=True)
class Beside:
    """A library for one kind of processor, judged by itself.

    ``step`` is the step of the ablation that it is. ``records`` are the files that tell of it, by
    name. ``made_on`` is the host of the worker that made it; None: this machine.
    """

    library: Library
    step: str
    verdict: Verdict
    geometry: Geometry
    records: Mapping[str, Path] = field(default_factory=dict)
    made_on: str | None = None

    @property
    def kind(self) -> str:
        """The name of the kind of processor."""
        return self.geometry.processor


@dataclass(frozen=True)
class Release:
    """What is to be published: the libraries, the profiles they were made by, the verdict.

    ``profile`` is the first training's, which the archive was compiled by; the candidate may have
    one of two trainings. ``factors`` are the whole-number weights of the training workloads. A
    rebuild from a bundle has its lists and profile file in ``inputs`` instead of the tree, and
    tells in ``rebuilt_from`` which bundle that was and what was different there. ``evidence`` puts
    the evidence together when it is asked for; it is None where none was gathered, and
    ``geometry`` where the library is cut as the default.
    ``beside`` are libraries for single kinds of processors, each judged by itself. ``cost`` is what
    a variant costs against production, where that was measured. ``against`` judges the library
    directly against a version's when it is asked; None where nothing here may be timed.
    """

    candidate: Candidate
    archive: Archive
    profile: ProfileData
    factors: dict[str, int]
    verdict: Verdict
    evidence: Callable[[], Evidence] | None = None
    geometry: Geometry | None = None
    beside: tuple[Beside, ...] = ()
    inputs: Path | None = None
    cost: Cost | None = None
    against: Callable[[Version], DirectSpeed | None] | None = None
    rebuilt_from: dict[str, Any] | None = None
