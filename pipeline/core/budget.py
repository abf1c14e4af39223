"""How long a judgement may be asked to take: for what reads such a time, and what proposes one."""

from __future__ import annotations

LEAST_S, MOST_S = 30.0, 7 * 86400.0
"""Seconds."""
