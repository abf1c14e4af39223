"""``--verify-time``: how long the judge may take, by the command line instead of the profile."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.console import open_console
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.profile.load import load_profile
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.proof.request import budget_s, left_out
from pipeline.toolchain.find import Toolchain


def shop(folder: Path, options: Options) -> Workshop:
    """Return the surroundings of a stage for the profile mixed; nothing is run."""
    profile = load_profile(Tree.here(), "mixed")
    console = open_console(False)
    return Workshop(Tree.here(), profile, Toolchain(()), Store(folder), console, options)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        (Options(), 60.0),
        (Options(quick=True), 20.0),
        (Options(verify_s=300.0), 300.0),
        (Options(quick=True, verify_s=90.0), 90.0),
        (Options(thorough=True), 3600.0),
    ],
)
def test_the_command_line_goes_before_the_profile(
    tmp_path: Path, options: Options, seconds: float
) -> None:
    here = shop(tmp_path, options)
    assert budget_s(here) == seconds
    said = " ".join(one.why for one in left_out(here))
    is_limit = not options.thorough and not (options.quick and seconds >= 60)  # of a full run
    assert (f"judging ends after {seconds:g} s" in said) == is_limit
    assert ("or later, once each workload has its fewest pairs" in said) == is_limit


@pytest.mark.parametrize("time", ["5", "soon", "-3m", "8000h", ""])
def test_a_time_that_is_none_is_refused(time: str) -> None:
    result = CliRunner().invoke(cli, ["build", f"--verify-time={time}"])
    assert result.exit_code == 2
    assert "is not a time from 30s to 7 days, such as 90s, 10m or 2h" in result.output
