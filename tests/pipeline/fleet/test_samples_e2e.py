"""From a running process to a published version: sampled, imported, built, reported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.errors import PipelineError
from pipeline.fleet.samples import sample
from pipeline.report.files import read_report
from pipeline.stages import NAMES

pytestmark = pytest.mark.e2e

# Busy with the library until it is told to stop.
BUSY = """
import os
print(flush=True)
while os.getppid() == {parent}:
    rows = [str(n) * 9 for n in range(20000)]
"""


def require_sampling(folder: Path) -> Path:
    """Return perf; skip with perf's own words where it cannot sample this very process."""
    perf = shutil.which("perf")
    if perf is None:
        pytest.skip("there is no perf")
    try:
        sample(Path(perf), os.getpid(), 0.2, folder / "try.data")
    except PipelineError as error:
        pytest.skip(error.message)
    return Path(perf)


def test_samples_of_a_process_are_a_source_of_the_next_build(
    built: Sandbox, fresh: Sandbox, tmp_path: Path
) -> None:
    require_sampling(tmp_path)
    shutil.copytree(built.root / "layouts/tiny", fresh.root / "layouts/tiny")
    there = built.root / "build/pipeline/tiny"
    fresh.take(built, [name for name in NAMES if (there / name).is_dir()])
    (fresh.root / "dist").mkdir()
    shutil.copytree(built.root / "dist/tiny", fresh.root / "dist/tiny", symlinks=True)
    library = fresh.current / "lib/libhakmem.so"
    env = {**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"}
    busy = subprocess.Popen(
        [sys.executable, "-c", BUSY.format(parent=os.getpid())], env=env, stdout=subprocess.PIPE
    )
    try:
        assert busy.stdout is not None
        busy.stdout.readline()
        files = []
        for number in range(20):  # as long as a busy machine takes for enough of them
            files.append(str(tmp_path / f"{number}.data"))
            pid = ("--pid", str(busy.pid), "--seconds", str(5 * (number + 1)))
            assert fresh.run("sample", *pid, "-o", files[-1])[0] == 0
            code, said = fresh.run("import", "-p", "tiny", f"{files[-1]}=2")
            if code == 0:
                break
            assert "samples in the library, and a build takes" in said
        else:
            pytest.skip("the machine was too busy for 1,000 samples")
    finally:
        busy.kill()
        busy.wait()
    code, output = fresh.build()
    assert code == 0, output
    assert "bolt-samples: done" in output
    report = read_report(next((fresh.root / "build/pipeline/tiny/reports").glob("0*")))
    assert report.training is not None
    row = report.training.samples[0]
    assert (row.file, row.weight, row.share) == (Path(files[-1]).name, 2, 0.5)
    assert row.samples >= 1000
    assert fresh.build()[1].count("bolt-samples: unchanged") == 1
