"""Health checks that can show nothing are told before anything is built."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from bare_shop import bare_shop, setup_of
from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.core.errors import WorkloadError
from pipeline.profile.workload import Command
from pipeline.stages.build.workloads import command_keys, workload_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.plain import tell_unfit_checks
from pipeline.stages.proof.request import STAGE

TOO = "differs from run to run without the library, too"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return bare_shop(tmp_path)


def said(shop: Workshop, *scripts: str) -> str:
    checks = tuple(
        Command.model_validate(
            {"kind": "command", "name": f"check-{n}", "role": "verify", "argv": ["sh", "-c", one]}
        )
        for n, one in enumerate(scripts)
    )
    written = io.StringIO()
    console = BuildConsole(Console(file=written, width=500))
    tell_unfit_checks(replace(shop, console=console), setup_of(checks))
    return written.getvalue()


def test_a_check_that_varies_or_fails_is_told_and_one_that_repeats_is_not(shop: Workshop) -> None:
    told = said(shop, "echo $$", "echo gone >&2; exit 3", "echo 7")
    assert f'note: health check "check-0" will be left out: its output {TOO}; line 1: ' in told
    assert 'note: health check "check-1" will be left out: plain run: exit code 3' in told
    assert "check-2" not in told
    assert "nothing will be published" not in told


def test_a_check_that_fails_is_not_run_a_second_time(shop: Workshop, tmp_path: Path) -> None:
    """A server that never ends takes its whole limit, which is minutes."""
    said(shop, f"echo ran >> {tmp_path}/runs; exit 3")
    assert (tmp_path / "runs").read_text("utf-8") == "ran\n"


def test_a_build_ends_at_once_where_a_check_fails_by_whose_command_it_trains(
    shop: Workshop,
) -> None:
    """Otherwise it compiles for minutes before the training fails."""
    check, trained = (
        Command.model_validate(
            {"kind": "command", "name": role, "role": role, "argv": ["sh", "-c", "exit 3"], **more}
        )
        for role, more in (
            ("verify", {"env": {"HAKMEM_PURGE_DELAY": "10"}}),
            ("train", {"weight": 1}),
        )
    )
    with pytest.raises(WorkloadError, match=r'workload "train" fails.*exit code 3'):
        tell_unfit_checks(shop, setup_of((check,), (trained,)))
    longer = trained.model_copy(update={"timeout_s": check.timeout_s + 1})
    other = trained.model_copy(update={"env": {"ANSWER": "0"}})
    tell_unfit_checks(shop, setup_of((check,), (longer, other)))  # these may do better


@pytest.mark.parametrize(
    ("more", "refused"),
    [({"threads": 1}, True), ({"threads": 2}, False), ({"threads": 2, "counted": True}, True)],
)
def test_a_command_that_fails_beside_itself_is_told_before_anything_is_built(
    shop: Workshop, tmp_path: Path, more: dict[str, object], refused: bool
) -> None:
    """A server with a fixed port: runs are at once where it has one thread, or is counted."""
    script = f"mkdir {tmp_path}/port || exit 3; sleep 1; rmdir {tmp_path}/port"
    timed = Command.model_validate(
        {"kind": "command", "name": "timed", "role": "verify", "weight": 1, **more}
        | {"argv": ["sh", "-c", script]}
    )
    if not refused:
        tell_unfit_checks(shop, setup_of((timed,)))
        return
    with pytest.raises(WorkloadError, match=r'"timed" fails where two run at once.* code 3'):
        tell_unfit_checks(shop, setup_of((timed,)))


def test_where_no_check_can_be_used_nothing_will_be_published(shop: Workshop) -> None:
    assert "note: nothing will be published: no health check can be used" in said(shop, "echo $$")


def test_checks_by_which_a_build_was_judged_are_not_run_again(shop: Workshop) -> None:
    (check,) = (one for one in shop.profile.verifying if isinstance(one, Command))
    parts = {"commands": command_keys(shop, [check]), "workloads": workload_keys(shop, [check])}
    shop.store.make(STAGE, parts, lambda room: {"written": (room / "verdict").write_text("x")})
    tell_unfit_checks(shop, setup_of((check,)))
    file = shop.console.rich.file
    assert isinstance(file, io.StringIO)
    assert file.getvalue() == ""
