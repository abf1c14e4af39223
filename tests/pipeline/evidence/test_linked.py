"""Which library a chosen build is a layout of."""

from pathlib import Path
from typing import cast

import pytest

from pipeline.core.store import Artifact
from pipeline.stages.build.workshop import Library
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.evidence import linked_of

NOWHERE = cast(Artifact, None)
CHAIN = [
    Candidate(name, Library(Path(name), name, NOWHERE))
    for name in ("baseline", "sections", "pgo", "lto", "context", "bolt")
]


@pytest.mark.parametrize(
    ("chosen", "linked"),
    [("bolt", "context"), ("context", "context"), ("lto", "lto"), ("sections", "sections")],
)
def test_random_layouts_are_made_of_what_was_linked(chosen: str, linked: str) -> None:
    finished = Candidate(chosen, Library(Path("stripped"), "stripped", NOWHERE))
    assert linked_of(CHAIN, finished).name == linked


def test_without_context_bolt_lays_out_what_lto_made() -> None:
    chain = [one for one in CHAIN if one.name != "context"]
    assert linked_of(chain, CHAIN[-1]).name == "lto"
