"""Which names `build --allow-regression` takes."""

from __future__ import annotations

import pytest

from pipeline.commands.may_lose import refuse_unknown
from pipeline.core.errors import UsageError
from pipeline.core.paths import Tree
from pipeline.profile.load import load_profile

MIXED = load_profile(Tree.here(), "mixed")


@pytest.mark.parametrize("name", ["throughput", "real-programs", "python3", "larson"])
def test_what_a_judgement_names_can_be_allowed(name: str) -> None:
    refuse_unknown(MIXED, (name,))


def test_another_name_is_refused_and_those_that_can_be_allowed_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        refuse_unknown(MIXED, ("larson", "pyhton3"))
    assert "pyhton3" in caught.value.message
    assert "real-programs" in str(caught.value.hint)
