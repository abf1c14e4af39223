"""The recorder and the program that knows the trace format, built by this tree when needed."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.digest import digest_tree
from pipeline.core.errors import BuildError, ChildError, ToolError
from pipeline.core.paths import Tree
from pipeline.core.process import run

SOURCES = ("training/recorder", "cmake")
BUILD_LIMIT_S = 120.0


@dataclass(frozen=True)
class RecorderTools:
    """libhakmem-trace.so, and trace-tool, which reads and writes traces."""

    library: Path
    tool: Path


def recorder_tools(tree: Tree) -> RecorderTools:
    """Return the recorder's files, built now (2 s) if these sources were not built before.

    Raises ToolError without CMake or Ninja, BuildError with the log when the compiler refuses.
    """
    folder = tree.state / "recorder" / digest_tree(tree.root, SOURCES)[:16]
    if not folder.exists():
        _build(tree, folder)
    return RecorderTools(folder / "libhakmem-trace.so", folder / "trace-tool")


def _build(tree: Tree, folder: Path) -> None:
    """Build in a folder of this process; the rename makes it visible complete or not at all."""
    for program in ("cmake", "ninja"):
        if shutil.which(program) is None:
            raise ToolError(f"there is no {program}", hint="`./bootstrap doctor` shows what to do")
    room = folder.with_name(f".{folder.name}.{os.getpid()}")
    source = tree.root / "training" / "recorder"
    log = tree.state / "recorder" / "build.log"
    try:
        run(
            ["cmake", "-G", "Ninja", "-S", source, "-B", room],
            log=log.with_name("configure.log"),
            timeout_s=BUILD_LIMIT_S,
        )
        run(["cmake", "--build", room], log=log, timeout_s=BUILD_LIMIT_S)
    except ChildError as error:
        shutil.rmtree(room, ignore_errors=True)
        raise BuildError(f"the recorder: {error.message}", log=error.log) from error
    try:
        room.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(room, ignore_errors=True)
