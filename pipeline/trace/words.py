"""Sentences and numbers about a trace, for the terminal and for HTML alike."""

from __future__ import annotations

from pipeline.trace.read import Process, Resolved
from pipeline.trace.statistics import Statistics

# Characters of a command line where it stands in a list.
NAME_WIDTH = 70
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
SITES_FLAG, RING_FLAG, DERIVED_FLAG = 1, 2, 4


def size(count: float) -> str:
    """Return bytes with the unit that fits: 512 B, 1.5 KiB."""
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} {_UNITS[-1]}"


def share(part: float, whole: float) -> str:
    """Return part of whole in per cent, or a dash when the whole is not above zero."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else "-"


def facts(found: Statistics) -> list[tuple[str, str]]:
    """Return what the trace says in single numbers, as (name, value)."""
    process, calls = found.process, found.calls
    births = sum(calls[name] for name in ("malloc", "calloc", "aligned"))
    return [
        ("program", process.name),
        ("events", f"{process.events:,} (calls, and threads that end)"),
        ("trace file", _bytes_per_event(process)),
        ("run time", _run_time(process)),
        ("time spent recording", overhead(process)),
        ("allocations", f"{births:,} ({_kinds(calls)})"),
        ("reallocs", f"{calls['realloc']:,}"),
        ("frees", f"{found.frees:,}, and {found.free_null:,} of NULL"),
        ("never freed", f"{found.never_freed:,} objects"),
        ("peak", f"{size(found.peak_bytes)} live; at most {found.peak_objects:,} objects"),
        ("threads", f"{len(found.threads):,}"),
        ("freed by another thread", share(found.remote_share, 1)),
    ]


def _run_time(process: Process) -> str:
    """Return how long the program ran, which it notes at its end."""
    if process.run_ns:
        return f"{process.run_ns / 1e9:.2f} s"
    return "unknown" if process.closed else "unknown, as it did not end by exit"


def overhead(process: Process) -> str:
    """Return the recorder's share of the processor time, as it measured it itself."""
    if not process.cpu_ns or not process.recorder_ns:
        return "unknown"
    if process.recorder_ns >= process.cpu_ns:
        return "unknown, the estimate is above all of the program's processor time"
    rest = process.cpu_ns - process.recorder_ns
    # Time inside the recorder. What its buffers cost the program's caches is not in it.
    return f"at least {100 * process.recorder_ns / rest:.0f} % of the program's processor time"


def one_line(name: str, width: int = NAME_WIDTH) -> str:
    """Return the beginning of a command line; arguments may be whole scripts."""
    words = " ".join(name.split())
    return words if len(words) <= width else f"{words[: width - 1]}…"


def warnings(process: Process) -> list[str]:
    """Return what a reader has to know before trusting the numbers."""
    found = []
    if process.damage:
        found.append(f"damaged: {process.damage}; read up to there")
    if not process.closed:
        found.append("the program was killed, replaced itself by exec, or left by _exit")
    if process.lost:
        found.append(f"{process.lost:,} events were lost: there was no room on disk")
    if process.sample > 1:
        found.append(
            f"one of {process.sample} addresses was recorded; {process.left_out:,} events left out"
        )
    if process.flags & RING_FLAG:
        found.append("a ring: only the last part of the run is here")
    if isinstance(process, Resolved) and process.foreign:
        found.append(f"{process.foreign:,} frees of blocks from before the recording are left out")
    if isinstance(process, Resolved) and process.unseen:
        found.append(f"{process.unseen:,} objects were freed unseen")
    return found


def _bytes_per_event(process: Resolved) -> str:
    # The header counts what a ring has overwritten, too.
    events = process.events if process.flags & RING_FLAG else process.sealed_events
    if not events or process.damage:
        return "unknown bytes per event"
    return f"{process.sealed_bytes / events:.2f} bytes per event"


def _kinds(calls: dict[str, int]) -> str:
    names = {"malloc": "malloc", "calloc": "calloc", "aligned": "with an alignment"}
    return ", ".join(f"{calls[key]:,} {name}" for key, name in names.items() if calls[key])
