"""``pipeline profiles`` and ``pipeline init``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest
from conftest import GEOMETRY, Sandbox, shipped
from rich.console import Console

from pipeline.commands.profiles import show_rows
from pipeline.core.paths import Tree
from pipeline.profile.load import load_profile, parse_profile, profile_names
from pipeline.profile.template import render_profile
from pipeline.profile.workload import Command, Program, Trace
from pipeline.stages.build import tried
from pipeline.trace.read import Process

HERE = Path(__file__)


def parsed(folder: Path, text: str) -> tuple[dict[str, object], list[Command | Trace]]:
    """Return a profile's table, and those of its workloads that are not our own programs."""
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    profile = parse_profile(path)
    return tomllib.loads(text), [w for w in profile.workload if isinstance(w, Command | Trace)]


def test_each_profile_has_a_line(fresh: Sandbox) -> None:
    fresh.geometry.parent.mkdir()
    fresh.geometry.write_text(GEOMETRY, encoding="utf-8")
    code, output = fresh.run("profiles")
    assert code == 0
    lines = {line.split()[0]: line for line in output.splitlines()}
    assert set(lines) == {*profile_names(Tree.here()), "tiny"}
    assert "2 train, 3 verify" in lines["tiny"]
    assert "own geometry" in lines["tiny"]
    assert lines["tiny"].endswith("small enough for tests")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_description_stays_in_its_column(
    is_terminal: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """In 80 columns it went on in the first one, under the names."""
    described = "words that tell of the blocks " * 4
    rows = [("* shop", "12 train, 19 verify", "own geometry for amd-zen3", described.strip())]
    show_rows(rows, Console(width=80, force_terminal=is_terminal))
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("* shop 12 train, 19 verify own geometry for amd-zen3 words that")
    assert bool(others) is is_terminal
    assert all(line.startswith(" " * first.index("words")) for line in others)
    assert all(len(line) <= 80 for line in others)


def test_a_star_is_explained_where_there_is_one(fresh: Sandbox) -> None:
    assert "*" not in fresh.run("profiles")[1]
    (fresh.root / "dist" / "tiny" / "current").mkdir(parents=True)
    lines = fresh.run("profiles")[1].splitlines()
    assert [line.split()[1] for line in lines if line.startswith("*")] == ["tiny", "is"]
    assert lines[-1].startswith("* is published")


def test_a_broken_profile_hides_no_other(fresh: Sandbox) -> None:
    broken = fresh.root / "training" / "profiles" / "broken.toml"
    broken.write_text("name =\n", encoding="utf-8")
    code, output = fresh.run("profiles")
    assert (code, "broken.toml: not valid TOML" in output) == (3, True), output
    for name in ("mixed", "tiny"):
        assert re.search(rf"^  {name} ", output, re.M), output


@pytest.mark.parametrize("name", shipped())
def test_profiles_that_ship(name: str) -> None:
    profile = load_profile(Tree.here(), name)
    assert len(profile.training) >= 3
    assert len(profile.verifying) >= 4
    assert any(isinstance(w, Command) for w in profile.verifying), "a health check"
    assert any(getattr(w, "count_ops", None) for w in profile.verifying), "a counted workload"


@pytest.mark.parametrize(
    "command", [("git", "log"), ("sh", "-c", 'echo "ö\t\\" \x7f \U0001f600 #"'), ("x" * 300,)]
)
def test_any_command_makes_a_profile_that_loads(tmp_path: Path, command: tuple[str, ...]) -> None:
    table, mine = parsed(tmp_path, render_profile("mine", command))
    assert table["name"] == "mine"
    assert [w.argv for w in mine if isinstance(w, Command)] == [command, command]
    assert [w.record for w in mine if isinstance(w, Trace)] == [command]
    assert not [w for w in mine if isinstance(w, Program) and w.role == "verify"]  # no loop of ours


@pytest.mark.parametrize(("script", "counted"), [(False, True), (True, "my-server")])
def test_what_stands_in_comments_is_valid_once_the_comments_are_removed(
    tmp_path: Path, script: bool, counted: bool | str
) -> None:
    text = render_profile("mine", ("sh", "drive.sh", "7"), server="my-server" if script else None)
    bare = re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)
    assert not re.findall(r"^# +(?:\[|\w+ = )", text, flags=re.MULTILINE)
    _, mine = parsed(tmp_path, bare.replace('"7"', '"8"', 1))  # another input than in training
    trained, *_, whole, misses = (w for w in mine if isinstance(w, Command))
    assert len(trained.needs) == 2
    assert (whole.name, whole.timed, whole.counted) == ("mine-whole", True, False)
    assert whole.time_of == ("my-server" if script else None)
    assert (misses.name, misses.timed, misses.counted) == ("mine-counted", False, counted)


