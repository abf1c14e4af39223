"""What a single value of a profile file may be: counts, sizes, names, times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

_SUFFIXES = {"": 1, "k": 1_000, "M": 1_000_000}


def parse_count(value: object) -> int:
    """Turn 2000, "200k" or "20M" into a number of operations; ValueError for anything else."""
    match = re.fullmatch(r"(\d+)([kM]?)", str(value))
    if isinstance(value, bool) or match is None or int(match[1]) == 0:
        raise ValueError('must be a count above 0, such as 5000, "200k" or "20M"')
    return int(match[1]) * _SUFFIXES[match[2]]


def parse_position(value: object) -> int:
    """Turn 0, 2000 or "200k" into a number of events; ValueError for anything else."""
    return 0 if value == 0 and not isinstance(value, bool) else parse_count(value)


def parse_counted(value: object) -> object:
    """Take true, false, or the name of a program without its folder; ValueError for the rest."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip():
        raise ValueError('must be true, or the name of the program to count, such as "my-server"')
    return without_folder(value)


def without_folder(name: str) -> str:
    """Take the name of a program; ValueError where its folder stands in front of it."""
    if "/" in name:
        raise ValueError(f"give the program's name without its folder: {Path(name).name!r}")
    return name


def _ordered(sizes: tuple[int, int]) -> tuple[int, int]:
    if sizes[0] > sizes[1]:
        raise ValueError("the smallest size comes first")
    return sizes


Count = Annotated[int, BeforeValidator(parse_count)]
Counted = Annotated[bool | str, BeforeValidator(parse_counted)]
ProgramName = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(without_folder)]
Size = Annotated[int, Field(ge=1, le=1 << 40)]
Sizes = Annotated[tuple[Size, Size], AfterValidator(_ordered)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Budget = Annotated[float, Field(gt=0, le=86400)]
Margin = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=60)]
Symbol = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.$]*$")]
