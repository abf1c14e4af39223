"""Heap profiles in the format of pprof: protobuf (profile.proto) in gzip, with names and lines.

Written by hand: of the format a dozen numbers are needed, and a compiler of schemas for none else.
Source: https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator

from pipeline.heap.stacks import Frame, Stack, Sums

KINDS = ("alloc_space", "inuse_space")
"""What a sample counts, as pprof calls it; the last one is shown unless it is asked otherwise."""
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _PERIOD_TYPE, _PERIOD = 1, 2, 4, 5, 6, 11, 12
_DEFAULT = 14


def encode(allocated: Sums, live: Sums, rate: int) -> bytes:
    """Return a profile of the bytes of each stack, as estimated.

    A location is a line that calls, as far as it is known; lines of a function share its record.
    """
    texts: dict[str, int] = {"": 0}
    places: dict[Frame, int] = {}
    samples = list(_samples(allocated, live, places))
    functions: dict[tuple[str, str], int] = {}
    locations = [_location(frame, at, functions) for frame, at in places.items()]
    space = _message((1, _text(texts, "space")), (2, _text(texts, "bytes")))
    fields: list[tuple[int, int | bytes]] = [
        *((_SAMPLE_TYPE, _kind(texts, name)) for name in KINDS),
        *((_SAMPLE, sample) for sample in samples),
        *((_LOCATION, location) for location in locations),
        *((_FUNCTION, _function(texts, *known, at)) for known, at in functions.items()),
        (_PERIOD_TYPE, space),
        (_PERIOD, rate),
        (_DEFAULT, _text(texts, KINDS[-1])),
        *((_STRING, text.encode(errors="replace")) for text in texts),
    ]
    return gzip.compress(_message(*fields), mtime=0)


def _samples(allocated: Sums, live: Sums, places: dict[Frame, int]) -> Iterator[bytes]:
    for stack in dict.fromkeys((*allocated, *live)):
        values = round(allocated.get(stack, 0.0)), round(live.get(stack, 0.0))
        yield _message((1, _packed(_locations(stack, places))), (2, _packed(values)))


def _locations(stack: Stack, places: dict[Frame, int]) -> list[int]:
    """Return the numbers of a stack's calls, the innermost first."""
    frames = reversed(stack or (Frame("?"),))
    return [places.setdefault(frame, len(places) + 1) for frame in frames]


def _location(frame: Frame, at: int, functions: dict[tuple[str, str], int]) -> bytes:
    file, _colon, line = frame.place.rpartition(":")
    path = f"{frame.folder}/{file}" if frame.folder else file
    function = functions.setdefault((frame.name, path), len(functions) + 1)
    return _message((1, at), (4, _message((1, function), (2, int(line or 0)))))


def _function(texts: dict[str, int], name: str, path: str, at: int) -> bytes:
    """Return a function's record: number, name for readers, name for the linker, and file."""
    said = _text(texts, name)
    return _message((1, at), (2, said), (3, said), (4, _text(texts, path)))


def _kind(texts: dict[str, int], name: str) -> bytes:
    return _message((1, _text(texts, name)), (2, _text(texts, "bytes")))


def _text(texts: dict[str, int], text: str) -> int:
    return texts.setdefault(text, len(texts))


def _message(*fields: tuple[int, int | bytes]) -> bytes:
    """Return fields one after the other: numbers as varints, texts and messages by their length."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
        else:
            out += _varint(number << 3 | 2) + _varint(len(value)) + value
    return bytes(out)


def _packed(values: Iterable[int]) -> bytes:
    return b"".join(_varint(value) for value in values)


def _varint(value: int) -> bytes:
    """Return seven bits in each byte, the lowest first; negative numbers have 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