def test_the_server_that_a_script_is_given_is_named(fresh: Sandbox) -> None:
    """It stands in the command: nobody should have to guess what a placeholder stands for."""
    driver = fresh.root / "drive.sh"
    driver.write_text('"$@"\n', encoding="utf-8")
    for name, word in (("seen", "/bin/true"), ("unseen", "7")):
        code, output = fresh.run("init", name, "--", "sh", str(driver), word)
        assert code == 0, output
    driver.write_text('#!/usr/bin/env -S bash\n"$@"\n', encoding="utf-8")
    driver.chmod(0o755)  # the same, started by its own name
    code, output = fresh.run("init", "own", "--", str(driver), "/bin/true")
    assert code == 0, output
    folder = fresh.root / "training" / "profiles"
    for name in ("seen", "own"):
        assert '#time_of = "true"' in (folder / f"{name}.toml").read_text("utf-8")
    assert '#time_of = "my-server"' in (folder / "unseen.toml").read_text("utf-8")


def test_without_a_command_it_takes_two_recordings(tmp_path: Path) -> None:
    _, mine = parsed(tmp_path, render_profile("mine", ()))
    assert [(w.role, w.trace) for w in mine if isinstance(w, Trace)] == [
        ("train", "mine-train.trace"),
        ("verify", "mine-verify.trace"),
    ]
    assert [w.role for w in mine if isinstance(w, Command)] == ["verify"]  # else never published
    assert [bool(w.count_ops) for w in mine if isinstance(w, Trace)] == [False, True]


def test_init_says_the_next_step(fresh: Sandbox) -> None:
    code, output = fresh.run("init", "shop", "--", "sort", "--reverse", "VERSION")
    assert code == 0
    assert "pipeline build --profile shop --quick" in output
    text = (fresh.root / "training" / "profiles" / "shop.toml").read_text(encoding="utf-8")
    assert 'argv = ["sort", "--reverse", "VERSION"]' in text
    code, output = fresh.run("init", "other")
    assert code == 0
    assert "pipeline record -o other-train.trace" in output


@pytest.mark.parametrize(
    ("command", "is_told"),
    [
        (("python3", "VERSION"), True),
        (("env", "python3", "VERSION"), True),
        (("env", "PYTHONMALLOC=malloc", "python3", "VERSION"), False),
        (("sort", "VERSION"), False),
    ],
)
def test_init_tells_of_pythons_own_pools(
    fresh: Sandbox, command: tuple[str, ...], is_told: bool
) -> None:
    code, output = fresh.run("init", "shop", "--", *command)
    assert (code, "env PYTHONMALLOC=malloc python3" in output) == (0, is_told), output
    against_the_pools = f"versus libc shop:current,PYTHONMALLOC=malloc -- {' '.join(command)}\n"
    assert (against_the_pools in output) is is_told, output


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            ("sort", "VERSION"),
            r"tried once: \d+\.\d\d s, about [\d,]+ calls of malloc and free, (all|[\d,]+) of them"
            r".*\n(note: .*\n)?next: look it over, then\n",
        ),
        (
            ("sh", "-c", "echo no >&2; exit 3"),
            r"note: tried once: .* failed: sh: exit code 3\n  no\n(.*\n)+  log: build/.*\.log\n"
            r"  if the command is wrong, delete training/profiles/shop.toml and say `init` again\n"
            r"next: mend the command, look the profile over, then\n",
        ),
    ],
)
def test_init_runs_the_command_once(fresh: Sandbox, command: tuple[str, ...], told: str) -> None:
    code, output = fresh.run("init", "shop", "--", *command)
    said = rf"\nnow the command runs once, for up to 20 s; .*\n{told}"
    assert code == 0 and re.search(said, output), output


