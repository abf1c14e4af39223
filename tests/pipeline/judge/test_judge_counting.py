"""Reading counts: callgrind files, perf output, cache geometry, and the choice of a source."""

import dataclasses
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pipeline.commands import doctor
from pipeline.core.errors import ArtifactError, DataError
from pipeline.judge.counting import hardware, valgrind
from pipeline.judge.counting.callgrind_file import Profile, Region, read_profile
from pipeline.judge.counting.count import choose_source, count
from pipeline.judge.counting.perf_output import parse_samples, parse_stat
from pipeline.judge.counting.valgrind import Simulation, ValgrindSource, exactly
from pipeline.judge.counts import LibraryCounts, Measured
from pipeline.judge.judging import geometries
from pipeline.judge.l1i import FALLBACK, SWEEP, machine_l1i
from pipeline.judge.request import BenchCommand, CacheGeometry, JudgeRequest, Mode, Side, Tools
from pipeline.toolchain.elf_file import interpreter, reading, text_bytes

LIBRARY = Region(path="/lib/liba.so", base=0x400000, span=0x10000)
HEAD = "positions: instr\nevents: Ir Dr Dw I1mr D1mr\nsummary: {total} 0 0 3 0\n"
BODY = """
ob=/lib/liba.so
fn=malloc
0x1000 10 1 1 2
0x1040 5
cob=/lib/libc.so
cfn=memset
calls=3 0x99
0x1044 1000 0 0 900
0x1048 1
ob=???
fn=0x0000000000402000
0x402000 20 0 0 1
0x600000 7 0 0 5
ob=/lib/libc.so
fn=memset
0x402000 50 0 0 9
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "counts.callgrind"
    path.write_text(text)
    return path


def test_code_is_found_by_address_also_outside_the_text_section(tmp_path: Path) -> None:
    profile = read_profile(write(tmp_path, HEAD.format(total=93) + BODY), LIBRARY)
    assert profile.instructions == {0x1000: 10, 0x1040: 5, 0x1048: 1, 0x2000: 20}
    assert profile.i1_misses.total() == 3
    assert profile.total_instructions == 93


def test_branches_are_counted_in_the_library_alone(tmp_path: Path) -> None:
    head = "positions: instr\nevents: Ir I1mr Bc Bcm Bi Bim\nsummary: 32\n"
    body = "ob=/lib/liba.so\n0x10 10 0 4 1 2 1\n0x20 2 0 1\nob=/x\n0x10 20 0 9 0 9\n"
    assert read_profile(write(tmp_path, head + body), LIBRARY).branches == 7


def test_branches_that_were_not_simulated_are_unknown(tmp_path: Path) -> None:
    assert read_profile(write(tmp_path, HEAD.format(total=93) + BODY), LIBRARY).branches is None


def test_lines_and_pages() -> None:
    executed = Counter({0x1000: 960, 0x1004: 30, 0x1040: 5, 0x2000: 5})
    profile = Profile(executed, Counter(), total_instructions=1000)
    assert (profile.touched(64), profile.touched(4096)) == (3, 2)
    assert (profile.hot(64), profile.hot(4096)) == (1, 1)
    flat = Profile(Counter(dict.fromkeys(range(0, 6400, 64), 1)), Counter(), 100)
    assert (flat.touched(64), flat.hot(64)) == (100, 99)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (HEAD.format(total=92) + BODY, "add up"),
        ("positions: line\n", "positions"),
        ("events: Dr Ir I1mr\n", "events"),
        ("events: Ir Dr Dw\n", "I1mr"),
        (BODY, "before the line"),
        ("", "its sum says None"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(DataError, match=word):
        read_profile(write(tmp_path, text), LIBRARY)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_profile(tmp_path / "none", LIBRARY)


def cache_index(root: Path, number: int, **fields: str) -> None:
    folder = root / f"index{number}"
    folder.mkdir(parents=True)
    for name, value in fields.items():
        (folder / name).write_text(value + "\n")


def l1i(size: str, ways: str) -> dict[str, str]:
    return {
        "level": "1",
        "type": "Instruction",
        "size": size,
        "ways_of_associativity": ways,
        "coherency_line_size": "64",
    }


def test_the_machines_cache_is_read(tmp_path: Path) -> None:
    cache_index(tmp_path, 0, level="1", type="Data", size="48K")
    cache_index(tmp_path, 1, **l1i("64K", "16"))
    assert machine_l1i(tmp_path) == (CacheGeometry(65536, 16, 64), "sysfs")


@pytest.mark.parametrize(("size", "ways"), [("64K", "0"), ("48K", "8"), ("?", "8")])
def test_a_cache_that_cannot_be_simulated_falls_back(tmp_path: Path, size: str, ways: str) -> None:
    cache_index(tmp_path, 1, **l1i(size, ways))
    assert machine_l1i(tmp_path) == (FALLBACK, "fallback")


def test_no_description_falls_back(tmp_path: Path) -> None:
    assert machine_l1i(tmp_path / "none") == (FALLBACK, "fallback")


STAT = """
# started on Sat Nov 21 04:00:00 2026

