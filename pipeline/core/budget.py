"""How long a judgement may be asked to take, and how many pairs: for what reads or proposes it."""

from __future__ import annotations

LEAST_S, MOST_S = 30.0, 7 * 86400.0
"""Seconds."""

MIN_PAIRS = 10
"""Fewer pairs mislead: a 10-run average once said +1.1 % where 20 runs said +0.5 %."""
MOST_PAIRS = 100_000
