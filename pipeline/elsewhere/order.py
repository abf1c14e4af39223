"""An order for a library, and what a worker does with it.

:func:`make` unpacks the sources into a folder of the worker's own and builds them there, as
`pipeline build --cpu KIND` does on any machine: trained, judged and published, in that folder.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.beside import running_beside
from pipeline.core.errors import BuildError, GateError, PipelineError, ToolError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.core.processor import machine, nearest
from pipeline.elsewhere.snapshot import Snapshot, unpack
from pipeline.release.origin import other_tools
from pipeline.release.published import published
from pipeline.release.version import MANIFEST
from pipeline.toolchain.find import find_toolchain

if TYPE_CHECKING:
    from distributed import Worker

FOLDER = "hakmem"
"""Below the folder that a worker has for itself; both go with the worker."""

LIBRARY, DEBUG, VERDICT, REPORT = "library", "debug", "verdict.json", "report.html"
SENT_BACK = (LIBRARY, DEBUG, MANIFEST, VERDICT, REPORT)
LAST_WORDS = 6
ERROR = "error: "
"""What the last sentence of a build that failed begins with."""


@dataclass(frozen=True)
class Order:
    """What is to be made: the library of a line of versions for one kind of processor.

    ``words`` are the options of `pipeline build`, ``tools`` the versions of those that decide the
    bytes of a library.
    """

    kind: str
    line: str
    words: tuple[str, ...]
    tools: Mapping[str, str]
    snapshot: Snapshot


@dataclass(frozen=True)
class Made:
    """What a worker sends back: where it was made, and the files SENT_BACK by name."""

    host: str
    files: Mapping[str, bytes]


def kind_here() -> str:
    """Return which processor this worker has."""
    return machine().name


def make(order: Order) -> Made:
    """Build, on a worker of a Dask scheduler. When nobody waits for it any more it ends."""
    from distributed import get_worker

    worker = get_worker()
    key = str(worker.get_current_task())
    place = Path(worker.local_directory) / FOLDER
    return make_in(place, order, lambda: is_wanted(worker, key))


def is_wanted(worker: Worker, key: str) -> bool:
    """Return whether somebody still waits for a task that ``worker`` executes."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state != "cancelled"


def make_in(place: Path, order: Order, wanted: Callable[[], bool]) -> Made:
    """Build in a folder of ``place``, as long as it is ``wanted``.

    Raises ToolError where the processor is of another kind or the tools are others, GateError with
    the judge's reason, BuildError with the last words of a build that failed.
    """
    _check_processor(order)
    _check_tools(order)
    tree = Tree(unpack(order.snapshot, place))
    shutil.rmtree(tree.dist(order.line), ignore_errors=True)
    log = tree.logs(order.line) / "ordered.log"
    argv = [sys.executable, "-m", "pipeline", "build", *order.words]
    # Which LLVM it takes is the worker's to say.
    env = {name: value for name in ("HAKMEM_LLVM",) if (value := os.environ.get(name))}

    def require_wanted(_: str) -> None:
        if not wanted():
            raise BuildError("the command that ordered this build is gone")

    with running_beside(argv, log=log, cwd=tree.root, env=env) as child:
        code, _, _ = child.finish(require_wanted)
    if code != 0:
        raise _failed(tree, order, code, log.read_text(encoding="utf-8", errors="replace"))
    return Made(platform.node(), _files(tree, order))


def _check_processor(order: Order) -> None:
    here, host = kind_here(), platform.node()
    if order.kind not in nearest(here):
        raise ToolError(f"{host} has {here}, and this order is for {order.kind}")


def _check_tools(order: Order) -> None:
    host = platform.node()
    if differing := other_tools(order.tools, find_toolchain().versions):
        raise ToolError(
            f"{host} has other tools than the order wants: {differing}",
            hint="install the same there; HAKMEM_LLVM in a worker's environment chooses one",
        )


def _failed(tree: Tree, order: Order, code: int, said: str) -> PipelineError:
    """Return why a build failed, as it said itself."""
    if code == ExitCode.GATE:
        report = tree.reports(order.line) / "last" / "report.json"
        return GateError(str(read_json(report)["reason"]))
    _, found, words = said.rpartition(ERROR)
    last = words.strip().splitlines()[: 1 if found else None][-LAST_WORDS:]
    return BuildError(f"the build ended with code {code}: {' '.join(last)}")


def _files(tree: Tree, order: Order) -> dict[str, bytes]:
    version = published(tree.dist(order.line))[0]
    debug = version.library.with_name(f"{version.library.name}.debug")
    paths = {LIBRARY: version.library, DEBUG: debug}
    paths |= {name: version.folder / name for name in (MANIFEST, VERDICT, REPORT)}
    return {name: path.read_bytes() for name, path in paths.items()}
