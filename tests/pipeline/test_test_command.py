"""``pipeline test`` itself: its exit code, its summary, and that it leaves nothing out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.commands import suites, suites_run
from pipeline.commands.suites import BESIDE, PRESETS_CLANG, SUITES, VARIANTS, Step, c_sources, steps
from pipeline.commands.suites_run import Outcome, _failure, run_all, run_suite, summarise
from pipeline.commands.test import run_suites
from pipeline.core.console import BuildConsole, open_console
from pipeline.core.paths import Tree
from pipeline.core.process import WORDS

ROOT = Path(__file__).resolve().parents[2]
GOOD, BAD = (sys.executable, "-c", "print('fine')"), (sys.executable, "-c", "print('oh'); exit(3)")


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("suite", SUITES)
def test_each_suite_has_commands(suite: str, full: bool) -> None:
    assert steps(suite, ROOT, full)


@pytest.mark.parametrize("suite", ["clang", "gcc", "guard", "research", "fuzz", "pytest"])
def test_test_runners_show_what_they_do(suite: str) -> None:
    assert steps(suite, ROOT)[-1].shown


def words(suite: str, full: bool) -> list[str]:
    return [str(word) for step in steps(suite, ROOT, full) for word in step.argv]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_run_the_test_programs_of_the_clang_build(variant: str) -> None:
    said = words(variant, False)
    assert f"-DHAKMEM_TEST_PROGRAMS={ROOT / 'build' / 'clang'}" in said
    assert said[:3] == ["cmake", "--preset", "clang"]  # it may be the only suite that is asked for


@pytest.mark.parametrize("suite", ["clang", "gcc", "guard", "pytest"])
def test_full_leaves_nothing_out(suite: str) -> None:
    assert not {"-L", "-LE", "-m"} & {*words(suite, True)[3:]}
    assert {"-LE", "-m"} & {*words(suite, False)[3:]}


@pytest.mark.parametrize(
    ("only", "full", "runs"),
    [((), False, False), ((), True, True), (("fuzz",), False, True), (("ruff",), True, False)],
)
def test_the_fuzzer_runs_with_full_or_when_it_is_named(
    only: tuple[str, ...], full: bool, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[str] = []

    def note(todo: dict[str, list[Step]], _tree: Tree, _console: BuildConsole) -> list[Outcome]:
        chosen.extend(todo)
        return []

    monkeypatch.setattr("pipeline.commands.test.run_all", note)
    run_suites(only, open_console(False), full)
    assert ("fuzz" in chosen) is runs


@pytest.mark.parametrize("full", [False, True])
def test_what_only_clang_tests_otherwise_is_switched_by_full(full: bool) -> None:
    state = "ON" if full else "OFF"
    parts = {f"-DHAKMEM_TEST_{part}={state}" for part in ("SANITIZERS", "CUTS")}
    assert parts <= {*words("gcc", full)}
    assert f"-DHAKMEM_TEST_CUT_SANITIZERS={state}" in words("clang", full)


@pytest.mark.parametrize(("marker", "chosen"), [("slow", False), ("e2e", False), ("none", True)])
def test_the_marks_of_slow_tests_are_those_that_are_left_out(marker: str, chosen: bool) -> None:
    expression = words("pytest", False)[-1]
    assert eval(expression, {name: name == marker for name in ("slow", "e2e")}) is chosen
    assert f'"{marker}: ' in (ROOT / "pyproject.toml").read_text(encoding="utf-8") or chosen


def test_warnings_are_errors_in_both_compilers() -> None:
    assert '"HAKMEM_WERROR": "ON"' in (ROOT / "CMakePresets.json").read_text(encoding="utf-8")


def test_a_tree_that_was_set_up_by_a_preset_is_not_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler of the presets stays, unless another LLVM was found or asked for."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    (preset,) = (one for one in presets["configurePresets"] if one["name"] == "clang")
    assert preset["cacheVariables"]["CMAKE_C_COMPILER"] == PRESETS_CLANG
    for folder in ("llvm", "bin", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "clang").write_text("#!/bin/sh\n", encoding="utf-8")
    named = tmp_path / "bin" / PRESETS_CLANG
    monkeypatch.setattr(suites, "llvm", (tmp_path / "llvm").joinpath)
    monkeypatch.setattr("shutil.which", lambda _: str(named))
    named.symlink_to(tmp_path / "llvm" / "clang")
    assert suites.clang() == PRESETS_CLANG
    monkeypatch.setattr(suites, "llvm", (tmp_path / "other").joinpath)
    assert suites.clang() == tmp_path / "other" / "clang"


def test_all_c_folders_are_looked_at() -> None:
    tops = {path.relative_to(ROOT).parts[0] for path in c_sources(ROOT)}
    assert tops == {"allocator", "bench", "training", "tests"}


def test_failure_stops_the_suite_and_shows_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    todo = [Step(GOOD), Step(BAD), Step(("touch", tmp_path / "never"))]
    outcome = run_suite("x", todo, Tree(tmp_path))
    assert "exit code 3" in outcome.failed
    many = Step(("pytest", *(f"test_{number}.py" for number in range(9))))
    assert _failure(many, 1).endswith("test_7.py test_8.py")
    styled = Step(("clang-format",), mend="clang-format -i FILE...")
    assert _failure(styled, 1).endswith("to mend it: clang-format -i FILE...")
    assert not (tmp_path / "never").exists()
    assert capsys.readouterr().out == "oh\n\n"


@pytest.mark.parametrize("shown", [False, True])
def test_a_long_command_is_cut_in_the_summary(shown: bool, tmp_path: Path) -> None:
    """A build of 130 targets pushed the words of the compiler off the screen."""
    step = Step((*BAD, *(f"target_{number}" for number in range(130))), shown=shown)
    failed = run_suite("x", [step], Tree(tmp_path)).failed
    assert failed.startswith("exit code 3: ") and "target_0 " in failed
    assert len(failed) < 2 * WORDS + len(str(tmp_path)) and "target_129" not in failed
    if shown:
        assert failed.endswith(" ...\nall of it: shown with -v")
    else:
        log = Path(failed.rpartition("all of it: ")[2])
        assert "target_129" in log.read_text(encoding="utf-8")


def test_a_quiet_step_that_takes_long_says_that_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The build of a variant printed nothing for minutes."""
    monkeypatch.setattr("pipeline.commands.suites_run.REMINDED_S", 0.1)
    run_suite("x", [Step(("sleep", "1"))], Tree(tmp_path))
    assert "still at it, for 0 s now: sleep 1\n" in capsys.readouterr().out


