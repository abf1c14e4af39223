"""Reading what perf prints. What it does not know is None, never zero."""

from __future__ import annotations

import re
from collections import Counter

# "1000003 instructions/period=1000003/u:  7faacc13ef3f (/usr/lib/libhakmem.so)"
_SAMPLE = re.compile(r"^\s*(\d+)\s+(\S+?):?\s+[0-9a-f]+\s+\((.*)\)\s*$")
WHOLE = 99.9
"""Per cent of its time that a counter must have run; below, perf has scaled the count up."""

Samples = dict[str, Counter[str]]


def event_name(spelled: str) -> str:
    """Return the bare event of a spelling such as ``instructions/period=7/u`` or ``cycles:u``."""
    return re.split(r"[/:]", spelled, maxsplit=1)[0]


def parse_stat(text: str) -> dict[str, int | None]:
    """Return event -> count from ``perf stat -x ;``.

    "<not supported>", "<not counted>" and a count that was multiplexed (a running share below
    100 %) are None. Names are returned without their modifier.
    """
    values: dict[str, int | None] = {}
    for line in text.splitlines():
        fields = line.split(";")
        if len(fields) >= 5 and fields[2]:
            values[event_name(fields[2])] = _whole_count(fields[0], fields[4])
    return values


def _whole_count(count: str, running: str) -> int | None:
    try:
        share = float(running.replace(",", "."))
    except ValueError:
        return None
    return int(count) if count.isdigit() and share > WHOLE else None


def parse_samples(text: str) -> Samples:
    """Return event -> object -> events from ``perf script -F event,period,ip,dso``."""
    samples: Samples = {}
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found:
            samples.setdefault(event_name(found[2]), Counter())[found[3]] += int(found[1])
    return samples