4812031;;instructions:u;2412345;100.00;1.62;insn per cycle
2970388;;cycles:u;2412345;100.00;;
<not supported>;;L1-icache-load-misses:u;0;100.00;;
<not counted>;;iTLB-load-misses:u;0;0.00;;
0;;dTLB-load-misses:u;5000;100,00;;
123;;branches:u;1447407;60.00;;
"""
"""As perf 6.1 prints it with -x; on a machine whose counters lack one event and are too few."""


def test_not_supported_not_counted_and_multiplexed_are_unknown_and_not_zero() -> None:
    assert parse_stat(STAT) == {
        "instructions": 4812031,
        "cycles": 2970388,
        "L1-icache-load-misses": None,
        "iTLB-load-misses": None,
        "dTLB-load-misses": 0,
        "branches": None,
    }


@pytest.mark.parametrize("running", ["", "nan", "?"])
def test_a_stat_line_without_its_running_share_is_unknown(running: str) -> None:
    assert parse_stat(f"5;;cycles:u;1;{running};;\n") == {"cycles": None}


def test_a_processor_with_two_kinds_of_cores_counts_no_event_as_a_whole() -> None:
    """There perf counts each kind alone, under its own name: either is a part, so none is taken."""
    lines = (
        "7421;;cpu_core/instructions/u;9;61.00;;\n<not counted>;;cpu_atom/instructions/u;0;0.00;;\n"
    )
    assert "instructions" not in parse_stat(lines)


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_the_real_perf_prints_what_is_read_here(tmp_path: Path) -> None:
    """With software events, which every machine has; hardware's are printed in the same way."""
    program = [sys.executable, "-S", "-c", "sum(range(2_000_000))"]
    stat = ["perf", "stat", "-x", ";", "-e", "page-faults:u,task-clock:u", *program]
    done = subprocess.run(stat, capture_output=True, text=True)
    record = ["perf", "record", "-q", "-e", "{cpu-clock/period=100000/u}", "-o", "data", *program]
    if done.returncode or subprocess.run(record, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("perf may not count here")
    values = parse_stat(done.stderr)
    assert (values["page-faults"] or 0) > 10
    assert values["task-clock"] is None  # a time in milliseconds is not a count
    script = ["perf", "script", "-i", "data", "-F", "event,period,ip,dso"]
    text = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True).stdout
    counted = parse_samples(text)["cpu-clock"]
    assert counted.total() == 100_000 * len(text.splitlines())
    assert any("python" in name for name in counted)


def test_samples_are_added_up_per_event_and_object() -> None:
    text = (
        "   1000003 instructions/period=1000003/u:      7faacc13ef3f (/usr/lib/libhakmem.so)\n"
        "   1000003               instructions:u:      7faacc13ef40 (/usr/lib/libhakmem.so)\n"
        "   1000003               instructions:u:      55aacc13ef40 (/bench/tiny hot)\n"
        "     10007 L1-icache-load-misses/period=10007/u:      55aa ([vdso])\n"
        "not a sample\n"
    )
    assert parse_samples(text) == {
        "instructions": {"/usr/lib/libhakmem.so": 2_000_006, "/bench/tiny hot": 1_000_003},
        "L1-icache-load-misses": {"[vdso]": 10_007},
    }
    assert parse_samples("\n") == {}


