"""Counting one program that a driver starts: which processes count, and what is said if none."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from judge_support import L1I, compile_c

from pipeline.core.errors import DataError, WorkloadError
from pipeline.judge.counting.below import read_below
from pipeline.judge.counting.repeat import agreed
from pipeline.judge.counting.told import Told, as_program
from pipeline.judge.counting.whole import WholeCounter
from pipeline.judge.counts import ProgramCounts
from pipeline.judge.icache import icache_key
from pipeline.judge.request import Margins
from pipeline.judge.samples import SIDES
from pipeline.judge.tasks import Task
from pipeline.judge.verdict import Verdict

VALGRIND = shutil.which("valgrind")
needs_valgrind = pytest.mark.skipif(VALGRIND is None, reason="valgrind is not installed")
LIBRARY = Path("/lib/liba.so")

# ---- recorded: what callgrind and the dynamic linker wrote, cut down to a few lines --------------

COUNTS = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: {pid}
cmd:  {command}
part: 1

desc: Trigger: Program termination

positions: instr
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
summary: {total} 0 0 0 0 0 0 0 0


ob=/lib/liba.so
fn=malloc
0x1000 {inside} 0 0 {misses}

ob=???
fn=(below main)
0x483e000 7 0 0 1

ob=/lib/x86_64-linux-gnu/libc.so.6
fn=memset
0x483d000 100 0 0 9
"""
VALGRINDS_OWN = """\
file={library} [0];  needed by valgrind.bin [0]
file={library} [0];  generating link map
  dynamic: 0x00007f54b78e9718  base: 0x00007f54b78b1000   size: 0x00000000000826e0
    entry: 0x00007f54b78b1000  phdr: 0x00007f54b7917000  phnum:                 18


initialize program: valgrind.bin


transferring control: valgrind.bin

"""
MAPPED = """\
file={library} [0];  generating link map

WARNING: Unsupported flag value(s) of 0x400 in DT_FLAGS_1.
  dynamic: 0x0000000004874718  base: {base}   size: 0x00000000000826e0
    entry: 0x000000000483c000  phdr: 0x00000000048a2000  phnum:                 18

"""
BEGUN = """\
initialize program: {program}


transferring control: {program}


calling fini: {library} [0]
"""


def counts(folder: Path, pid: int, command: str, inside: int, misses: int = 1) -> None:
    """Write what callgrind wrote when a process had ended; 7 are in moved code, 100 elsewhere."""
    text = COUNTS.format(pid=pid, command=command, inside=inside, misses=misses, total=inside + 107)
    (folder / f"counts.{pid}").write_text(text)


def loader(folder: Path, pid: int, *programs: str, base: str = "0x000000000483c000") -> None:
    """Write the linker's log of a process that ran these, one by one; "-x" has no library."""
    text = ""
    for program in programs:
        mapped = "" if program.startswith("-") else MAPPED.format(library=LIBRARY, base=base)
        begun = BEGUN.format(program=program.removeprefix("-"), library=LIBRARY)
        text += VALGRINDS_OWN.format(library=LIBRARY) + mapped + begun
    lines = (f"     {pid}:\t{line}\n" for line in text.splitlines())
    (folder / f"loader.{pid}").write_text("".join(lines))


@pytest.fixture
def driven(tmp_path: Path) -> Path:
    """Return the folder of a shell that ran `kv`, with a client that had no library."""
    loader(tmp_path, 1, "/bin/sh")
    counts(tmp_path, 1, "/bin/sh drive.sh ./kv", 5000)
    loader(tmp_path, 2, "./kv")
    counts(tmp_path, 2, "./kv port", 30, misses=4)
    loader(tmp_path, 3, "/usr/bin/env", "-./client")
    counts(tmp_path, 3, "./client 80", 900)
    return tmp_path


def test_the_processes_of_one_name_are_counted(driven: Path) -> None:
    found = read_below(driven, "kv", LIBRARY)
    assert found.instructions == {0x1000: 30, 0x2000: 7}
    assert (found.i1_misses.total(), found.total_instructions) == (5, 137)


