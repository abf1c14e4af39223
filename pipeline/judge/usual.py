"""Whether a profile judges by wider margins than usual: who reads a verdict has to know."""

from __future__ import annotations

from pipeline.judge.keys import share
from pipeline.judge.request import Margins

NAMES = {
    "throughput": "throughput",
    "workload": "what one workload may lose",
    "icache": "I-cache misses",
    "rss": "peak memory",
}


def wider_margins(margins: Margins) -> str | None:
    """Return which margins are wider than the usual ones, each with both; None: none is."""
    usual = Margins()
    found = [
        f"{words} {share(getattr(margins, name))} instead of {share(getattr(usual, name))}"
        for name, words in NAMES.items()
        if getattr(margins, name) > getattr(usual, name)
    ]
    return ", ".join(found) or None
