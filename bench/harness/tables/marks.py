"""Two marks in a page of docs/results, between which tables stand that are made from files."""

from __future__ import annotations

from bench.harness import saved
from pipeline.core.errors import UsageError

_END = "<!-- end -->\n"


def between(page: str, begin: str, made: str) -> str:
    """Return the page with what was made behind the mark `begin`. Raises UsageError without it."""
    text = (saved.RESULTS / page).read_text(encoding="utf-8")
    before, mark, rest = text.partition(begin)
    _, end, after = rest.partition(_END)
    if not (mark and end):
        raise UsageError(
            f"docs/results/{page} lacks the lines\n{begin}{_END}",
            hint="write both where the tables are to stand, each on a line of its own",
        )
    return f"{before}{begin}\n{made}\n\n{_END}{after}"
