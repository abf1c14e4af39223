"""Health checks on real programs: what passes, what fails, and what proves nothing."""

import dataclasses
import re
import sys
from pathlib import Path

import pytest
from judge_support import pairs, result_of, throughput_of
from toys_support import make_toys, quiet, request

from pipeline.judge.health import check_all
from pipeline.judge.judging import judge
from pipeline.judge.model import SILENT, HealthCheck
from pipeline.judge.request import HealthCommand
from pipeline.report.findings import findings


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toys(tmp_path_factory.mktemp("toys"))


def health(argv: list[str], built: Path, tmp_path: Path, **options: object) -> tuple[bool, str]:
    command = HealthCommand(name="program", argv=tuple(argv), **options)  # type: ignore[arg-type]
    found = check_all((command,), built / "fast.so", tmp_path, quiet)
    return found.sound, f"{found.checks[0].status}: {found.checks[0].detail}"


SHOW_PRELOAD = "import os; print(os.environ.get('LD_PRELOAD'))"
DIE_PRELOADED = "import os; os.environ.get('LD_PRELOAD') and os.abort()"
COMPLAIN_PRELOADED = DIE_PRELOADED.replace("os.abort()", "(os.write(2, b'one\\ntwo'), os.abort())")
SHELL_PRELOADED = """[ -z "$LD_PRELOAD" ] || sh -c 'kill -SEGV $$'; exit $?"""
HANG_PRELOADED = '[ -z "$LD_PRELOAD" ] || sleep 600'


def test_health_of_a_program_that_does_the_same(built: Path, tmp_path: Path) -> None:
    assert health([sys.executable, "-c", "print(3)"], built, tmp_path) == (
        True,
        "passed: same as plain",
    )


def test_a_check_that_prints_nothing_shows_nothing_and_is_told(built: Path, tmp_path: Path) -> None:
    """It was passed, "same as plain", for a server that no client had asked."""
    silent = HealthCommand(name="kv", argv=("sh", "-c", "echo gone >&2"))
    told: list[str] = []
    found = check_all((silent,), built / "fast.so", tmp_path, quiet, told.append)
    (check,) = found.checks
    assert (check.status, check.detail, check.stderr) == ("passed", SILENT, "gone")
    assert told == [
        "no health check printed anything: kv; a check has to print what its program worked out"
    ]
    result = result_of(throughput_of(loop=pairs(1.03))).model_copy(update={"health": found})
    doubts = [one.what for one in findings(result, None, None) if one.anchor == "health"]
    assert doubts == [
        "kv ended well and wrote to stderr",
        "no health check printed anything: kv",
    ]
    kept = check.model_dump(exclude={"silent"})  # as older records
    assert HealthCheck.model_validate(kept).silent
    spoken = HealthCommand(name="other", argv=("echo", "x"))
    assert not check_all((silent, spoken), built / "fast.so", tmp_path, quiet).silent


def test_a_failed_check_is_told_before_anything_is_measured(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build measured for minutes, and told at its end what it had known at the begin."""

    class Measuring(Exception):
        pass

    def measuring(*_: object) -> None:
        raise Measuring

    monkeypatch.setattr("pipeline.judge.judging.count", measuring)
    dying = HealthCommand(name="program", argv=(sys.executable, "-c", DIE_PRELOADED))
    for command, wanted in (
        (dying, ["nothing will be published: health check failed: program: killed by SIGABRT"]),
        (HealthCommand(name="program", argv=("echo", "x")), []),
    ):
        said: list[str] = []
        asked = dataclasses.replace(request(built, tmp_path, "slow", "fast"), health=(command,))
        with pytest.raises(Measuring):
            judge(asked, quiet, said.append)
        assert [one.partition(" (log: ")[0] for one in said] == wanted


def test_a_failed_check_names_its_log_from_here(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = HealthCommand(name="program", argv=(sys.executable, "-c", DIE_PRELOADED))
    found = check_all((command,), built / "fast.so", tmp_path / "logs", quiet)
    assert found.reason.endswith("SIGABRT (log: logs/program-preloaded.log)")


def test_health_of_a_program_whose_output_varies_proves_nothing(
    built: Path, tmp_path: Path
) -> None:
    """It was called a failure of the library."""
    sound, said = health([sys.executable, "-c", "import os; print(os.getpid())"], built, tmp_path)
    assert (sound, said) == (
        False,
        "skipped: its output differs from run to run without the library, too",
    )


SWAP_IN_RUNS = """
import pathlib, sys
count, swapped = pathlib.Path(sys.argv[1]), sys.argv[2:]
count.write_text(count.read_text() + "x")
print(*sorted("ab", reverse=str(len(count.read_text())) in swapped), sep="\\n")
"""


@pytest.mark.parametrize(
    ("swapped", "expected"),
    [("2 4", "skipped: its output differs"), ("2", "failed: other output: line 1: 'a' became 'b'")],
)
def test_lines_that_race_for_their_order_are_no_fault_of_the_library(
    swapped: str, expected: str, built: Path, tmp_path: Path
) -> None:
    """The first plain runs came alike by chance. The second run is that with the library."""
    count = tmp_path / "count"
    count.touch()
    argv = [sys.executable, "-c", SWAP_IN_RUNS, str(count), *swapped.split()]
    said = health(argv, built, tmp_path)[1]
    assert said.startswith(expected)
    assert said.endswith("in another order") is said.startswith("failed")


def test_a_library_that_is_not_preloaded_fails_though_the_output_varies(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", "import os; print(os.getpid())")
    command = HealthCommand(name="program", argv=argv)
    broken = tmp_path / "broken.so"
    broken.write_text("no library", encoding="utf-8")
    found = check_all((command,), broken, tmp_path, quiet)
    assert found.checks[0].status == "failed"
    assert "the library could not be preloaded" in found.checks[0].detail


@pytest.mark.parametrize(
    ("argv", "limit_s", "word"),
    [
        ((sys.executable, "-c", SHOW_PRELOAD), 60, "failed: other output: line 1: 'None' became"),
        ((sys.executable, "-c", DIE_PRELOADED), 60, "failed: killed by SIGABRT$"),
        (
            (sys.executable, "-c", COMPLAIN_PRELOADED),
            60,
            "failed: killed by SIGABRT, its last words: 'two'$",
        ),
        (("sh", "-c", SHELL_PRELOADED), 60, "failed: exit code 139, a shell's for SIGSEGV"),
        (("sh", "-c", HANG_PRELOADED), 2, "failed: .*limit of 2 s"),
    ],
)
def test_health_of_a_program_that_does_not(
    built: Path, tmp_path: Path, argv: tuple[str, ...], limit_s: float, word: str
) -> None:
    sound, said = health([*argv], built, tmp_path, timeout_s=limit_s)
    assert not sound
    assert re.search(word, said)
    assert (tmp_path / "program-preloaded.log").exists()


def test_a_scratch_folder_is_empty_in_both_runs(built: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import os; print(os.listdir()); open('left', 'w')"]
    assert health(argv, built, tmp_path, scratch=True)[0]


def test_programs_that_prove_nothing_are_skipped_and_do_not_pass(
    built: Path, tmp_path: Path
) -> None:
    sound, said = health(["no-such-program"], built, tmp_path)
    assert (sound, said) == (False, "skipped: no-such-program is not installed")
    sound, said = health([sys.executable, "-c", "raise SystemExit(3)"], built, tmp_path)
    assert (sound, said) == (False, "skipped: plain run: exit code 3")
