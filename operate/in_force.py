"""Which options of a process's start the library does not go by, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operate import options
from operate.processes import Process

NO_OPTION, NOT_USABLE, NO_LIMIT = "no such option", "not usable", "limits nothing"
_PATHS = ("HAKMEM_STATS_SOCKET", "HAKMEM_PROFILE_HEAP")


def without_effect(
    process: Process, path: str | None, values: Mapping[str, str] | None, limits: Mapping[str, Any]
) -> dict[str, str]:
    """Return why options have no effect, by name; nothing where nobody can read the library.

    ``path`` is the library that the process has mapped, and ``limits`` are those of the system.
    """
    if path is None or not values:
        return {}
    try:
        library = process.mapped(path).read_bytes()
    except OSError:
        return {}
    ranges = options.ranges(library)
    limited = limits["cgroup_hard"] is not None
    whys = {name: _why(name, value, ranges, limited) for name, value in values.items()}
    return {name: why for name, why in whys.items() if why}


def _why(name: str, value: str, ranges: options.Ranges, limited: bool) -> str:
    """Say why; names that the library has only heard of, such as other variants' ones, are none."""
    if ranges and name not in (*ranges, *options.TEXTS):
        return NO_OPTION
    if name in _PATHS:  # whether its folder was there at the start nobody knows
        return NOT_USABLE if value and not value.startswith("/") else ""
    if options.why_number(name, value, ranges):
        return NOT_USABLE
    share = name in options.SIZES and value.endswith("%")
    return NO_LIMIT if share and not limited else ""
