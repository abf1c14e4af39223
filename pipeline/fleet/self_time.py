"""Where the time of a workload goes: samples of the clock, by function of the library.

A machine without a counter unit cannot say what a function costs. It can still be asked, thousands
of times in a second of processor time, in which function a program is.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.core.errors import PipelineError, WorkloadError
from pipeline.core.preload import through_env
from pipeline.evidence.model import FunctionShare, SelfTime
from pipeline.fleet.samples import by_function, read_samples
from pipeline.judge.bench import read_result, run_workload
from pipeline.judge.request import BenchCommand
from pipeline.toolchain.text_model import TextMap

RECORD = ("record", "--quiet", "-e", "cpu-clock:u", "-F", "10000")
FEWEST = 10
"""A function with fewer samples is not named: its share would be off by a third and more."""


def self_time(
    perf: Path, bench: BenchCommand, library: Path, text: TextMap, data: Path, log: Path
) -> SelfTime:
    """Run ``bench`` once with ``library`` preloaded and sampled; ``data`` is a file for that.

    ``text`` names the functions. Every way to fail becomes a reason in place of the samples.
    """
    try:
        _record(perf, bench, library, data, log)
        samples = read_samples(perf, data)
    except PipelineError as error:
        return SelfTime(name=bench.name, reason=error.message.splitlines()[0])
    finally:
        data.unlink(missing_ok=True)
    if samples.total == 0:
        return SelfTime(name=bench.name, reason="perf took no sample")
    functions = by_function(samples, library, text).most_common()
    return SelfTime(
        name=bench.name,
        samples=samples.total,
        inside=samples.inside / samples.total,
        functions=tuple(
            FunctionShare(name=name, share=count / samples.total)
            for name, count in functions
            if count >= FEWEST
        ),
    )


def _record(perf: Path, bench: BenchCommand, library: Path, data: Path, log: Path) -> None:
    argv = (str(perf), *RECORD, "-o", str(data), "--", *through_env(library), *bench.argv)
    done = run_workload(bench, argv, bench.env, bench.timeout_s, log)
    read_result(bench, done, library)
    if not data.exists():
        raise WorkloadError(f"perf wrote nothing for {bench.name}", log=log)