def test_a_program_that_runs_more_than_once_is_added_up(driven: Path) -> None:
    loader(driven, 4, "./kv", base="0x000000000483d000")
    counts(driven, 4, "./kv port again", 50)
    found = read_below(driven, "kv", LIBRARY)
    assert found.instructions == {0x1000: 30 + 50 + 7, 0x2000: 7}
    assert found.total_instructions == 137 + 157


def test_a_process_that_was_forked_has_the_library_where_its_parent_has_it(driven: Path) -> None:
    counts(driven, 4, "./kv port", 50)
    assert read_below(driven, "kv", LIBRARY).instructions == {0x1000: 80, 0x2000: 14}


def test_of_two_places_for_a_process_that_was_forked_none_is_taken(driven: Path) -> None:
    loader(driven, 4, "./kv", base="0x000000000484d000")
    counts(driven, 4, "./kv port", 50)
    counts(driven, 5, "./kv port", 50)
    with pytest.raises(DataError, match="kv forked a process"):
        read_below(driven, "kv", LIBRARY)


def test_what_a_process_ran_before_an_exec_is_not_meant(driven: Path) -> None:
    loader(driven, 4, "/bin/sh", "/opt/my server/kv")
    counts(driven, 4, "/opt/my server/kv port", 50)
    assert read_below(driven, "kv", LIBRARY).instructions == {0x1000: 80, 0x2000: 14}
    assert read_below(driven, "sh", LIBRARY).instructions == {0x1000: 5000, 0x2000: 7}


def test_a_process_without_the_library_is_left_out(driven: Path) -> None:
    loader(driven, 4, "/usr/bin/env", "-./kv")
    counts(driven, 4, "./kv --version", 900)
    assert read_below(driven, "kv", LIBRARY).total_instructions == 137


@pytest.mark.parametrize("name", ["client", "busybox"])
def test_a_program_that_ran_without_the_library_is_told(driven: Path, name: str) -> None:
    counts(driven, 4, "/bin/busybox true", 900)  # static: the dynamic linker wrote nothing
    with pytest.raises(WorkloadError, match=f"^{name} ran without the library$"):
        read_below(driven, name, LIBRARY)


def test_where_no_such_program_ran_those_that_did_are_told(driven: Path) -> None:
    with pytest.raises(WorkloadError, match="program kvd ran; what ran: client, kv, sh") as said:
        read_below(driven, "kvd", LIBRARY)
    assert "the name by which the driver starts it" in said.value.hint


@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_a_process_without_counts_was_killed(driven: Path, left: str) -> None:
    loader(driven, 4, "./kv")
    if left == "an empty file":
        (driven / "counts.4").touch()
    with pytest.raises(WorkloadError, match="kv was killed, or still ran") as said:
        read_below(driven, "kv", LIBRARY)
    assert "SIGTERM" in said.value.hint


# ---- real: a shell, a server, a client -----------------------------------------------------------

DRIVER = """\
"$1" 500 ready &
while kill -0 $! && [ ! -s ready ]; do sleep 0.05; done
env -u LD_PRELOAD "$2" 700 && "$3" 900
kill -s "$4" $!
wait
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    # Without start files: what runs at the end of a process, but not when a signal ends it.
    flags = ("-shared", "-fPIC", "-nostartfiles", '-DPLACE=".toy_code"', "-DROUNDS=2")
    compile_c("toy_library.c", folder / "toy.so", *flags)
    compile_c("toy_server.c", folder / "server")
    shutil.copy(folder / "server", folder / "other")
    return folder


def counted(built: Path, logs: Path, name: str, *argv: str) -> Told:
    """Return what came of a driver in which the programs ``name`` are counted."""
    counter = WholeCounter(Path(VALGRIND or ""), L1I, {}, logs)
    sh = Path(shutil.which("sh") or "")
    task = Task("toy", "sh", argv, files={"drive.sh": DRIVER}, path=sh, counts=name)
    (told,) = counter.count({"toy": built / "toy.so"}, (task,))
    return told


def driver(built: Path, signal: str) -> tuple[str, ...]:
    """Return the driver: its client has the server's name, and no library."""
    server = str(built / "server")
    return ("drive.sh", server, server, str(built / "other"), signal)


