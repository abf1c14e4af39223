"""What a user asks for by environment variables and by where the tree lies is checked first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.errors import ExitCode, SpaceError, ToolError
from pipeline.stages.configure import _check_place
from pipeline.toolchain.find import find_llvm


@pytest.mark.parametrize("place", ["/a b/tree", "/a:b/tree", "/a;b/tree"])
def test_a_place_that_cannot_be_preloaded_is_refused(place: str) -> None:
    with pytest.raises(SpaceError, match="LD_PRELOAD"):
        _check_place(Path(place))


def test_an_ordinary_place_will_do() -> None:
    _check_place(Path("/srv/hakmem-1.0_x"))


@pytest.mark.parametrize("wish", ["99", "18", "22x"])
def test_an_impossible_llvm_is_named(wish: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKMEM_LLVM", wish)
    with pytest.raises(ToolError, match=f"HAKMEM_LLVM={wish} is not one of"):
        find_llvm()


def test_completion_ends_well() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline"],
        env={"_PIPELINE_COMPLETE": "bash_source", "PATH": "/usr/bin:/bin"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.OK
    assert "_pipeline_completion" in done.stdout
    assert done.stderr == ""
