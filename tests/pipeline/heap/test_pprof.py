"""What ``pipeline heap --pprof`` writes: its records, and what pprof makes of them."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_heap import HERE, line_of, profiled, write

from pipeline.commands.heap import heap_command
from pipeline.heap import symbols
from pipeline.heap.pprof import encode
from pipeline.heap.read import Profile
from pipeline.heap.stacks import Frame, Stack

__all__ = ["profiled"]

Fields = dict[int, list[int | bytes]]
SOURCE = str(HERE / "profiled.c")


def varint(data: Iterator[int]) -> int:
    value = shift = 0
    while True:
        byte = next(data)
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value


def fields(message: int | bytes) -> Fields:
    """Return the fields of a message by their numbers; wire types 0 and 2 are all that occur."""
    assert isinstance(message, bytes)
    found: Fields = defaultdict(list)
    data = iter(message)
    for first in data:
        number, kind = divmod(first, 8)  # no number above 15 is in use
        assert kind in (0, 2) and 0 < number < 16
        value = varint(data)
        found[number].append(value if kind == 0 else bytes(next(data) for _ in range(value)))
    return found


def numbers(packed: int | bytes) -> list[int]:
    assert isinstance(packed, bytes)
    data, found = iter(packed), []
    for byte in data:
        found.append(byte if byte < 0x80 else byte & 0x7F | varint(data) << 7)
    return found


@dataclass
class Read:
    """A profile as its reader sees it: stacks of (function, file, line), innermost first."""

    functions: list[tuple[str, str]]
    samples: dict[tuple[tuple[str, str, int], ...], list[int]]


def read(data: bytes) -> Read:
    profile = fields(gzip.decompress(data))
    texts = [text.decode() for text in profile[6] if isinstance(text, bytes)]
    functions, lines = dict[int, tuple[str, str]](), dict[int, tuple[str, str, int]]()
    for one in map(fields, profile[5]):
        at, name, system, file = (int(one[number][0]) for number in (1, 2, 3, 4))
        assert texts[name] == texts[system]
        functions[at] = texts[name], texts[file]
    for one in map(fields, profile[4]):
        (line,) = map(fields, one[4])
        lines[int(one[1][0])] = (*functions[int(line[1][0])], int(line[2][0]))
    samples = {
        tuple(lines[at] for at in numbers(one[1][0])): numbers(one[2][0])
        for one in map(fields, profile[2])
    }
    assert len(samples) == len(profile[2])
    return Read(list(functions.values()), samples)


def test_lines_of_a_function_share_its_record() -> None:
    main = Frame("main")  # of a file without debug information
    sums: dict[Stack, float] = {
        (main, Frame("f", "a.cc:7", "/src")): 5.0,
        (main, Frame("f", "a.cc:300", "/src")): 6.0,
        (main, Frame("f", "a.cc:7", "/other")): 7.0,
        (main, Frame("g", "b.cc:1")): 8.0,
    }
    found = read(encode({}, sums, 64))
    functions = [("f", "/src/a.cc"), ("main", ""), ("f", "/other/a.cc"), ("g", "b.cc")]
    assert found.functions == functions
    assert found.samples == {
        (("f", "/src/a.cc", 7), ("main", "", 0)): [0, 5],
        (("f", "/src/a.cc", 300), ("main", "", 0)): [0, 6],
        (("f", "/other/a.cc", 7), ("main", "", 0)): [0, 7],
        (("g", "b.cc", 1), ("main", "", 0)): [0, 8],
    }


def written(program: Path, folder: Path, *more: str) -> Path:
    heap, out = folder / "a.heap", folder / "a.pb.gz"
    write(program, heap, "1: 1000000 [1: 1000000]", "2: 4000000 [3: 6000000]")
    CliRunner().invoke(
        heap_command, [str(heap), *more, "--pprof", str(out)], catch_exceptions=False
    )
    return out


def test_lines_and_files_are_those_of_the_sources(profiled: Path, tmp_path: Path) -> None:
    found = read(written(profiled, tmp_path).read_bytes())
    assert set(found.functions) == {(name, SOURCE) for name in ("main", "leaks", "keeps")}
    leaks = ("leaks", SOURCE, line_of("leaf(")), ("main", SOURCE, line_of("leaks();"))
    keeps = ("keeps", SOURCE, line_of("leaf(", 2)), ("main", SOURCE, line_of("keeps();"))
    assert found.samples == {leaks: [1000000, 1000000], keeps: [6000000, 4000000]}


def test_without_debug_information_there_are_functions_alone(
    profiled: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["strip", "--strip-debug", "-o", bare, profiled], check=True)
    found = read(written(bare, tmp_path).read_bytes())
    assert set(found.functions) == {(name, "") for name in ("main", "leaks", "keeps")}
    assert {line for stack in found.samples for *_function, line in stack} == {0}


def test_each_file_is_named_once(
    profiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Profile] = []

    def names(profile: Profile) -> symbols.Names:
        asked.append(profile)
        return symbols.names(profile)

    monkeypatch.setattr("pipeline.heap.look.names", names)
    written(profiled, tmp_path)
    assert len(asked) == 1
    later = tmp_path / "later.heap"
    write(profiled, later, "2: 2000000 [2: 2000000]", "2: 4000000 [3: 6000000]")
    written(profiled, tmp_path, str(later))
    assert len(asked) == 3


@pytest.mark.skipif(shutil.which("go") is None, reason="go tool pprof is not there")
def test_pprof_shows_the_lines(profiled: Path, tmp_path: Path) -> None:
    out = written(profiled, tmp_path)

    def said(*asked: str) -> str:
        command = ["go", "tool", "pprof", *asked, "-unit=B", str(out)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    rows = [line.split() for line in said("-top", "-lines").splitlines()]
    calls = {row[5]: (row[0], row[6]) for row in rows if row[5:] and "profiled.c" in row[-1]}
    assert calls["leaks"] == ("1000000B", f"{SOURCE}:{line_of('leaf(')}")
    assert calls["keeps"] == ("4000000B", f"{SOURCE}:{line_of('leaf(', 2)}")
    listed = [line.split() for line in said("-list=^keeps$").splitlines()]
    assert ["4000000B", "4000000B", f"{line_of('leaf(', 2)}:"] in [row[:3] for row in listed]
