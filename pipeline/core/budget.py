"""How long a judgement may be asked to take: what reads such a time must know it, and what asks."""

from __future__ import annotations

LEAST_S, MOST_S = 30.0, 7 * 86400.0
"""Seconds."""