def test_init_says_that_the_command_runs_before_it_does(fresh: Sandbox) -> None:
    """Else nobody knows what it waits for, nor that ctrl-C leaves it out."""
    child = fresh.start("init", "shop", "--", "sh", "-c", "until [ -e told ]; do sleep 0.1; done")
    assert child.stdout is not None
    output = ""
    for line in child.stdout:
        output += line
        if line.startswith("now the command runs once"):
            (fresh.root / "told").touch()
    assert child.wait() == 0 and "\ntried once: " in output, output


def test_ctrl_c_leaves_that_run_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(tried, "recorder_tools", interrupted)
    trace = Trace.model_construct(name="a")
    (said,) = tried.try_once(Tree(tmp_path), "shop", trace)
    assert said.endswith("ctrl-C leaves that out")


@pytest.mark.parametrize(
    ("seconds", "calls", "notes"),
    [(0.01, 9_999, ["its start"]), (1, 9_999, ["hardly allocates"]), (1, 10_000, [])],
)
def test_a_run_that_shows_too_little_is_told(seconds: float, calls: int, notes: list[str]) -> None:
    found = [process(command="mine", about_events=calls - 1), process(about_events=1)]
    first, *others = tried.seen(seconds, found)
    assert f"about {calls:,} calls" in first and first.endswith("by 2 threads of mine")
    assert f"{calls - 1:,} of them in one process" in first
    assert len(others) == len(notes)
    assert all(word in other for word, other in zip(notes, others, strict=True))


def test_a_run_that_ended_at_once_is_told_how_it_gets_input() -> None:
    _, said, *_ = tried.seen(0.01, [process(command="mine", about_events=20_000)])
    assert "standard input is empty" in said and "`sh -c '... < FILE'`" in said


@pytest.mark.parametrize(
    ("name", "command", "notes"),
    [
        ("mktemp", ("sh", "drive.sh"), ["the busiest process is mktemp, a tool: was the server"]),
        ("sh", ("sh", "drive.sh"), ["the busiest process is sh, a tool"]),
        ("sort", ("sort", "a.txt"), ["hardly allocates"]),
        ("sed", ("sed", "p", "a.txt"), ["hardly allocates"]),
        ("notes", ("sh", "drive.sh"), ["hardly allocates"]),
    ],
)
def test_a_driver_whose_server_did_nothing_is_told(
    name: str, command: tuple[str, ...], notes: list[str]
) -> None:
    found = [process(command=name, about_events=99)]
    _, *others = tried.seen(1, found, command)
    assert all(word in other for word, other in zip(notes, others, strict=True))


def test_a_server_that_no_preload_can_reach_is_one_of_the_reasons() -> None:
    found = [process(command="rm", about_events=99)]
    _, told = tried.seen(1, found, ("sh", "drive.sh"))
    assert "without LD_PRELOAD" in told and "be static, or in Go" in told


def test_a_long_run_is_told_what_judging_takes() -> None:
    *_, said = tried.seen(12.0, [process(command="mine", about_events=10**6)])
    assert "a second of work is enough" in said and "20 runs or more: 4 min or more" in said


def test_init_shows_what_a_driver_that_ends_well_wrote_to_stderr(fresh: Sandbox) -> None:
    """A client may have failed: the build would be trained on a server that nobody asked."""
    driver = "echo first >&2; echo 'connection refused' >&2"
    code, output = fresh.run("init", "shop", "--", "sh", "-c", driver)
    assert code == 0
    told = r"wrote to stderr, at last: 'connection refused'\n  log: build/.*/init/.*\.log\n"
    assert re.search(told, output), output


