"""A workload that fails or hangs: what the build says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import WorkloadError
from pipeline.profile.workload import Command
from pipeline.stages.build.workloads import ALONE, STOPPED, Prepared, run_workload


def failure(folder: Path, script: str, timeout_s: float) -> WorkloadError:
    argv = ("sh", "-c", script)
    workload = Command.model_validate(
        {"kind": "command", "name": "kv", "role": "train", "weight": 1, "argv": argv}
        | {"timeout_s": timeout_s}
    )
    with pytest.raises(WorkloadError) as caught:
        run_workload(workload, Prepared(argv, {}, None), log=folder / "kv.log")
    return caught.value


def test_a_driver_that_fails_says_why(tmp_path: Path) -> None:
    """The exit code was told alone, and the reason stood in the log."""
    error = failure(tmp_path, "echo cannot open nosuch.py >&2; exit 2", 60)
    assert error.message == 'workload "kv" failed: sh: exit code 2\n  cannot open nosuch.py'
    assert error.hint == ALONE


def test_a_driver_that_hangs_is_told_to_stop_its_server(tmp_path: Path) -> None:
    error = failure(tmp_path, "sleep 600 & sleep 0; wait", 0.5)
    assert "was still running after its limit of 0.5 s" in error.message
    assert "0.5 s (sleep had not ended), and was killed" in error.message  # the server's name
    assert error.hint == STOPPED
