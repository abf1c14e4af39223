"""The command line without building anything: help, messages, exit codes."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pipeline.cli import MEANT, MODULES, _guarded, cli
from pipeline.commands.diff import judged
from pipeline.core.errors import BuildError, BuildInterrupted, GateError, JudgementInterrupted
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import from_here

ROOT = Path(__file__).resolve().parents[2]


def pipeline(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:

    return subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )


def test_help_names_the_commands() -> None:
    done = pipeline("--help")
    assert done.returncode == 0
    for command in ("build", "test", "doctor", "list", "rollback", "layout", "verify", "bundle"):
        assert command in done.stdout


def test_a_word_for_a_command_gets_the_command_that_is_meant() -> None:
    """The nearest spelling of `run` is `prune`, which removes versions."""
    assert not MEANT.keys() & MODULES.keys()
    for word in ("run", "check", "top", "metrics"):
        done = pipeline(word, "--", "true")
        assert done.returncode == ExitCode.USAGE
        assert f"bin/hakmem {word}`" in done.stderr
    done = pipeline("remove", "-p", "mixed")
    assert "`prune`" in done.stderr and "`uninstall`" in done.stderr


def test_help_is_quick_because_it_imports_no_package_but_click() -> None:
    said = (
        "import sys; old = {*sys.modules}; from pipeline.cli import cli\n"
        "[*cli.commands.values()]; print(*{*sys.modules} - old)"
    )
    done = subprocess.run([sys.executable, "-c", said], cwd=ROOT, capture_output=True, text=True)
    packages = {name.partition(".")[0] for name in done.stdout.split()}
    assert packages - sys.stdlib_module_names == {"click", "pipeline"}, done.stderr


def test_a_command_imports_no_other_ones_module() -> None:
    """A build with nothing to do is mostly imports."""
    said = "import sys; from pipeline.cli import cli; cli.commands['build']; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], cwd=ROOT, capture_output=True, text=True)
    loaded = {name for name in done.stdout.split() if name.startswith("pipeline.commands.")}
    own = {
        f"pipeline.commands.{name}" for name in ("build", "duration", "options", "profile_options")
    }
    assert loaded == own, done.stderr


def commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    for child, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{name}{child} ")
        yield f"{name}{child}", command


@pytest.mark.parametrize(("name", "command"), [*commands(cli)])
def test_examples_in_help_have_lines_of_their_own(name: str, command: click.Command) -> None:
    text = command.get_help(click.Context(command, info_name=name))
    assert "\\b" not in text
    examples = re.findall(r"^ *Examples:(.*)$", text, re.M)
    assert all(rest == "" for rest in examples), text


@pytest.mark.parametrize(("name", "command"), [*commands(cli)])
def test_help_fits_80_columns_and_its_examples_can_be_pasted(
    name: str, command: click.Command
) -> None:
    """An apostrophe in a remark without a # left the shell waiting for the other one."""
    text = command.get_help(click.Context(command, info_name=name, terminal_width=80))
    assert [line for line in text.splitlines() if len(line) > 80] == []
    examples = re.findall(r"^ +(?:pipeline|\.ci/review) .*$", text, re.M)
    assert [line for line in examples if re.search(r"\S {2,}[^# ]", line)] == []


@pytest.mark.parametrize(
    ("name", "group"),
    [("", cli), *(row for row in commands(cli) if isinstance(row[1], click.Group))],
)
def test_each_command_is_summed_up_in_one_line(name: str, group: click.Command) -> None:
    text = group.get_help(click.Context(group, info_name=name, terminal_width=80))
    assert "..." not in text.partition("Commands:")[2], text


def in_shell(line: str) -> subprocess.CompletedProcess[str]:
    shell = ["bash", "-o", "pipefail", "-c", line, sys.executable]
    return subprocess.run(shell, cwd=ROOT, capture_output=True, text=True)


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    done = in_shell("$0 -m pipeline profiles | true")
    assert (done.returncode, done.stderr) == (0, "")