@needs_valgrind
def test_a_server_that_a_script_starts_is_counted_alone(built: Path, tmp_path: Path) -> None:
    """The same work is the same instructions: nothing else is in the sum, and nothing is lost."""
    server = built / "server"
    driven = counted(built, tmp_path, "server", *driver(built, "TERM"))
    assert driven.problem == ""
    twice = counted(built, tmp_path, "server", "-c", f"{server} 500; {server} 500")
    forked = counted(built, tmp_path, "server", "-c", f"{server} 500 fork")
    once = driven.counts["toy"].instructions
    assert twice.counts["toy"].instructions == 2 * once
    assert forked.counts["toy"].instructions == 3 * once  # the child has its parent's first half
    assert 0 < once < driven.counts["toy"].total_instructions


@needs_valgrind
def test_what_could_not_be_counted_is_told_with_what_to_do(built: Path, tmp_path: Path) -> None:
    killed = counted(built, tmp_path, "server", *driver(built, "KILL"))
    assert killed.problem.startswith("server was killed, or still ran when the driver ended")
    assert "by SIGTERM" in killed.problem
    unknown = counted(built, tmp_path, "serverd", *driver(built, "TERM"))
    assert "no process of a program serverd ran; what ran: other, server, sh" in unknown.problem
    assert not killed.counts and not unknown.counts


@needs_valgrind
def test_the_report_says_whose_processes_were_counted(built: Path, tmp_path: Path) -> None:
    told = counted(built, tmp_path, "server", "-c", f"{built / 'server'} 5")
    assert as_program(both(told)).detail == "all processes of server, simulated"


# ---- what does not repeat ------------------------------------------------------------------------


def run_of(misses: int, instructions: int = 1000) -> ProgramCounts:
    return ProgramCounts(
        instructions=instructions,
        i1_misses=misses,
        hot_lines=10,
        total_instructions=5000,
        total_i1_misses=400,
    )


def test_two_runs_that_agree_give_their_mean() -> None:
    assert agreed([run_of(100), run_of(102, 1002)], 0.05) == run_of(101, 1001)
    assert agreed([run_of(0), run_of(1)], 0.05) == run_of(0)  # no miss counts as one


def test_two_runs_that_differ_by_much_of_the_margin_are_no_count() -> None:
    said = agreed([run_of(130), run_of(100)], 0.05)
    assert isinstance(said, str)
    assert said.startswith("its counts do not repeat: misses 30.0 % apart in two runs, where 2.5 %")
    assert "one connection and one worker" in said
    assert "threads that pass work to each other may not repeat even then" in said
    assert isinstance(agreed([run_of(103), run_of(100)], 0.05), str)
    assert isinstance(agreed([run_of(103), run_of(100)], 0.10), ProgramCounts)


def test_a_run_that_failed_is_told_as_it_is() -> None:
    assert agreed([run_of(130), "killed"], 0.05) == "killed"


TURNS = """\
if mkdir "$1"; then "$2" 500; else "$2" 500; "$2" 500; fi
"""


@needs_valgrind
def test_a_server_whose_counts_do_not_repeat_is_unknown_to_the_key(
    built: Path, tmp_path: Path
) -> None:
    """The driver that comes second does more: as threads in another order do."""
    server, sh = str(built / "server"), Path(shutil.which("sh") or "")
    argv = ("drive.sh", str(tmp_path / "first"), server)
    task = Task("toy", "sh", argv, files={"drive.sh": TURNS}, path=sh, counts="server")
    differing, toy = replace(task, may_differ=True), {"toy": built / "toy.so"}
    counter = WholeCounter(Path(VALGRIND or ""), L1I, {}, tmp_path)
    (told,) = counter.count(toy, (differing,))
    assert told.problem.startswith("its counts do not repeat: misses 100.0 % apart in two runs")
    key = icache_key([as_program(told)], Margins())
    assert key.verdict is Verdict.INCONCLUSIVE
    assert told.problem in key.reason
    (same,) = counter.count(toy, (differing,))  # both of these are second
    assert same.problem == ""
    assert as_program(both(same)).detail == "all processes of server, simulated twice"


def both(told: Told) -> Told:
    return Told(told.task, dict.fromkeys(SIDES, told.counts["toy"]))
