"""What a user asks for by environment variables and by where the tree lies is checked first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.errors import SpaceError, ToolError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.preload import preload
from pipeline.stages.build.configure import _check_place
from pipeline.toolchain.find import find_llvm
from pipeline.trace.record import record
from pipeline.trace.tools import RecorderTools


@pytest.mark.parametrize("place", ["/a b/tree", "/a:b/tree", "/a;b/tree"])
def test_a_place_that_cannot_be_preloaded_is_refused(place: str) -> None:
    with pytest.raises(SpaceError, match="LD_PRELOAD"):
        _check_place(Path(place))


def test_an_ordinary_place_will_do() -> None:
    _check_place(Path("/srv/hakmem-1.0_x"))


@pytest.mark.parametrize("place", ["/a b/lib.so", "/a:b/lib.so"])
def test_a_library_that_cannot_be_preloaded_is_named(place: str) -> None:
    with pytest.raises(SpaceError, match=f"{place} cannot be preloaded") as refused:
        preload(Path(place))
    assert "TMPDIR" in refused.value.hint


def test_recording_from_a_path_with_a_blank_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    tools = RecorderTools(tmp_path / "a b" / "libhakmem-trace.so", tmp_path / "digest")
    with pytest.raises(SpaceError, match=r"a b/libhakmem-trace\.so cannot be preloaded"):
        record(tools, ["true"], tmp_path / "app.trace")
    assert not list(tmp_path.iterdir())


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
