"""Evidence survives JSON, and what was not measured stays unknown."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pipeline.evidence.model import CurvePoint, Evidence, ProgramShare
from pipeline.judge.left_out import LeftOut, Subject
from pipeline.judge.request import CacheGeometry


def test_what_was_not_measured_is_none_after_a_trip_through_json() -> None:
    point = CurvePoint(geometry=CacheGeometry(512, 2), baseline=1.5, tuned=None)
    evidence = Evidence(
        mode="quick", left_out=(LeftOut(Subject.ABLATION, "no chain"),), curve=(point,)
    )
    again = Evidence.model_validate_json(evidence.model_dump_json())
    assert again == evidence
    assert again.curve[0].tuned is None
    assert again.ablation is None
    assert again.layout_null is None


def test_a_share_beyond_the_whole_is_refused() -> None:
    with pytest.raises(ValidationError):
        ProgramShare(name="x", command="x", status="counted", detail="", tuned_instructions=1.2)
