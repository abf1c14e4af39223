"""The stage record: traces of commands and of files become programs that play them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import TINY
from trace_support import LOOPED, Recorder, births

from pipeline.core.console import open_console
from pipeline.core.errors import DataError, ProfileError, WorkloadError
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.profile.load import parse_profile
from pipeline.profile.workload import Program
from pipeline.stages.build.configure import Setup, configure
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.toolchain.find import find_toolchain

LENGTHS = 'ops = "20k"\nquick_ops = "10k"\nweight = 1\n'


def workload(name: str, role: str, source: str) -> str:
    """Return a trace workload as TOML."""
    head = f'[[workload]]\nname = "{name}"\nkind = "trace"\nrole = "{role}"\n'
    return f"{head}{source}\n{LENGTHS}"


def workshop(folder: Path, *workloads: str) -> Workshop:
    """Return the surroundings of the stage, with a profile that has these workloads more."""
    path = folder / "tiny.toml"
    path.write_text(TINY + "\n" + "\n".join(workloads), encoding="utf-8")
    return Workshop(
        Tree.here(),
        parse_profile(path),
        find_toolchain(),
        Store(folder / "store"),
        open_console(False),
        Options(),
    )


def played(setup: Setup, name: str) -> Program:
    """Return the program that plays a trace."""
    found = next(w for w in (*setup.training, *setup.verifying) if w.name == name)
    assert isinstance(found, Program)
    return found


def test_commands_and_files_become_programs(recorder: Recorder) -> None:
    file = recorder.record("loop", "5000")
    shop = workshop(
        recorder.folder,
        workload("mine", "train", f'trace = "{file}"\nfirst = 100\nevents = "2k"'),
        workload("theirs", "verify", f'record = ["{recorder.program}", "loop", "3000"]'),
    )
    setup = record(shop, configure(shop))
    assert setup.traces == ()
    mine, theirs = played(setup, "mine"), played(setup, "theirs")
    assert (mine.role, mine.program, mine.args[0]) == ("train", "bench/replay", "--trace")
    assert (theirs.role, theirs.ops, theirs.quick_ops) == ("verify", 20_000, 10_000)
    cut = recorder.read(Path(mine.args[1]))
    assert len(cut.rows) in range(2000, 2010)  # and the births of what lives at event 100
    assert cut.process.command == ""
    assert births(recorder.read(Path(theirs.args[1])), LOOPED) == 3000


def test_a_build_says_what_it_recorded_and_what_its_driver_hides(
    recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library was judged by a server that no client had asked: the driver ended with 0."""
    command = 'record = ["sh", "-c", "sort VERSION >&2; true"]'
    shop = workshop(recorder.folder, workload("kv", "verify", command))
    setup = configure(shop)
    record(shop, replace(setup, traces=tuple(one for one in setup.traces if one.name == "kv")))
    said = capsys.readouterr().out
    assert re.search(r"kv: [\d,]+ events of sort$", said, re.MULTILINE)
    assert re.search(
        r'note: the recording "kv" is short: [\d,]+ events of sort, which a run plays', said
    )
    assert 'note: workload "kv" ended well and wrote to stderr: ' in said


def test_the_same_traces_are_used_again(recorder: Recorder) -> None:
    command = f'record = ["{recorder.program}", "loop"]'
    shop = workshop(recorder.folder, workload("again", "verify", command))
    first, second = (played(record(shop, configure(shop)), "again").args for _ in range(2))
    assert first == second


def test_a_changed_file_makes_other_traces(recorder: Recorder) -> None:
    file = recorder.record("loop", "50")
    shop = workshop(recorder.folder, workload("mine", "verify", f'trace = "{file}"'))
    first = played(record(shop, configure(shop)), "mine").args
    file.write_bytes(recorder.record("loop", "60", name="other").read_bytes())
    assert played(record(shop, configure(shop)), "mine").args != first


def test_a_program_that_is_missing_is_skipped(recorder: Recorder) -> None:
    shop = workshop(recorder.folder, workload("gone", "verify", 'record = ["no-such-program"]'))
    setup = configure(shop)
    assert setup.skipped == {"gone": ("no-such-program",)}
    ready = record(shop, setup)
    assert "gone" not in {w.name for w in (*ready.training, *ready.verifying)}


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ('trace = "README.md"', DataError, "README.md: not a trace"),
        (
            """record = ["sh", "-c", "echo no such client >&2; exit 3"]""",
            WorkloadError,
            'workload "bad" failed: sh: exit code 3\n  no such client',
        ),
        ('record = ["true"]', DataError, "nothing was recorded"),
        ('record = ["sleep", "9"]\ntimeout_s = 0.2', WorkloadError, "still running"),
        (
            'record = ["sort", "README.md"]\nfirst = "1M"',
            DataError,
            "no event after number 1000000",
        ),
    ],
)
def test_what_cannot_be_recorded_is_named(
    recorder: Recorder, source: str, error: type[Exception], message: str
) -> None:
    shop = workshop(recorder.folder, workload("bad", "verify", source))
    with pytest.raises(error, match=message):
        record(shop, configure(shop))


def test_a_missing_trace_is_named_before_anything_is_built(recorder: Recorder) -> None:
    shop = workshop(recorder.folder, workload("bad", "verify", 'trace = "no/such/file"'))
    with pytest.raises(ProfileError, match='workload "bad", trace: there is no file'):
        configure(shop)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "either trace .* or record"),
        ('trace = "a"\nrecord = ["b"]', "either trace .* or record"),
        ('trace = "a"\nscratch = true', "needs, scratch and env are for record"),
        ('trace = "a"\ncount_ops = 5', "count_ops is for role 'verify' only"),
        ('trace = "a"\nfirst = -1', "must be a count"),
        ('trace = "a"\nplay = 1', 'workload "bad", play: unknown key'),
    ],
)
def test_mistakes_in_a_profile_are_named(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        workshop(tmp_path, workload("bad", "train", source))


def test_one_trace_must_not_train_and_verify(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="both trains and verifies: a, b"):
        workshop(
            tmp_path,
            workload("a", "train", 'trace = "x.trace"'),
            workload("b", "verify", 'trace = "x.trace"'),
        )


def test_without_traces_there_is_nothing_to_do(recorder: Recorder) -> None:
    shop = workshop(recorder.folder)
    setup = replace(configure(shop), traces=())
    assert record(shop, setup) is setup