def test_success_is_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_suite("x", [Step(GOOD)], Tree(tmp_path)).failed == ""
    assert capsys.readouterr().out == ""


def in_turn(tmp_path: Path, beside: tuple[str, ...]) -> list[Outcome]:
    """Run a suite that waits for the one beside it to begin, and says so."""
    begun = f"import pathlib, time\nwhile not pathlib.Path({str(tmp_path / 'begun')!r}).exists():\n"
    waits = Step((sys.executable, "-c", f"{begun}    time.sleep(0.01)\nprint('waited')", "x"))
    todo = {"ruff": [waits], BESIDE: [Step(beside, shown=True)]}
    return run_all(todo, Tree(tmp_path), open_console(False))


def test_pytest_runs_beside_the_others_and_is_shown_last(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = in_turn(tmp_path, ("sh", "-c", f"touch {tmp_path}/begun; echo said; exit 3"))
    assert [(one.suite, one.failed.replace(" \\\n ", "")) for one in found] == [
        ("ruff", ""),
        (BESIDE, f"exit code 3: sh -c 'touch {tmp_path}/begun; echo said; exit 3'"),
    ]
    assert capfd.readouterr().out.count("said\n") == 1


def test_pytest_alone_is_shown_as_it_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    todo = {BESIDE: [Step(("echo", "said"), shown=True)]}
    (found,) = run_all(todo, Tree(tmp_path), open_console(False))
    assert (found.suite, found.failed) == (BESIDE, "")
    assert "said\n" in capfd.readouterr().out
    assert not list(tmp_path.rglob(f"{BESIDE}.log"))


def test_what_runs_beside_does_not_outlive_an_interrupt(tmp_path: Path) -> None:
    from pipeline.core.beside import running_beside

    log = tmp_path / "log"
    with (
        pytest.raises(KeyboardInterrupt),
        running_beside(["sh", "-c", "echo $$; sleep infinity"], log=log) as child,
    ):
        while not log.read_text(encoding="utf-8"):
            continue
        raise KeyboardInterrupt
    assert not Path(f"/proc/{log.read_text(encoding='utf-8').strip()}").exists()
    assert child.finish(lambda _: None)[0] == -9


def test_summary_has_a_line_per_suite(capsys: pytest.CaptureFixture[str]) -> None:
    summarise([Outcome("ruff", 1.0, 0.5), Outcome("gcc", 2.0, 3.0, "exit code 8: ctest")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4].split() == ["ruff", "1.0", "s", "0.5", "s", "of", "processors", "passed"]
    assert lines[-3].endswith(" s of processors  FAILED")
    assert lines[-2] == "    exit code 8: ctest"
    assert lines[-1].split() == ["all", "3.5", "s", "of", "processors"]


def test_the_summary_of_a_failed_suite_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Its one line had the whole command in it and was up to 180 columns wide."""
    for suite in SUITES:
        words = ("python", "-m", "pytest", *(f"--option-{number}=10" for number in range(30)))
        summarise([Outcome(suite, 1000.0, 1000.0, _failure(Step(words, mend="mend it"), 8))])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_a_command_of_several_lines_can_be_pasted() -> None:
    words = ["echo", *(f"a word {number}" for number in range(20))]
    said = _failure(Step(tuple(words[:12])), 8).removeprefix("exit code 8: ")
    assert " \\\n" in said
    done = subprocess.run(["sh", "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == f"{' '.join(words[1:12])}\n"


def test_each_suite_counts_its_own_processor_time_also_beside_others(tmp_path: Path) -> None:
    """What runs beside has ended long before the other suite does, and counts by itself."""
    busy = "import time\nwhile time.process_time() < 1.1: pass"
    found = in_turn(
        tmp_path, (sys.executable, "-c", f"{busy}\nopen({str(tmp_path / 'begun')!r}, 'w')")
    )
    assert 0 < found[0].cpu_s < 1 < found[1].cpu_s


def test_a_failed_test_is_named_as_it_fails(tmp_path: Path) -> None:
    """The second test reads what pytest has written of the first."""
    log, test = tmp_path / "log", tmp_path / "test_x.py"
    test.write_text(
        "import pathlib\ndef test_a(): assert 0\n"
        f"def test_b(): print(pathlib.Path({str(log)!r}).read_text()); assert 0\n",
        encoding="utf-8",
    )
    with log.open("wb") as out:
        words = [sys.executable, "-u", "-m", "pytest", "-q", *suites.NAMING, str(test)]
        subprocess.run(words, cwd=ROOT, stdout=out, check=False)
    text = log.read_text(encoding="utf-8")
    assert re.search(r"Captured stdout call -+\nF?\s*FAILED \S*test_x.py::test_a\n", text), text


def test_failures_of_what_ran_beside_are_named_at_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Outcome:
        while not any(path.read_text() for path in tmp_path.rglob(f"{BESIDE}.log")):
            continue
        raise KeyboardInterrupt

    monkeypatch.setattr(suites_run, "_run_one", interrupted)
    beside = Step(("sh", "-c", "echo 'FAILED a.py::b'; sleep infinity"), shown=True)
    with pytest.raises(KeyboardInterrupt):
        run_all({"ruff": [Step(GOOD)], BESIDE: [beside]}, Tree(tmp_path), open_console(False))
    assert "FAILED a.py::b\n" in capsys.readouterr().out


def test_what_is_shown_says_its_last_words_when_another_signal_ends_us() -> None:
    """A child that prints at SIGINT, as pytest does, and that would go on for ever."""
    child = "trap 'echo last words; exit 2' INT; echo begun; while :; do sleep 0.1; done"
    ours = (
        "from pipeline.core import interrupts\nfrom pipeline.core.process import run_visible\n"
        f"interrupts.install()\nrun_visible(['sh', '-c', {child!r}])"
    )
    words = [sys.executable, "-c", ours]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as us:
        assert us.stdout is not None and us.stdout.readline() == "begun\n"
        us.terminate()
        assert us.stdout.read() == "last words\n"


@pytest.mark.parametrize(
    ("quick", "suites_run_then"), [(True, ["clang"]), (False, ["clang", BESIDE])]
)
def test_the_quick_loop_leaves_pytest_out_where_a_compiler_refuses_the_sources(
    quick: bool, suites_run_then: list[str], tmp_path: Path
) -> None:
    refused = Step(("cmake", "--build", str(tmp_path / "nothing")))
    todo = {"clang": [refused], BESIDE: [Step(("true",), shown=True)]}
    found = run_all(todo, Tree(tmp_path), open_console(False), quick=quick)
    assert [one.suite for one in found] == suites_run_then
    assert found[0].failed and found[0].unbuilt
