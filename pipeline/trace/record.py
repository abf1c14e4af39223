"""Running a program with the recorder preloaded; one file of what its processes wrote."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.beside import run_as_it_is
from pipeline.core.errors import DataError, SpaceError, UsageError
from pipeline.core.files import replacing
from pipeline.core.preload import preload
from pipeline.trace.tools import RecorderTools

PAGE = 4096
PIECE = 1 << 20
# `started_ns` in the header of a section, training/recorder/format.h.
STARTED_AT = 40
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


@dataclass(frozen=True)
class Wishes:
    """How to record: call sites, one of ``sample`` addresses, the last ``ring_mib`` MiB alone."""

    sites: bool = False
    sample: int = 1
    ring_mib: int = 0

    def environment(self, library: Path, folder: Path) -> dict[str, str]:
        """Return the variables that the recorder reads."""
        variables = {**preload(library), "HAKMEM_TRACE": f"{folder}/%p"}
        if before := os.environ.get("LD_PRELOAD"):
            variables["LD_PRELOAD"] += f":{before}"
        if self.sites:
            variables["HAKMEM_TRACE_SITES"] = "1"
        if self.sample > 1:
            variables["HAKMEM_TRACE_SAMPLE"] = str(self.sample)
        if self.ring_mib:
            variables["HAKMEM_TRACE_RING"] = str(self.ring_mib)
        return variables


EVERYTHING = Wishes()


def parts_folder(output: Path) -> Path:
    """Return the folder in which processes write while the program runs."""
    return output.with_name(output.name + ".parts")


def record(
    tools: RecorderTools,
    argv: Sequence[str],
    output: Path,
    wishes: Wishes = EVERYTHING,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> int:
    """Run ``argv`` and write the trace of all its processes to ``output``; return its exit code.

    The program has our own environment (with ``env`` added), input and output. Its processes
    write into a private folder beside ``output``, which stays if we are killed. Raises SpaceError
    when that cannot be made or there is no room, ToolError when the program cannot be started,
    DataError when nothing was recorded.
    """
    folder = parts_folder(output)
    if folder.exists():
        trace, parts = shlex.quote(str(output)), shlex.quote(str(folder))
        raise UsageError(
            f"{folder} is left over from a recording that did not end",
            hint=f"`.venv/bin/pipeline trace join -o {trace} {parts}` makes a trace of it; "
            "or remove it",
        )
    try:
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True)
    except OSError as error:
        raise SpaceError(f"cannot make {folder}: {error.strerror}") from error
    try:
        variables = wishes.environment(tools.library, folder.resolve())
        code = run_as_it_is(argv, env={**(env or {}), **variables}, cwd=cwd)
        _gather(folder, output)
    finally:
        if output.exists() or not any(map(_used_length, folder.iterdir())):
            shutil.rmtree(folder, ignore_errors=True)
    return code


def _gather(folder: Path, output: Path) -> None:
    """Make one trace of the parts. The only part is renamed: it may be half of what is free."""
    written = sorted(folder.iterdir(), key=_birth)
    parts = [part for part in written if _used_length(part)]
    if written and not parts:
        raise SpaceError(f"nothing was recorded: there is no room in {folder.parent}")
    try:
        if len(parts) == 1:
            os.truncate(parts[0], _used_length(parts[0]))
            parts[0].replace(output)
        else:
            join(parts, output)
    except (OSError, SpaceError) as error:
        raise SpaceError(
            str(error) if isinstance(error, SpaceError) else f"{output}: {error.strerror}",
            hint=f"what was recorded is in {folder}; where there is room for it once more: "
            f"`.venv/bin/pipeline trace join -o FILE {shlex.quote(str(folder))}`",
        ) from error


def join(parts: Sequence[Path], output: Path) -> None:
    """Write the traces ``parts`` one after the other to ``output``, without the room not used.

    Raises DataError when there is none, SpaceError when the disk is full.
    """
    if not parts:
        raise DataError(
            "nothing was recorded: no process that loaded the recorder allocated anything",
            hint="does the program allocate at all, is it linked statically or setuid, or does it "
            "clear LD_PRELOAD?",
        )
    with replacing(output) as fresh:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        with os.fdopen(descriptor, "wb") as stream:
            for part in parts:
                left = _used_length(part)
                with part.open("rb") as source:
                    while piece := source.read(min(PIECE, left)):
                        stream.write(piece)
                        left -= len(piece)
                stream.write(bytes(left))  # of a part that was cut off within a page


def _birth(part: Path) -> tuple[int, str]:
    """Return when the process of a part began, from its header, so that parents come first."""
    with part.open("rb") as stream:
        stream.seek(STARTED_AT)
        return int.from_bytes(stream.read(8), "little"), part.name


def _used_length(part: Path) -> int:
    """Return where the zeros at the end of a part begin, rounded up to a page."""
    length = part.stat().st_size
    with part.open("rb") as stream:
        while length > 0:
            begin = max(0, length - PIECE)
            stream.seek(begin)
            used = len(stream.read(length - begin).rstrip(b"\0"))
            if used:
                return -(-(begin + used) // PAGE) * PAGE
            length = begin
    return 0
