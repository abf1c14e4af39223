"""Why a stage makes something again, in words: what of its key differs from the last time."""

from __future__ import annotations

from pipeline.core.receipt import Parts, changed_parts, differing
from pipeline.report.text import many

_TIME = "seconds"
"""How long may be judged: by the mode, by the profile's gate, or by an option."""

_FILES = "raw"
"""Files whose names have the numbers of processes: they say nothing to people."""

_MEANINGS = {
    **dict.fromkeys(
        ("baseline", "builds", "library", "slowed", "tuned"), "built by a stage before"
    ),
    **dict.fromkeys(
        ("factors", "first", "imported", "profile", "raw"), "counted by a stage before"
    ),
    "recipe": "the stage's own code",
}


def because(old: Parts, new: Parts) -> list[str]:
    """Return what differs between the parts of two keys."""
    return [_told(part, old, new) for part in changed_parts(old, new)]


def in_words(part: str) -> str:
    """Return a part of a key, and what it is where its name does not say that."""
    meaning = _MEANINGS.get(part.partition(" ")[0])
    return f"{part}, {meaning}" if meaning else part


def _told(part: str, old: Parts, new: Parts) -> str:
    name = part.partition(" ")[0]
    if name == _TIME and name in old and name in new:
        return f"{_limit(old, new)} ({_then_and_now(old[name], new[name])})"
    if name == _FILES and part != name:
        part = f"{name} ({many(len(differing(old[name], new[name])), 'file')})"
    return in_words(part)


def _limit(old: Parts, new: Parts) -> str:
    """Return what has set another time: the option, where all else that sets one is the same."""
    known = "mode" in old and "mode" in new
    others = {"mode", "gate"} & set(differing(old, new))
    return "--verify-time" if known and not others else "the time for timed runs"


def _then_and_now(old: object, new: object) -> str:
    """Return two times, or the first two of several that are not the same."""
    then, now = (one if isinstance(one, list | tuple) else (one,) for one in (old, new))
    first = next(((a, b) for a, b in zip(then, now, strict=False) if a != b), (then[0], now[0]))
    return "{:g} s then, {:g} s now".format(*first)