def test_a_driver_that_takes_long_may_hang_or_be_slow(
    fresh: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = fresh.root / "slow.sh"
    driver.write_text("sleep 60\n", encoding="utf-8")
    monkeypatch.setattr(tried, "LIMIT_S", 0.5)
    trace = Trace.model_construct(
        name="slow", record=("sh", str(driver)), env={}, scratch=False, timeout_s=300.0
    )
    said = "\n".join(tried.try_once(Tree(fresh.root), "shop", trace))
    assert "was still running after its limit of 0.5 s (sleep had not ended)" in said
    assert "a server needs a driver that stops it (docs/tutorial.md, step 2)" in said
    assert "it is only slow" in said


def test_the_calls_of_a_single_process_are_told_once() -> None:
    (first,) = tried.seen(1, [process(command="mine", about_events=20_000)])
    assert "about 20,000 calls of malloc and free, all of them in one process" in first


def process(**told: int | str) -> Process:
    values = dict.fromkeys(Process.model_fields, 0) | {"command": "", "damage": "", "threads": 2}
    return Process.model_validate(values | told)


def test_init_notes_a_whole_path_that_is_not_there(fresh: Sandbox) -> None:
    code, output = fresh.run("init", "kv", "--", "echo", "/no/such/kvd", str(HERE), "--no/path")
    assert (code, output.count("note: there is no")) == (0, 1), output
    assert "note: there is no /no/such/kvd\n" in output


def test_init_names_the_file_that_lies_near_one_that_is_not_there(
    fresh: Sandbox, tmp_path: Path
) -> None:
    """The hint was: give its path. That was done."""
    for name in ("kvd-server", "drive.sh"):
        (tmp_path / name).touch(mode=0o755)
    for words, near in (
        ((f"{tmp_path}/kvd-serve",), "kvd-server"),
        (("sh", f"{tmp_path}/driv.sh"), "drive.sh"),
    ):
        code, output = fresh.run("init", "kv2", "--", *words)
        assert code == 2 and "no such file" in output
        assert f"did you mean {tmp_path}/{near}?" in output
    _, output = fresh.run("init", "kv2", "--", f"{tmp_path}/nope")
    assert f"nope is not in {tmp_path}" in output


@pytest.mark.parametrize("server", ["no-server.py", "./no-server", "/no/such/server"])
def test_init_refuses_a_driver_whose_server_is_not_there(fresh: Sandbox, server: str) -> None:
    driver = fresh.root / "drive.sh"
    driver.write_text('test -e "$1" || exit 3\n', encoding="utf-8")
    code, output = fresh.run("init", "new", "--", "sh", str(driver), server)
    assert code == 2 and f"there is no file {server}, and the command fails" in output, output
    assert "what to do: give the path of a file that is there, or compile it first" in output
    assert "next:" not in output
    assert not (fresh.root / "training" / "profiles" / "new.toml").exists()


def test_init_takes_a_file_that_the_command_makes(fresh: Sandbox, tmp_path: Path) -> None:
    made = str(tmp_path / "made.txt")
    assert fresh.run("init", "new", "--", "sort", "-o", made, "VERSION")[0] == 0
    assert (fresh.root / "training" / "profiles" / "new.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("init",), 2, "Missing argument"),
        (("init", "Big Name"), 2, "not a valid name for a profile"),
        (("init", "../evil"), 2, "not a valid name for a profile"),
        (("init", "tiny"), 2, "edit it, delete it, or choose another name"),
        (("init", "new", "--", "no-such-program"), 2, "there is no program no-such-program"),
        (("init", "new", "--", "./no/program"), 2, "there is no program ./no/program"),
        (("init", "new", "--", "./no/program"), 2, "a name without / is looked up in PATH"),
        (("init", "new", "--", str(HERE)), 2, "is not executable"),
        (("init", "new", "--", "ls", "a\udcff"), 2, r"'a\udcff' is not UTF-8, and a profile"),
        (("init", "new", "--", "sh", "no-script.sh"), 2, "sh is to run no-script.sh, and there is"),
        (("init", "new", "--force", "--", "ls"), 2, "`.venv/bin/pipeline init --help` shows what"),
        (("init", "new", "--help"), 0, "Write a commented profile NAME"),
    ],
)
def test_bad_wishes(fresh: Sandbox, arguments: tuple[str, ...], code: int, words: str) -> None:
    assert fresh.run(*arguments)[0] == code
    assert words in fresh.run(*arguments)[1]
    assert not (fresh.root / "training" / "profiles" / "new.toml").exists()
