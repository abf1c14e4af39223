"""Orders for a tree whose `pipeline build` is a few lines, and what workers do in tests.

Workers are processes of their own: what they execute stands in a module, by its name.
"""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.core.errors import GateError
from pipeline.core.files import replace_text
from pipeline.core.processor import machine
from pipeline.elsewhere.order import Made, Order, is_wanted
from pipeline.elsewhere.snapshot import File, Snapshot
from pipeline.tune.engine import RESOURCE
from pipeline.tune.loop import Loop

if TYPE_CHECKING:
    from distributed import LocalCluster, Worker

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="the extra 'cluster' is not installed: HAKMEM_CLUSTER=1 ./bootstrap --help",
)
KINDS = ("amd-zen3", "intel-icelake")

PUBLISHES = """
from pathlib import Path
version = Path("dist/tiny/1-a")
for name in ("lib/libhakmem.so", "lib/libhakmem.so.debug", "verdict.json", "report.html"):
    (version / name).parent.mkdir(parents=True, exist_ok=True)
    (version / name).write_text(f"this is {name}")
(version / "manifest.json").write_text("{}")
"""
"""A build that publishes."""

FAILS = "import sys; print('before\\nerror: no such thing\\n  what to do: x'); sys.exit(5)"
STOPPED = f"""
import sys
from pathlib import Path
Path("build/pipeline/tiny/reports/last").mkdir(parents=True)
report = Path("build/pipeline/tiny/reports/last/report.json")
report.write_text({json.dumps(json.dumps({"reason": "throughput is NO-GO"}))})
sys.exit(8)
"""
"""A build that the judge stops."""

LASTS = """
import os, time
from pathlib import Path
Path("pid").write_text(str(os.getpid()))
time.sleep(600)
"""


def order_of(script: str = PUBLISHES, kind: str | None = None, **tools: str) -> Order:
    """Return an order of which the build does what ``script`` says."""
    sources = {"pipeline/__init__.py": "", "pipeline/__main__.py": script}
    files = {name: File(text.encode(), False) for name, text in sources.items()}
    return Order(kind or machine().name, "tiny", ("--quick",), tools, Snapshot(files))


def kind_by_number(dask_worker: Any) -> str:
    """Return the processor that a worker of a test stands for."""
    return KINDS[int(dask_worker.name)]


def make_at_once(order: Order) -> Made:
    """Say who made it; fail where the order asks for it."""
    if "fail" in order.words:
        raise GateError("it was judged and is worse", hint="be better")
    if "break" in order.words:
        raise ZeroDivisionError("not foreseen")
    return Made(_worker().name, {"pid": str(os.getpid()).encode()})


def make_for_ever(order: Order) -> Made:
    """Begin, note that, and go on until nobody waits any more; note that, too."""
    worker, notes = _worker(), Path(order.words[0])
    key = str(worker.get_current_task())
    replace_text(notes / f"began-{worker.name}", str(os.getpid()))  # whole, or not there
    while is_wanted(worker, key):
        time.sleep(0.05)
    (notes / f"ended-{worker.name}").touch()
    return Made("nobody", {})


def _worker() -> Worker:
    from distributed import get_worker

    return get_worker()


def await_file(path: Path) -> Path:
    """Return a path once it is there."""
    while not path.exists():
        time.sleep(0.05)
    return path


@contextmanager
def cluster_of(workers: int, folder: Path | None = None) -> Iterator[LocalCluster]:
    """Give a scheduler with so many workers, each a process with a folder in ``folder``."""
    from distributed import LocalCluster

    with (
        closing(Loop()) as loop,
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            resources={RESOURCE: 1},
            loop=loop.loop,
            dashboard_address="127.0.0.1:0",
            local_directory=folder,
        ) as cluster,
    ):
        yield cluster
