"""A program that is another one in the user's PATH than in a build is named, with both places."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY, Sandbox

from pipeline.commands import doctor
from pipeline.core.console import open_console
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.profile.load import parse_profile
from pipeline.stages.build.configure import configure
from pipeline.stages.build.programs import (
    SCRIPT_BYTES,
    differing_programs,
    find_program,
    starts_others,
    unlike_in_builds,
)
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.toolchain.find import find_toolchain

BUILDS = find_program("sort")


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called sort in front of the PATH, as pyenv has one called python3."""
    path = tmp_path / "shims" / "sort"
    path.parent.mkdir()
    path.write_text('#!/bin/sh\nexec pyenv exec "${0##*/}" "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    return path


def test_a_program_of_the_command_or_of_its_script_is_told(shim: Path, tmp_path: Path) -> None:
    script = tmp_path / "driver.sh"
    script.write_text("#!/bin/sh\nseq 9 | sort -r\n", encoding="utf-8")
    script.chmod(0o755)
    said = (
        f"sort: a build runs {BUILDS}, not {shim}, which your PATH has first; "
        f"to have that one, write {shim}"
    )
    command, in_script = [f"{said} into the {where}" for where in ("command", "script")]
    assert differing_programs(["sort", "-r"]) == [command]
    assert differing_programs(["env", "LC_ALL=C", "sort"]) == [command]
    assert differing_programs(["sh", "-c", "seq 9|sort -r; sort x"]) == [in_script]
    assert differing_programs(["sh", str(script), "x" * 5000]) == [in_script]
    assert differing_programs([str(script)]) == [in_script]


def test_the_environment_of_the_pipeline_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """CONTRIBUTING has it activated, and nobody named its python3."""
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:/usr/bin:/bin")
    assert differing_programs(["python3", "-c", "1"]) == []


def test_a_program_that_is_the_same_is_not(shim: Path) -> None:
    assert differing_programs([]) == []
    assert differing_programs(["seq", "9"]) == []
    assert differing_programs([str(shim)]) == []
    assert differing_programs(["sh", "-c", f"{BUILDS} -r"]) == []
    assert differing_programs(["sh", sys.executable]) == []


@pytest.mark.usefixtures("shim")
def test_a_program_is_not_searched_for_words(tmp_path: Path) -> None:
    """A real one, with the name as a word in it; its own name is still looked at."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("there is no compiler of C")
    source, program = tmp_path / "driver.c", tmp_path / "driver"
    source.write_text(
        '#include <stdio.h>\nint main(void) { return puts("usage: sort FILE") < 0; }\n',
        encoding="utf-8",
    )
    subprocess.run([compiler, "-o", program, source], check=True)
    assert b"sort" in program.read_bytes()[:SCRIPT_BYTES]
    assert differing_programs(["sh", "-c", str(program)]) == []
    assert differing_programs(["env", str(program), "x"]) == []
    assert len(differing_programs(["env", str(program), "sort"])) == 1


def test_a_shells_script_starts_others_and_python_does_not(tmp_path: Path) -> None:
    script = tmp_path / "script"
    for first, others in (
        ("#!/bin/sh -e", True),
        ("#! /usr/bin/env bash", True),
        ("#!/usr/bin/env python3", False),
        ("#!/usr/bin/env", False),
        ("echo", False),
    ):
        script.write_text(f"{first}\n", encoding="utf-8")
        script.chmod(0o755)
        assert starts_others(str(script)) is others, first
    assert starts_others("sh")
    assert not starts_others("true")
    assert not starts_others("/nowhere/drive.sh")


def test_init_tells_it(shim: Path, fresh: Sandbox) -> None:
    code, output = fresh.run("init", "mine", "--", "sort", "--version")
    assert code == 0, output
    assert f"note: sort: a build runs {BUILDS}, not {shim}, which your PATH has first" in output


def test_versus_tells_which_one_it_times(shim: Path, fresh: Sandbox) -> None:
    """A shim of pyenv starts some thirty processes, each with the library: its NO-GO was theirs."""
    said = f"sort: this runs {shim}, which your PATH has first; a build runs {BUILDS}: to have that"
    assert unlike_in_builds(["sort", "-r"]) == [f"{said} one, write {BUILDS} into the command"]
    code, output = fresh.run("versus", "libc", "libc", "--pairs", "10", "--", "sort", "--version")
    assert f"note: {said}" in output, (code, output)


def test_a_build_tells_what_it_runs_and_counts(
    shim: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tiny.toml"
    more = '[[workload]]\nname = "own"\nkind = "command"\nrole = "verify"\ncounted = true\n'
    learnt = '[[workload]]\nname = "learnt"\nkind = "command"\nrole = "train"\n'
    learnt += 'argv = ["seq", "9"]\nweight = 1\n'
    again = '[[workload]]\nname = "again"\nkind = "trace"\nrole = "verify"\nrecord = ["seq", "9"]\n'
    again += 'ops = "1k"\nquick_ops = "1k"\nweight = 1\n'
    own = f'{more}argv = ["sh", "-c", "true"]\n'
    path.write_text("\n".join((TINY, own, learnt, again)), encoding="utf-8")
    tools, console = find_toolchain(), open_console(False)
    profile, store = parse_profile(path), Store(tmp_path / "store")
    configure(Workshop(Tree.here(), profile, tools, store, console, Options()))
    said = capsys.readouterr().out
    assert f"note: sort: a build runs {BUILDS}, not {shim}, which your PATH has first" in said
    assert 'workload "own": counted = true counts sh itself, not the programs' in said
    assert 'workload "again" judges by the command that trains: the library is made for' in said
    assert "geometry of profile tiny: as the default\n" in said
    store.make("baseline", {}, made)
    configure(Workshop(Tree.here(), profile, tools, store, console, Options()))
    assert "a build runs" not in capsys.readouterr().out, "said once"


def made(room: Path) -> dict[str, Any]:
    (room / "library").write_text("made", encoding="utf-8")
    return {}


def test_the_doctor_tells_it_too(shim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "WORKLOAD_PROGRAMS", ("sort", "seq"))
    sort, seq = doctor._workload_programs()
    assert sort.state == str(BUILDS) and f"{BUILDS}, not {shim}" in sort.choice
    assert not seq.choice
