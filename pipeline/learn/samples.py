"""Samples: what hak_stats_json said, from files or from the sockets of running processes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.core.errors import UsageError
from pipeline.core.nested import parse

Look = Callable[[int], dict[str, Any]]


class _Told(BaseModel):
    """Base of what the library tells: a newer library may tell more."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ClassSample(_Told):
    """One size class. A block is out when it is not in its slab."""

    size: int
    slab_bytes: int
    slabs: int
    returned_blocks: int
    fresh_blocks: int


class Sample(_Told):
    """One answer of the library. A figure that it does not know is None."""

    hakmem: str
    process: int
    options: dict[str, str] = {}
    figures: dict[str, int | None]
    events: dict[str, int]
    classes: tuple[ClassSample, ...]


FEWEST = 2
"""Answers of a process that show how a counter grew."""
BEGIN = 4096
"""So many characters show a file of another kind, before the rest is read, which may be endless."""


def read_samples(files: Sequence[Path]) -> list[Sample]:
    """Return the samples in ``files``, in order: each has one JSON text or several in a row."""
    return [sample for file in files for sample in _in_file(file)]


def _in_file(file: Path) -> Iterator[Sample]:
    try:
        with file.open(encoding="utf-8") as stream:
            head = stream.read(BEGIN).lstrip()
            text = (head + stream.read()).strip() if head[:1] in ("", "{") else head
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    if not text:
        raise UsageError(f"{file} is empty", hint="write the answers of hak_stats_json into it")
    decoder = json.JSONDecoder()
    while text:
        try:
            found, end = parse(decoder.raw_decode, text)
            yield Sample.model_validate(found)
        except ValueError as error:
            raise UsageError(
                f"{file} is no statistics of hakmem: {str(error).splitlines()[0]}",
                hint="docs/statistics.md says how to ask for them",
            ) from error
        text = text[end:].lstrip()


def watch(
    pids: Sequence[int],
    count: int,
    interval_s: float,
    look: Look,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[dict[str, Any]]:
    """Ask each process ``count`` times, ``interval_s`` apart; yield every answer as it comes.

    One that ends is asked no more. Its answers count if there are two, which show a growth.
    """
    running = list(pids)
    for number in range(count):
        if number and running:
            sleep(interval_s)
        for pid in tuple(running):
            try:
                yield look(pid)
            except UsageError:
                if number < FEWEST:
                    raise
                running.remove(pid)
