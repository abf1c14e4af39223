"""What the system allows a process: huge pages, limits, the memory of its cgroup."""

from __future__ import annotations

import re
from pathlib import Path

from operate.processes import Process
from pipeline.core import huge_pages as pages

_HUGE = Path("sys/kernel/mm/transparent_hugepage")
_LIMITS = {
    "Max address space": "address_space",
    "Max data size": "data",
    "Max locked memory": "locked",
    "Max resident set": "resident",
}
_CGROUP_FILES = (
    ("memory.max", "memory.high"),
    ("memory.limit_in_bytes", "memory.soft_limit_in_bytes"),
)
Facts = dict[str, object]


def huge_pages(process: Process, root: Path = Path("/")) -> Facts:
    """Return what the system and the process are set to, and what the process has."""
    return {
        "enabled": pages.chosen(root / _HUGE / "enabled") or "none",
        "defrag": pages.chosen(root / _HUGE / "defrag") or "none",
        **_pages(pages.LARGE_KIB, "2_MiB", root / _HUGE),
        **_pages(pages.SMALL_KIB, "64_KiB", root / _HUGE),
        "allowed_in_process": _field(process.text("status"), "THP_enabled") != "0",
        "huge_bytes": _kib(process.text("smaps_rollup"), "AnonHugePages"),
    }


def _pages(kib: int, size: str, folder: Path) -> Facts:
    """Return whether a program may ask for pages of this size, and the line that would allow it."""
    allowed = pages.setting(kib, folder)
    facts: Facts = {f"of_{size}": allowed or "not in this kernel"}
    if allowed == "never":
        facts[f"to_allow_{size}"] = pages.line_that_allows(kib, folder)
    return facts


def memory(process: Process) -> Facts:
    """Return what the process holds."""
    status = process.text("status")
    return {
        "resident_bytes": _kib(status, "VmRSS"),
        "peak_bytes": _kib(status, "VmHWM"),
        "mapped_bytes": _kib(status, "VmSize"),
        "mappings": process.text("maps").count("\n"),
    }


def limits(process: Process, root: Path = Path("/")) -> Facts:
    """Return soft limits in bytes, None for unlimited, and what the system says of memory."""
    found: Facts = {}
    for line in process.text("limits").splitlines():
        for title, name in _LIMITS.items():
            if line.startswith(title):
                word = line.removeprefix(title).split()[0]
                found[name] = None if word == "unlimited" else int(word)
    return {
        **found,
        "mappings": _number(root / "proc/sys/vm/max_map_count"),
        "overcommit": _number(root / "proc/sys/vm/overcommit_memory"),
        **cgroup(process, root),
    }


def cgroup(process: Process, root: Path = Path("/")) -> Facts:
    """Return the smallest limits of its cgroup and those above it; None: no limit."""
    for line in process.text("cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" or "memory" in controllers.split(","):
            v2 = number == "0"
            base = root / "sys/fs/cgroup" / ("" if v2 else "memory")
            hard, soft = _CGROUP_FILES[0 if v2 else 1]
            folders = _upwards(base, path)
            if any((folder / hard).is_file() for folder in folders):
                return {
                    "cgroup_hard": _smallest(folders, hard),
                    "cgroup_soft": _smallest(folders, soft),
                }
    return {"cgroup_hard": None, "cgroup_soft": None}


def _upwards(base: Path, path: str) -> list[Path]:
    own = base / path.lstrip("/")
    return [own, *[one for one in own.parents if one == base or base in one.parents]]


def _smallest(folders: list[Path], name: str) -> int | None:
    found = [number for folder in folders if (number := _number(folder / name)) is not None]
    real = [number for number in found if 0 <= number < 1 << 60]  # v1 writes a huge number for none
    return min(real, default=None)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _field(text: str, name: str) -> str:
    found = re.search(rf"^{name}:\s*(\S+)", text, re.M)
    return found.group(1) if found else ""


def _kib(text: str, name: str) -> int | None:
    word = _field(text, name)
    return int(word) * 1024 if word.isdigit() else None
