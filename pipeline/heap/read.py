"""Reading a heap profile: the text that gperftools writes ("heap_v2"), and pprof reads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import DataError

_NUMBER = r"(\d{1,20})"  # up to 64 bits, and so are addresses
_COUNTS = rf"\s*{_NUMBER}:\s*{_NUMBER}\s*\[\s*{_NUMBER}:\s*{_NUMBER}\]\s*@"
_HEAD = re.compile(rf"heap profile:{_COUNTS}\s*heap_v2/{_NUMBER}\s*")
_SITE = re.compile(rf"{_COUNTS}((?:\s+0x[0-9a-fA-F]{{1,16}})*)\s*")
_LOST = re.compile(rf"# lost samples: {_NUMBER}\s*")
_ADDRESS = r"([0-9a-f]{1,16})"
_MAPPING = re.compile(rf"{_ADDRESS}-{_ADDRESS} ..x. {_ADDRESS} \S+ \d+\s+(/[^\0]*)")


LONGEST_HEAD = 1000
"""Characters that are read to tell a profile from a file of another kind."""

MOST_CALLS = 32
"""Calls of a stack that the library keeps (HAK_STACK_MOST): the innermost ones."""

DEEPEST = 256
"""Calls of a stack that are read: gperftools keeps 254, and trees are walked call by call."""


@dataclass(frozen=True)
class Site:
    """A call stack, innermost call first, and how many bytes it stands for, as estimated.

    ``samples`` are those since the start, ``live_samples`` those among them that still live.
    """

    stack: tuple[int, ...]
    live: float
    allocated: float
    live_samples: int
    samples: int


@dataclass(frozen=True)
class Mapping:
    """Where code of a file lay in the process."""

    start: int
    end: int
    offset: int
    file: Path


@dataclass(frozen=True)
class Profile:
    """One profile: a sample in ``rate`` bytes in the mean; ``lost`` ones found no room.

    ``samples`` are those since the start, ``live_samples`` those among them that still live.
    """

    rate: int
    samples: int
    live_samples: int
    lost: int
    sites: tuple[Site, ...]
    mappings: tuple[Mapping, ...]

    @property
    def cut_samples(self) -> int:
        """How many samples, of all since the start, have a stack whose outer calls are missing."""
        return sum(site.samples for site in self.sites if len(site.stack) >= MOST_CALLS)


def read(path: Path) -> Profile:
    """Return the profile in a file; DataError names the line that is wrong."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as stream:
            head = _head(path, stream.readline(LONGEST_HEAD))
            rest = enumerate(stream.read().splitlines(), start=2)
    except OSError as error:
        raise DataError(
            f"{path}: {error.strerror}", hint="is it a file that you may read?"
        ) from None
    rate = int(head[5])
    lost, sites = _sites(path, rest, rate)
    return Profile(rate, int(head[3]), int(head[1]), lost, tuple(sites), tuple(_mappings(rest)))


def _head(path: Path, line: str) -> re.Match[str]:
    """Return what the first line says; before the rest is read, which may have no end."""
    head = _HEAD.fullmatch(line.rstrip("\n"))
    if head is None or int(head[5]) == 0:
        raise DataError(
            f"{path} is no heap profile: its first line names no heap_v2 and no rate",
            hint="give a file in the format of gperftools' heap profiles",
        )
    return head


def _sites(path: Path, lines: Iterable[tuple[int, str]], rate: int) -> tuple[int, list[Site]]:
    """Return the samples lost, and the sites up to the list of mappings, which must come."""
    lost, sites = 0, list[Site]()
    for number, line in lines:
        if line == "MAPPED_LIBRARIES:":
            return lost, sites
        if found := _SITE.fullmatch(line):
            sites.append(_site(path, number, found, rate))
        elif found := _LOST.fullmatch(line):
            lost = int(found[1])
        elif line.strip():
            raise DataError(
                f"{path}:{number}: neither a site nor the list of mappings",
                hint="is the file whole? Let the program write it again",
            )
    raise DataError(
        f"{path} ends before its list of mappings",
        hint="the file was cut; let the program write it again",
    )


def _site(path: Path, number: int, found: re.Match[str], rate: int) -> Site:
    stack = found[5].split()
    if len(stack) > DEEPEST:
        raise DataError(
            f"{path}:{number}: a stack of {len(stack):,} calls; {DEEPEST} are read at most",
            hint="is the file whole? Let the program write it again",
        )
    live, live_bytes, count, count_bytes = (int(found[n]) for n in range(1, 5))
    return Site(
        tuple(int(word, 16) for word in stack),
        estimate(live, live_bytes, rate),
        estimate(count, count_bytes, rate),
        live,
        count,
    )


def estimate(count: int, sampled: int, rate: int) -> float:
    """Return how many bytes ``count`` samples of ``sampled`` bytes stand for.

    A block of n bytes is a sample with the chance 1 - exp(-n / rate), if samples are Poisson's.
    """
    return -sampled / math.expm1(-sampled / count / rate) if count and sampled else 0.0


def _mappings(lines: Iterable[tuple[int, str]]) -> Iterator[Mapping]:
    """Yield those that hold code of a file, as /proc/PID/maps has them."""
    for _number, line in lines:
        if found := _MAPPING.fullmatch(line):
            start, end, offset = (int(found[n], 16) for n in (1, 2, 3))
            yield Mapping(start, end, offset, Path(found[4].removesuffix(" (deleted)")))