def test_work_goes_on_when_its_reader_has_seen_enough() -> None:
    code = (
        "from pipeline.core.console import open_console; console = open_console()\n"
        "for number in range(100_000): console.say('a line')\n"
        "import sys; sys.exit(3)"
    )
    done = in_shell(f"$0 -c {shlex.quote(code)} | true")
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.parametrize("module", ["pipeline.cli", "pipeline.commands.profiles", "click"])
def test_ctrl_c_is_told_also_while_modules_are_loaded(module: str, tmp_path: Path) -> None:
    """Under load that takes seconds."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n",
        encoding="utf-8",
    )
    heeding = ["env", "--default-signal=INT", sys.executable, "-m", "pipeline", "profiles"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(heeding, cwd=ROOT, env=env, capture_output=True, text=True)
    said = done.stderr.lstrip("\n")  # click ends the line of a ^C
    assert (done.returncode, said) == (ExitCode.INTERRUPTED, "error: interrupted\n")


def test_what_a_full_disk_refuses_is_told_once() -> None:
    """Python tried again at its end, and made the exit code 120."""
    done = in_shell("PYTHONUNBUFFERED= $0 -m pipeline profiles >/dev/full")
    assert (done.returncode, done.stderr.count("No space left")) == (ExitCode.SPACE, 1)


def test_a_mistake_has_its_exit_code_also_where_nobody_can_be_told() -> None:
    assert in_shell("$0 -m pipeline nosuch 2>&-").returncode == ExitCode.USAGE


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sample --pid 1 --seconds nan", "'nan' is not a number"),
        ("learn --pid 1 --every nan", "'nan' is not a number"),
        ("versus libc libc --pairs 100002 -- true", "is not an even number from 10 to 100,000"),
    ],
)
def test_what_can_be_no_value_is_refused(line: str, said: str) -> None:
    done = pipeline(*line.split())
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("name", ["x" * 300, "..", "../dist", "a/b"])
def test_what_can_be_no_profile_is_an_unknown_one(name: str) -> None:
    done = pipeline("history", "--profile", name)
    assert done.returncode == ExitCode.PROFILE, done.stderr
    assert f"unknown profile {name!r}" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("-m pipeline heap FILE", ExitCode.DATA, "FILE is no heap profile"),
        ("-m pipeline learn --dry-run --stats FILE", ExitCode.USAGE, "FILE is no statistics"),
        ("-m operate run --library FILE -- true", ExitCode.SPACE, "the system gives no more"),
    ],
)
def test_a_file_that_is_larger_than_memory_is_told(
    tmp_path: Path, words: str, code: ExitCode, said: str
) -> None:
    huge = tmp_path / "huge"
    huge.touch()
    os.truncate(huge, 1 << 40)
    done = in_shell(f"ulimit -v 8000000; exec $0 {words.replace('FILE', str(huge))}")
    assert done.returncode == code, done.stderr
    assert said.replace("FILE", str(huge)) in done.stderr


@pytest.mark.parametrize("start", ["pipeline.cli import main", "operate.cli import main"])
def test_a_folder_that_was_removed_is_told(tmp_path: Path, start: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {start}; main()"
    line = f"cd {tmp_path} && rmdir {tmp_path} && exec $0 -P -c {shlex.quote(code)} run -- true"
    done = in_shell(line)
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert done.stderr.startswith("error: the folder that you are in was removed\n"), done.stderr


def test_a_copy_to_a_full_disk_names_that_disk(capsys: pytest.CaptureFixture[str]) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "build/a", None, "dist/a")

    assert _guarded(full) == ExitCode.SPACE
    assert "no space left on the disk of dist/a" in capsys.readouterr().err


def test_a_file_whose_name_is_no_text_is_named_all_the_same(tmp_path: Path) -> None:
    odd = tmp_path / "a\udcff"
    odd.write_bytes(Path(sys.executable).read_bytes())
    done = pipeline("verify", str(odd), PYTHONIOENCODING="utf-8:strict")
    assert done.stdout.startswith(f"{tmp_path}/a\\udcff\n"), done.stderr


@pytest.mark.parametrize(("command", "meant"), [("record", "--sites"), ("init", "--help")])
def test_a_misspelt_option_is_not_taken_for_the_command(command: str, meant: str) -> None:
    done = pipeline(command, meant[:-1], "shop", "--", "true")
    assert done.returncode == ExitCode.USAGE
    assert f"Did you mean {meant!r}" in done.stderr


@pytest.mark.parametrize("line", ["trace info no-such.trace", "heap no-such.heap"])
def test_a_file_that_is_not_there_leads_to_its_path(line: str) -> None:
    done = pipeline(*line.split())
    assert done.returncode == ExitCode.USAGE
    name = line.rpartition(" ")[2]
    assert f"'{name}' does not exist" in done.stderr
    assert f"what to do: look at the path of the file: {name} is not in {ROOT}\n" in done.stderr


def test_the_nearest_file_is_named_where_one_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "app.trace").touch()
    done = pipeline("trace", "info", f"{tmp_path}/ap.trace")
    assert f"did you mean {tmp_path}/app.trace?" in done.stderr


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("build --profile", "`.venv/bin/pipeline build --help` shows what it takes"),
        ("build mixed", "did you mean `.venv/bin/pipeline build --profile mixed`?"),
        (
            "build mixd",
            "`.venv/bin/pipeline build --help` shows what it takes: a profile as `-p NAME`",
        ),
        (
            "reject 0.2 slow",
            "`.venv/bin/pipeline reject --help` shows what it takes: "
            "a profile as `-p NAME`, a reason as `--reason TEXT`",
        ),
        ("--nope", "`.venv/bin/pipeline --help` shows what it takes"),
        (
            "--profile mixed build --quick",
            "put `--profile` behind `build`: it is an option of `.venv/bin/pipeline build`",
        ),
        ("--profile mixed doctor", "`.venv/bin/pipeline --help` shows what it takes"),
        ("experiment new cache mine", "take one of these"),
        (
            "rollback 0.2",
            "`.venv/bin/pipeline rollback --help` shows what it takes: "
            "a profile as `-p NAME`, a version as `--to NAME`",
        ),
    ],
)
def test_a_mistake_leads_to_the_help_of_its_command(line: str, hint: str) -> None:
    done = pipeline(*line.split())
    assert done.returncode == ExitCode.USAGE
    assert f"what to do: {hint}\n" in done.stderr


def test_a_mistake_is_told_also_where_no_tree_is(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline")
    words = [sys.executable, "-m", "pipeline", "build", "mixed"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == ExitCode.USAGE
    assert "what to do: `.venv/bin/pipeline build --help` shows what it takes" in done.stderr


def test_version_is_that_of_the_project() -> None:
    done = pipeline("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"pipeline {(ROOT / 'VERSION').read_text().strip()}\n"


@pytest.mark.parametrize("arguments", [["biuld"], ["build", "--nope"], ["build", "--from", "moon"]])
def test_wrong_command_lines_are_usage_errors(arguments: list[str]) -> None:
    done = pipeline(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert "Traceback" not in done.stderr


def test_unknown_profile() -> None:
    done = pipeline("build", "--profile", "mixd")
    assert done.returncode == ExitCode.PROFILE
    assert "unknown profile 'mixd'" in done.stderr
    assert "did you mean --profile mixed?" in done.stderr


def test_missing_tool_is_named(tools_folder: Callable[..., Path]) -> None:
    folder = tools_folder(without=("llvm-bolt",))
    done = pipeline("build", HAKMEM_LLVM=str(folder))
    assert done.returncode == ExitCode.TOOL
    assert f"{folder} lacks llvm-bolt" in done.stderr
    assert "bootstrap doctor" in done.stderr


def test_old_tool_is_refused(tools_folder: Callable[..., Path]) -> None:
    folder = tools_folder(clang="echo clang version 14.0.6")
    done = pipeline("build", HAKMEM_LLVM=str(folder))
    assert done.returncode == ExitCode.TOOL
    assert "is version 14; 19 or newer is needed" in done.stderr


def test_broken_tool_is_named(tools_folder: Callable[..., Path]) -> None:
    folder = tools_folder(**{"llvm-profdata": "exit 7"})
    done = pipeline("build", HAKMEM_LLVM=str(folder))
    assert done.returncode == ExitCode.TOOL
    assert "llvm-profdata does not run" in done.stderr


def test_doctor_tells_what_is_missing(tools_folder: Callable[..., Path]) -> None:
    done = pipeline("doctor", HAKMEM_LLVM=str(tools_folder(without=("ld.lld",))), COLUMNS="200")
    assert done.returncode == ExitCode.TOOL
    assert "lacks ld.lld" in done.stdout
    assert "apt-get install" in done.stdout


def test_doctor_is_content_here() -> None:
    done = pipeline("doctor")
    assert done.returncode == 0, done.stdout
    assert "everything a build needs is there" in done.stdout
    begins = {line[:2] for line in done.stdout.splitlines()}
    assert ("- " in begins) == ("- is no fault" in done.stdout)


def test_completion_knows_profiles() -> None:
    done = pipeline(
        _PIPELINE_COMPLETE="bash_complete", COMP_WORDS="pipeline build --profile m", COMP_CWORD="3"
    )
    assert "plain,mixed" in done.stdout.splitlines()


@pytest.mark.parametrize("command", ["import", "record -o a.trace --", "init shop", "trace info"])
def test_completion_leaves_files_to_the_shell(command: str) -> None:
    words = f"pipeline {command} VER"
    count = str(len(words.split()) - 1)
    done = pipeline(_PIPELINE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=count)
    assert done.stdout.splitlines() == ["file,VER"]


def fail_with(error: BaseException) -> int:
    def action() -> None:
        raise error

    return _guarded(action)


def test_unforeseen_error_is_one_line_and_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    error = RuntimeError("the moon fell")
    error.add_note("on a\udcff")
    assert fail_with(error) == ExitCode.INTERNAL
    said = capsys.readouterr().err
    assert "unexpected RuntimeError: the moon fell" in said
    assert "Traceback" not in said
    log = Path(said.split("log: ")[1].strip())
    assert "RuntimeError: the moon fell\non a\\udcff" in log.read_text(encoding="utf-8")
    log.unlink()


def test_a_log_below_the_current_folder_is_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for log, said in ((tmp_path / "logs" / "a.log", "logs/a.log"), (Path("/b.log"), "/b.log")):
        fail_with(BuildError("no", hint="mend it", log=log))
        assert capsys.readouterr().err.endswith(f"  log: {said}\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert from_here(tmp_path / "a.log") == str(tmp_path / "a.log")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (BuildInterrupted(), ExitCode.INTERRUPTED, "goes on from the last good stage"),
        (JudgementInterrupted(), ExitCode.INTERRUPTED, "nothing of this judgement is kept"),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "error: interrupted"),
        (OSError(28, "No space left on device", "x"), ExitCode.SPACE, "left on the disk of x: "),
        (
            GateError("clang: No space left on device"),
            ExitCode.SPACE,
            f"left on the disk of {ROOT}: clang",
        ),
        (OSError(30, "Read-only file system", "x"), ExitCode.SPACE, "file system can only be read"),
        (OSError(20, "Not a directory", "x"), ExitCode.SPACE, "part of its path is a file"),
        (PermissionError(13, "Permission denied", "y"), ExitCode.SPACE, "cannot write y"),
        (OSError(36, "File name too long", "z" * 400), ExitCode.USAGE, f"use {'z' * 300}...: File"),
        (FileExistsError(17, "File exists", "w"), ExitCode.USAGE, "cannot use w: File exists"),
        (MemoryError(), ExitCode.SPACE, "error: the system gives no more memory"),
        (OSError(5, "Input/output error"), ExitCode.SPACE, "cannot read or write a file: Input"),
        (GateError("not published"), ExitCode.GATE, "result: not published"),
    ],
)
def test_errors_become_codes(
    error: BaseException, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail_with(error) == code
    assert words in capsys.readouterr().err


def test_only_a_build_is_said_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    for error, is_build in ((KeyboardInterrupt(), False), (BuildInterrupted(), True)):
        aborted = click.Abort()  # what click makes of any interrupt
        aborted.__cause__ = error
        fail_with(aborted)
        assert ("stage" in capsys.readouterr().err) == is_build


def test_an_interrupted_judgement_of_two_versions_promises_no_stage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        raise BuildInterrupted

    monkeypatch.setattr("pipeline.commands.workshop.open_workshop", lambda *_, **__: nullcontext())
    monkeypatch.setattr("pipeline.stages.proof.direct.judge_directly", interrupted)
    with pytest.raises(JudgementInterrupted):
        judged("mixed", Path("older.so"), Path("newer.so"), quick=True)


def test_a_misspelt_stage_is_told_which_one_is_close_and_all_there_are() -> None:
    done = pipeline("build", "--from", "verfy")
    assert done.returncode == ExitCode.USAGE
    assert "there is no 'verfy' among baseline, " in done.stderr
    assert "did you mean verify?" in done.stderr


def test_a_scheduler_without_a_port_is_refused_at_once() -> None:
    """Dask took a minute for that, and ended with a traceback."""
    for typed, said in (("farm", "is no address"), ("locl", "did you mean local?")):
        line = ["tune", "--tune-budget", "30s", "--scheduler", typed]
        done = CliRunner().invoke(cli, line)
        assert done.exit_code == ExitCode.USAGE and said in done.output
