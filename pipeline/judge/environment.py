"""Where a measurement was made: recorded with every result, unknown where the machine is silent."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path

from pipeline.core import huge_pages
from pipeline.core.errors import ChildError, ToolError
from pipeline.core.process import run
from pipeline.core.processor import machine
from pipeline.judge.l1i import machine_l1i
from pipeline.judge.model import Environment

VERSION_LIMIT_S = 10.0
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_ASLR = Path("/proc/sys/kernel/randomize_va_space")


def load() -> float:
    """Return the mean number of runnable tasks over the last minute."""
    return os.getloadavg()[0]


def record(tools: Mapping[str, Path | None], load_before: float) -> Environment:
    """Return the description of this machine and of ``tools``, after the measurement."""
    l1i, source = machine_l1i()
    return Environment(
        cpu=_field(Path("/proc/cpuinfo"), r"model name\s*:\s*(.+)"),
        processor=machine().name,
        cores=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        libc=" ".join(platform.libc_ver()),
        memory_mib=_memory_mib(),
        governor=_text(_GOVERNOR),
        transparent_hugepages=huge_pages.chosen(),
        pages_of_64_kib=huge_pages.told(huge_pages.SMALL_KIB),
        aslr=_text(_ASLR),
        load_before=load_before,
        load_after=load(),
        l1i=l1i,
        l1i_source=source,
        tools=tool_versions(tools),
    )


def tool_versions(tools: Mapping[str, Path | None]) -> dict[str, str]:
    """Return the version number of each tool, or that it is not there."""
    return {name: _version(path) if path else "not installed" for name, path in tools.items()}


def _version(tool: Path) -> str:
    try:
        done = run([tool, "--version"], timeout_s=VERSION_LIMIT_S)
    except (ChildError, ToolError):
        return "unknown"
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    return found[0] if found else "unknown"


def _memory_mib() -> int | None:
    kib = _field(Path("/proc/meminfo"), r"MemTotal:\s*(\d+) kB")
    return None if kib is None else int(kib) // 1024


def _field(path: Path, pattern: str) -> str | None:
    found = re.search(pattern, _text(path) or "")
    return found[1].strip() if found else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
