"""Reading what perf prints: what it did not count is unknown, and never zero."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.judge.counting import hardware
from pipeline.judge.counting.perf_output import parse_samples, parse_stat

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


RECORDED = """
<not supported>;;instructions:u;0;100.00;;
<not supported>;;cycles:u;0;100.00;;
<not supported>;;branches:u;0;100.00;;
<not supported>;;branch-misses:u;0;100.00;;
<not supported>;;L1-icache-load-misses;0;100.00;;
<not supported>;;iTLB-load-misses;0;100.00;;
723;;page-faults:u;13057123;100.00;55.372;K/sec
13.06;msec;task-clock:u;13057123;100.00;0.123;CPUs utilized
"""
"""By perf 6.1.192 with -x, on an Intel model 167 in a virtual machine, 2026-11-29. Whoever has a
machine that counts may add what it prints."""

RECORDED_SAMPLES = """
   2000000 cpu-clock/period=2000000/u:            4fee7a (/usr/bin/python3.11)
   2000000 cpu-clock/period=2000000/u:            5e4578 (/usr/bin/python3.11)
   2000000 cpu-clock/period=2000000/u:            53f78c (/usr/bin/python3.11)
   2000000 cpu-clock/period=2000000/u:            50b6d3 (/usr/bin/python3.11)
"""
"""By perf script there."""


def test_what_a_machine_without_counters_printed_is_unknown() -> None:
    """It names some of the events that it lacks without their modifier."""
    values = parse_stat(RECORDED)
    assert values.keys() >= {"instructions", "L1-icache-load-misses", "iTLB-load-misses"}
    assert {name for name, count in values.items() if count is not None} == {"page-faults"}
    assert values["page-faults"] == 723
    assert parse_samples(RECORDED_SAMPLES) == {"cpu-clock": {"/usr/bin/python3.11": 8_000_000}}


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


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_the_real_perf_understands_how_events_are_spelled(tmp_path: Path) -> None:
    """It may well lack the events, as most virtual machines do; a bad spelling says so."""
    for group in hardware.GROUPS:
        argv = ["perf", "record", "-q", "-e", hardware.spelled(group), "-o", "x", "true"]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
        assert "syntax error" not in done.stderr
