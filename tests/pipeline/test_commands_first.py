"""Commands of the training that fail are told before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare_shop import bare_shop, setup_of

from pipeline.core.errors import WorkloadError
from pipeline.profile.workload import Command
from pipeline.stages.build.workloads import command_keys, workload_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.train import STAGE
from pipeline.stages.proof import commands
from pipeline.stages.proof.commands import try_commands


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return bare_shop(tmp_path)


def command(script: str, role: str = "train") -> Command:
    weight = {"weight": 1} if role == "train" else {}
    return Command.model_validate(
        {"kind": "command", "name": role, "role": role, "argv": ["sh", "-c", script]} | weight
    )


def test_a_command_of_the_training_that_fails_ends_the_build_at_once(
    shop: Workshop,
) -> None:
    """Its health check has another input, and so showed nothing."""
    setup = setup_of((command("true", "verify"),), (command("echo no port >&2; exit 3"),))
    with pytest.raises(WorkloadError, match=r'^workload "train" failed: sh: exit code 3\n  no p'):
        try_commands(shop, setup)


def test_one_that_takes_long_has_begun_well(
    shop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commands, "LIMIT_S", 0.2)
    try_commands(shop, setup_of((), (command("sleep 600"),)))


def test_one_that_ran_as_a_check_or_in_an_earlier_build_does_not_run_again(
    shop: Workshop,
    tmp_path: Path,
) -> None:
    ran = tmp_path / "ran"
    one = command(f"echo x >> {ran}")
    try_commands(shop, setup_of((command(one.argv[2], "verify"),), (one,)))
    assert not ran.exists()
    parts = {"commands": command_keys(shop, [one]), "workloads": workload_keys(shop, [one])}
    try_commands(shop, setup_of((), (one,)))
    shop.store.make(STAGE, parts, lambda room: {"written": (room / "counts").write_text("x")})
    try_commands(shop, setup_of((), (one,)))
    assert ran.read_text("utf-8") == "x\n"
