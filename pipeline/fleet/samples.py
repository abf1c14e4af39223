"""Samples that perf takes of a running program: what the library costs it, and where."""

from __future__ import annotations

import re
import signal
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import P_FLAGS
from elftools.elf.elffile import ELFFile

from pipeline.core.errors import (
    ArtifactError,
    ChildError,
    DataError,
    PipelineError,
    ToolError,
    UsageError,
)
from pipeline.core.files import replacing
from pipeline.core.process import run
from pipeline.fleet.mappings import Mappings
from pipeline.toolchain.text_map import read_text_map
from pipeline.toolchain.text_model import TextMap

# Best first: with branch stacks edges can be had; without a counter unit only the clock is there.
KINDS = (
    ("-e", "cycles:u", "-j", "any,u"),
    ("-e", "cycles:u"),
    ("-e", "cpu-clock:u"),
)
LIMIT_S = 300.0
# How perf ends when the process is gone before the time is over: as its own `sleep` did.
PROCESS_ENDED = -signal.SIGTERM
UNMAPPED = -1  # the offset of samples whose mapping was not recorded
LIBRARY = re.compile(r"libhakmem[^/]*\.so")
BETWEEN = "[between]"
_SAMPLE = re.compile(r"^\s*([0-9a-f]+) .*\((.*)\)$")


@dataclass(frozen=True)
class Shares:
    """Shares of a process's time, from 0 to 1: in the library, and in each of its functions.

    ``unknown`` says why functions are not known, where they are not.
    """

    inside: float
    functions: Mapping[str, float]
    unknown: str = ""


@dataclass(frozen=True)
class Samples:
    """What a perf.data file says: samples in all, and those in the library by file offset."""

    total: int
    library: Path | None
    offsets: Counter[int]

    @property
    def inside(self) -> int:
        """Samples in the library."""
        return self.offsets.total()


def require_process(pid: int) -> None:
    """Raise UsageError when there is no process ``pid``."""
    if not Path(f"/proc/{pid}").is_dir():
        raise UsageError(f"there is no process {pid}", hint="`pgrep NAME` finds its number")


def sample(perf: Path, pid: int, seconds: float, output: Path) -> str:
    """Sample process ``pid`` into ``output``; return the event that perf really used.

    ``output`` is there when all went well, and not otherwise. Raises ToolError with perf's words
    when no kind of sampling works on the process.
    """
    with replacing(output) as fresh:
        return _sample(perf, pid, seconds, fresh)


def _sample(perf: Path, pid: int, seconds: float, output: Path) -> str:
    words = ""
    for options in KINDS:
        output.unlink(missing_ok=True)  # perf would keep it as .old
        argv = [perf, "record", "--quiet", *options, "-p", str(pid), "-o", output]
        try:
            run(
                [*argv, "--", "sleep", f"{seconds:g}"],
                timeout_s=seconds + LIMIT_S,
                expect=(0, PROCESS_ENDED),
            )
        except PipelineError as error:
            words = error.message
            continue
        if output.exists() and output.stat().st_size > 0:
            return event_of(perf, output) + (" with branch stacks" if "-j" in options else "")
    raise ToolError(
        f"perf cannot sample process {pid}: {words}",
        hint="does it run, is it yours, and is /proc/sys/kernel/perf_event_paranoid at most 2?",
    )


def require_busy(perf: Path, pid: int, seconds: float, data: Path) -> None:
    """Raise DataError, and remove the file, where the process did nothing while it was sampled."""
    if read_samples(perf, data).total:
        return
    data.unlink()
    raise DataError(
        f"process {pid} was idle: perf took no sample in {seconds:g} s. {_library_of(pid)}",
        hint="ask it something while it is sampled, or take longer (--seconds)",
    )


def _library_of(pid: int) -> str:
    """Say whether a process has the library, whatever it does."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace")
    except OSError:
        return "It has ended, or is not yours"
    return f"It runs {'with' if LIBRARY.search(maps) else 'without'} libhakmem"


def read_samples(perf: Path, data: Path) -> Samples:
    """Return the samples of a perf.data file; DataError if perf cannot read it."""
    text = perf_says(perf, data, "script", "--show-mmap-events", "-F", "ip,sym,dso")
    return parse_samples(text)


def event_of(perf: Path, data: Path) -> str:
    """Return the event that a perf.data file was sampled by."""
    return run([perf, "evlist", "-i", data], timeout_s=LIMIT_S).stdout.split("\n")[0].strip()


def perf_says(perf: Path, data: Path, command: str, *options: str) -> str:
    """Return what ``command`` of perf prints of a perf.data file; DataError if it cannot."""
    try:
        return run([perf, command, "-i", data, *options], timeout_s=LIMIT_S).stdout
    except ChildError as error:
        raise DataError(f"{data}: {error.message.splitlines()[-1].strip()}") from error


def parse_samples(text: str) -> Samples:
    """Read what `perf script --show-mmap-events -F ip,sym,dso` prints."""
    mappings = Mappings()
    total, library = 0, None
    offsets: Counter[int] = Counter()
    for line in text.splitlines():
        if mappings.add_line(line):
            continue
        found = _SAMPLE.match(line)
        if not found:
            continue
        total += 1
        if LIBRARY.search(found[2]):
            library = Path(found[2])
            place = mappings.place(int(found[1], 16))
            offsets[place[1] if place else UNMAPPED] += 1
    return Samples(total, library, offsets)


def by_function(samples: Samples, library: Path, text: TextMap) -> Counter[str]:
    """Return samples by function of ``library``; addresses in none are BETWEEN."""
    starts = [function.address for function in text.functions]
    counts: Counter[str] = Counter()
    for address, count in addresses(samples.offsets, library).items():
        place = bisect_right(starts, address) - 1
        function = text.functions[place] if place >= 0 else None
        known = function is not None and address < function.end
        counts[function.name if function is not None and known else BETWEEN] += count
    return counts


def addresses(offsets: Mapping[int, int], library: Path) -> Counter[int]:
    """Return counts by address of ``library`` in place of its file offsets; UNMAPPED stays so."""
    segments = executable(library)
    found: Counter[int] = Counter()
    for offset, count in offsets.items():
        shifts = (shift for low, high, shift in segments if low <= offset < high)
        found[offset + next(shifts, UNMAPPED - offset)] += count
    return found


def shares(samples: Samples) -> Shares:
    """Return what part of its time the process spent in each function of the library."""
    if samples.library is None:
        return Shares(0.0, {})
    inside = samples.inside / samples.total
    try:
        counts = by_function(samples, samples.library, read_text_map(samples.library))
    except (ArtifactError, OSError) as error:
        return Shares(inside, {}, str(error))
    return Shares(inside, {name: count / samples.total for name, count in counts.items()})


def together(weighted: Sequence[tuple[float, Shares]]) -> tuple[float, dict[str, float]]:
    """Return the mean share of the library, and of its functions, over hosts by weight."""
    total = sum(weight for weight, _ in weighted)
    functions: dict[str, float] = {}
    for weight, one in weighted:
        for name, share in one.functions.items():
            functions[name] = functions.get(name, 0.0) + share * weight / total
    return sum(weight * one.inside for weight, one in weighted) / total, functions


def executable(library: Path) -> list[tuple[int, int, int]]:
    """Return (first offset, end, address - offset) of the executable segments of a file."""
    with library.open("rb") as stream:
        return [
            (s["p_offset"], s["p_offset"] + s["p_filesz"], s["p_vaddr"] - s["p_offset"])
            for s in ELFFile(stream).iter_segments("PT_LOAD")
            if s["p_flags"] & P_FLAGS.PF_X
        ]
