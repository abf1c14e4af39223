"""Samples of the clock, by workload and function. perf is a script here, but in the last test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from perf_support import mapped, sampled

from pipeline.core.errors import PipelineError
from pipeline.core.process import run
from pipeline.evidence.model import SelfTime
from pipeline.fleet.self_time import FEWEST, RECORD, self_time
from pipeline.judge.request import BenchCommand
from pipeline.toolchain.text_map import read_text_map

RESULT = "ops=1000 seconds=0.5 cpu_seconds=0.5 peak_rss_kib=100 allocator=libhakmem.so"
SPIN = "void spin(void) { for (volatile long i = 0; i < 400000000; i++) {} }\n"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return a library with the functions `spin` and `rest`."""
    source, path = tmp_path / "library.c", tmp_path / "libhakmem.so"
    source.write_text(f"{SPIN}void rest(void) {{}}\n", encoding="utf-8")
    flags = ["-shared", "-fPIC", "-Wl,--build-id", "-o", str(path)]
    subprocess.run(["gcc", "-O1", *flags, str(source)], check=True)
    return path


def program(tmp_path: Path, text: str) -> BenchCommand:
    path = tmp_path / "bench"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return BenchCommand(name="toy", argv=(str(path),), timeout_s=20.0)


def perf(tmp_path: Path, record: str, lines: str = "") -> Path:
    """Return a perf that does ``record`` with the file "$data", and later prints ``lines``."""
    (tmp_path / "lines").write_text(lines, encoding="utf-8")
    path = tmp_path / "perf"
    path.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = script ]; then cat "{tmp_path}/lines"; exit; fi\n'
        'while [ "$1" != -- ]; do [ "$1" = -o ] && data=$2; shift; done; shift\n'
        f"{record}\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def samples(library: Path, **functions: int) -> str:
    """Return what perf prints of so many samples in each function; others are in libc."""
    places = {one.name: one.address for one in read_text_map(library).functions}
    inside = [place for name, place in places.items() for _ in range(functions.pop(name, 0))]
    outside = "    7f0000001000 memcpy (/lib/libc.so.6)\n" * sum(functions.values())
    return mapped(library) + sampled(library, inside) + outside


def measured(tmp_path: Path, tool: Path, bench: BenchCommand, library: Path) -> SelfTime:
    text, log = read_text_map(library), tmp_path / "logs" / "toy.log"
    return self_time(tool, bench, library, text, tmp_path / "perf.data", log)


def test_shares_are_of_all_samples(tmp_path: Path, library: Path) -> None:
    lines = samples(library, spin=60, rest=FEWEST - 1, libc=131)
    tool = perf(tmp_path, 'echo x >"$data"; exec "$@"', lines)
    found = measured(tmp_path, tool, program(tmp_path, f"echo {RESULT}"), library)
    assert (found.samples, found.reason) == (200, "")
    assert found.inside == pytest.approx(69 / 200)
    assert [(one.name, one.share) for one in found.functions] == [("spin", 0.3)]
    assert not (tmp_path / "perf.data").exists()


@pytest.mark.parametrize(
    ("record", "does", "reason"),
    [
        ('echo "no such event" >&2; exit 255', f"echo {RESULT}", "exit code 255"),
        ('echo x >"$data"; exec "$@"', "exit 3", "exit code 3"),
        ('echo x >"$data"; exec "$@"', "echo nothing", "no result"),
        ('exec "$@"', f"echo {RESULT}", "perf wrote nothing"),
        ('echo x >"$data"; exec "$@"', f"echo {RESULT}", "no sample"),
        ('echo x >"$data"; exec "$@"', f"echo {RESULT.replace('libhakmem', 'libc')}", "libc.so"),
    ],
)
def test_what_cannot_be_sampled_has_a_reason(
    record: str, does: str, reason: str, tmp_path: Path, library: Path
) -> None:
    found = measured(tmp_path, perf(tmp_path, record), program(tmp_path, does), library)
    assert reason in found.reason
    assert (found.samples, found.inside, found.functions) == (0, None, ())


def test_a_real_perf_finds_the_function_that_spins(tmp_path: Path, library: Path) -> None:
    tool, main = shutil.which("perf"), tmp_path / "main.c"
    try:
        run([tool or "perf", *RECORD, "-o", tmp_path / "try.data", "/bin/true"], timeout_s=20)
    except PipelineError as error:
        pytest.skip(f"perf does not sample here: {error.message}")
    main.write_text(
        "#include <stdio.h>\nvoid spin(void);\n"
        f'int main(void) {{ spin(); puts("{RESULT}"); return 0; }}\n',
        encoding="utf-8",
    )
    link = [str(library), f"-Wl,-rpath,{tmp_path}", "-o", str(tmp_path / "real")]
    subprocess.run(["gcc", "-O1", str(main), *link], check=True)
    bench = BenchCommand(name="toy", argv=(str(tmp_path / "real"),), timeout_s=60.0)
    found = measured(tmp_path, Path(tool or "perf"), bench, library)
    assert found.reason == ""
    assert found.functions[0].name == "spin"
    assert found.functions[0].share > 0.5
