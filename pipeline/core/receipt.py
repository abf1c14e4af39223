"""The receipt of an artifact: what it was made from, and in what two of them differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.core.digest import digest_value
from pipeline.core.nested import read_json

RECEIPT = "receipt.json"

MOST_NAMED = 3
"""Changed files or tools that a reason names."""

Parts = Mapping[str, Any]
Notes = dict[str, Any]


@dataclass(frozen=True)
class Receipt:
    """How an artifact was made: the parts of its key, its outputs' digests, and its notes.

    ``stamps`` are the outputs as the disk had them then: one that still is so has its digest.
    """

    stage: str
    key: str
    parts: dict[str, Any]
    outputs: dict[str, str]
    seconds: float
    notes: Notes = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)


def read_receipt(folder: Path) -> Receipt | None:
    """Return the receipt in ``folder``, or None where there is none that can be read."""
    try:
        return Receipt(**read_json(folder / RECEIPT))
    except (OSError, ValueError, TypeError):
        return None


def by_stage(receipts: Iterable[Receipt]) -> dict[str, Receipt]:
    """Return receipts by the name of their stage, in order; none takes the place of another.

    A stage that was done for two inputs has a number behind its name from the second on: the first
    one made what is published, others what that was compared with.
    """
    found: dict[str, Receipt] = {}
    for one in receipts:
        name, number = one.stage, 1
        while name in found and found[name].key != one.key:
            number += 1
            name = f"{one.stage} ({number})"
        found[name] = one
    return found


def changed_parts(old: Parts, new: Parts) -> list[str]:
    """Return the names of the key parts that differ, for people who ask why something is done.

    They are compared as keys are: a receipt that was read has lists where a stage has tuples. Of a
    part that has names itself, such as those of tools or files, it says which.
    """
    return [f"{name}{_which(old.get(name), new.get(name))}" for name in differing(old, new)]


def differing(old: Parts, new: Parts) -> list[str]:
    """Return the names of what differs, or is only in one of the two; sorted."""
    names = sorted(old.keys() | new.keys())
    return [one for one in names if digest_value(old.get(one)) != digest_value(new.get(one))]


def _which(old: object, new: object) -> str:
    """Return in brackets what differs in two parts that are tables; "" for other ones."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return ""
    found = differing(old, new)
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f" ({', '.join(found[:MOST_NAMED])}{more})"