FAKE_PERF = """#!{python}
import pathlib, re, sys
argv = sys.argv[1:]
missing, alone = {missing}, {alone}
events = re.findall(r"([\\w-]+):u", argv[argv.index("-e") + 1]) if "-e" in argv else []
if argv[0] == "stat":
    for event in events:
        known = event not in missing and not (alone and len(events) > 1)
        count = "42" if known else "<not counted>" if len(events) > 1 else "<not supported>"
        print(f"{{count}};;{{event}}:u;1;100.00;;", file=sys.stderr)
elif argv[0] == "record":
    library = argv[argv.index("--preload") + 1]
    periods = dict(re.findall(r"([\\w-]+)/period=(\\d+)/u", argv[argv.index("-e") + 1]))
    lines, known = [], {{"instructions": {inside}, "L1-icache-load-misses": 2, "cycles": 30}}
    for event, period in periods.items():
        samples = known.get(event, 0)
        lines += [f"{{period}} {{event}}/period={{period}}/u: 7f00 ({{library}})"] * samples
        outside = 10 if event == "instructions" and samples else 0
        lines += [f"{{period}} {{event}}/period={{period}}/u: 5500 (/bench)"] * outside
    pathlib.Path(argv[argv.index("-o") + 1]).write_text("\\n".join(lines))
    with pathlib.Path({calls!r}).open("a") as calls:
        print(",".join(periods), file=calls)
    print("bench=x ops=1000000 seconds=1 ops_per_sec=1000000 peak_rss_kib=4096")
elif argv[0] == "script":
    print(pathlib.Path(argv[argv.index("-i") + 1]).read_text())
"""


def fake_perf(
    tmp_path: Path, missing: tuple[str, ...] = (), alone: bool = False, inside: int = 40
) -> Path:
    """Return a program that answers as perf does where ``missing`` events are not supported.

    ``alone`` is a machine with one counter: no two events at once.
    """
    path = tmp_path / "perf"
    values = {"missing": missing, "alone": alone, "inside": inside, "calls": f"{path}.calls"}
    path.write_text(FAKE_PERF.format(python=sys.executable, **values))
    path.chmod(0o755)
    return path


def request(tmp_path: Path, **changes: object) -> JudgeRequest:
    base = JudgeRequest(
        baseline=tmp_path / "a.so",
        tuned=tmp_path / "b.so",
        benches=(BenchCommand(name="x", argv=(sys.executable,), count_argv=(sys.executable,)),),
        logs=tmp_path / "logs",
    )
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def hardware_counts(tmp_path: Path, perf: Path) -> LibraryCounts:
    source, _ = choose_source(Tools(perf=perf))
    assert source.name == "hardware"
    bench = request(tmp_path).benches[0]
    return source.count(bench, tmp_path / "b.so", FALLBACK, tmp_path / "logs" / "x.log")


def value(measured: Measured | None) -> float:
    assert measured is not None
    return measured.value


def test_hardware_counts_are_samples_times_period(tmp_path: Path) -> None:
    counts = hardware_counts(tmp_path, fake_perf(tmp_path))
    assert value(counts.instructions) == pytest.approx(40 * 1_000_003 / 1e6)
    assert value(counts.total_instructions) == pytest.approx(50 * 1_000_003 / 1e6)
    assert value(counts.i1_misses) == pytest.approx(2 * 10_007 / 1e6)
    assert value(counts.cycles) == pytest.approx(30 * 1_000_003 / 1e6)
    assert value(counts.dtlb_misses) == 0  # counted, and less than one period of them
    assert counts.hot_lines is None
    groups = (tmp_path / "perf.calls").read_text().splitlines()
    assert set(groups) == {
        "instructions,cycles,branches",
        "L1-icache-load-misses,iTLB-load-misses",
        "L1-dcache-load-misses,dTLB-load-misses",
    }


def test_an_event_that_is_not_supported_stays_unknown(tmp_path: Path) -> None:
    perf = fake_perf(tmp_path, missing=("cycles", "iTLB-load-misses"))
    counts = hardware_counts(tmp_path, perf)
    assert counts.cycles is None
    assert counts.itlb_misses is None
    assert counts.branches is not None


def test_groups_that_do_not_fit_the_counters_are_taken_apart(tmp_path: Path) -> None:
    hardware_counts(tmp_path, fake_perf(tmp_path, alone=True))
    assert not any("," in call for call in (tmp_path / "perf.calls").read_text().splitlines())


def test_a_run_without_samples_tells_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sample"):
        hardware_counts(tmp_path, fake_perf(tmp_path, inside=0))


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_the_real_perf_understands_how_events_are_spelled(tmp_path: Path) -> None:
    """It may well lack the events, as most virtual machines do; a bad spelling says so."""
    for group in hardware.GROUPS:
        argv = ["perf", "record", "-q", "-e", hardware.spelled(group), "-o", "x", "true"]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
        assert "syntax error" not in done.stderr


