"""The choice of a source of counts, and what is counted with it."""

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from pipeline.commands import doctor
from pipeline.core.errors import DataError
from pipeline.judge.counting import hardware
from pipeline.judge.counting.count import choose_source, count
from pipeline.judge.counting.valgrind import ValgrindSource, exactly
from pipeline.judge.counts import LibraryCounts, Measured
from pipeline.judge.l1i import FALLBACK
from pipeline.judge.request import BenchCommand, CacheGeometry, JudgeRequest, Side, Tools

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
    assert value(counts.branch_misses) == 0
    assert value(counts.instructions_per_cycle) == pytest.approx(40 / 30)
    assert counts.hot_lines is None
    groups = (tmp_path / "perf.calls").read_text().splitlines()
    assert set(groups) == {
        "instructions,cycles,branches",
        "L1-icache-load-misses,iTLB-load-misses",
        "L1-dcache-load-misses,dTLB-load-misses,branch-misses",
    }


def test_an_event_that_is_not_supported_stays_unknown(tmp_path: Path) -> None:
    perf = fake_perf(tmp_path, missing=("cycles", "iTLB-load-misses"))
    counts = hardware_counts(tmp_path, perf)
    assert counts.cycles is None
    assert counts.instructions_per_cycle is None
    assert counts.itlb_misses is None
    assert counts.branches is not None


def test_groups_that_do_not_fit_the_counters_are_taken_apart(tmp_path: Path) -> None:
    hardware_counts(tmp_path, fake_perf(tmp_path, alone=True))
    assert not any("," in call for call in (tmp_path / "perf.calls").read_text().splitlines())


def test_a_run_without_samples_tells_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sample"):
        hardware_counts(tmp_path, fake_perf(tmp_path, inside=0))


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
