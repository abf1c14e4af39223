"""The four things a key can say."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What a key says about the tuned build; docs/verdicts.md has the whole table."""

    GO = "GO"
    NEUTRAL = "NEUTRAL"
    NO_GO = "NO-GO"
    INCONCLUSIVE = "INCONCLUSIVE"