@pytest.mark.parametrize("event", hardware.REQUIRED)
def test_without_hardware_counters_simulation_is_chosen_and_the_reason_kept(
    tmp_path: Path, event: str
) -> None:
    perf = fake_perf(tmp_path, missing=(event,))
    source, why = choose_source(Tools(perf=perf))
    assert source.name == "valgrind"
    assert f"perf cannot count {event}" in why


def test_doctor_says_of_hardware_counters_what_the_judge_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It called them fine where one event alone could be counted."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    fake_perf(tmp_path)
    assert doctor._counters().state == "perf counts instructions"
    fake_perf(tmp_path, missing=(hardware.I1_MISSES,))
    assert "valgrind counts instead" in doctor._counters().state


def test_without_perf_simulation_is_chosen() -> None:
    source, why = choose_source(Tools())
    assert (source.name, why) == ("valgrind", "perf is not installed")


def test_counts_name_the_run_that_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hardware counts the timed run: its record named the shorter one of the simulation."""
    one = LibraryCounts(operations=1)
    monkeypatch.setattr(ValgrindSource, "count", lambda *_: one)
    monkeypatch.setattr(hardware.HardwareSource, "count", lambda *_: one)
    bench = BenchCommand(name="toy", argv=("/toy", "long"), count_argv=("/toy", "short"))
    sides: dict[Side, Path] = {"baseline": tmp_path, "tuned": tmp_path}
    for perf, argv in ((None, bench.count_argv), (fake_perf(tmp_path), bench.argv)):
        asked = request(tmp_path, benches=(bench,), tools=Tools(perf=perf))
        (found,) = count(asked, sides, (FALLBACK,), lambda _: None).workloads
        assert found.argv == argv


def test_the_curve_counts_no_cache_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judged cache is a point of the curve: misses in it are known already."""
    own, other = CacheGeometry(32 * 1024, 8), CacheGeometry(4096, 8)
    seen: list[CacheGeometry] = []

    def counts(*asked: object) -> LibraryCounts:
        seen.append(asked[3])  # type: ignore[arg-type]
        one = exactly(1)
        return LibraryCounts(operations=1, instructions=one, total_instructions=one, i1_misses=one)

    monkeypatch.setattr(ValgrindSource, "count", counts)
    bench = BenchCommand(name="toy", argv=("/toy",), count_argv=("/toy",))
    asked = request(tmp_path, benches=(bench,))
    sides: dict[Side, Path] = {"baseline": tmp_path, "tuned": tmp_path}
    found = count(asked, sides, (own, other, own), lambda _: None)
    assert [one.geometry for one in found.curve] == [other]
    assert seen.count(own) == seen.count(other) == 2


@pytest.mark.parametrize(("mode", "points"), [("quick", 0), ("default", 0), ("thorough", 8)])
def test_the_curve_has_as_many_points_as_the_mode_pays_for(mode: Mode, points: int) -> None:
    own, *curve = geometries(mode)
    assert own == machine_l1i()[0]
    assert len(curve) == points
    assert set(curve) <= set(SWEEP)


@pytest.mark.parametrize("branches", [True, False])
def test_branches_are_simulated_where_they_are_reported(
    monkeypatch: pytest.MonkeyPatch, branches: bool
) -> None:
    monkeypatch.setattr(valgrind, "client_command", lambda argv, _: argv)
    program, library, log = (sys.executable,), Path("/x.so"), Path("/log")
    what = Simulation(program, {}, library, CacheGeometry(4096, 8), log, branches=branches)
    said = [one for one in what.command(Path("/v"), Path("/c")) if "--branch-sim" in one]
    assert said == [f"--branch-sim={'yes' if branches else 'no'}"]


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_text("not ELF")
    with pytest.raises(ArtifactError, match="ELF"):
        reading(path, text_bytes)
    with pytest.raises(ArtifactError, match="No such file"):
        reading(tmp_path / "none.so", text_bytes)


def test_a_program_names_its_dynamic_linker() -> None:
    program = Path("/proc/self/exe").resolve()
    assert Path(reading(program, interpreter) or "").is_file()
    assert reading(program, text_bytes) > 0
