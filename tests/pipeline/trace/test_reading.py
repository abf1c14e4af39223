"""Damaged, cut off and foreign files; cut, merge, join, anonymise."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from trace_support import HANDED, LOOPED, Recorder, births, deaths

from pipeline.cli import cli
from pipeline.core.errors import DataError
from pipeline.trace.read import Trace, change, processes, read
from pipeline.trace.record import join

HEADER = 4096
CHUNK = 65_536


@pytest.fixture(scope="module")
def whole(shared_recorder: Recorder) -> Path:
    """A trace of about 400,000 events in two threads."""
    return shared_recorder.record("threads", "2000", name="whole")


@pytest.fixture(scope="module")
def single(shared_recorder: Recorder) -> Path:
    """A trace of one thread."""
    return shared_recorder.record("loop", "100000", name="single")


def is_beginning_of(part: Trace, of: Trace) -> bool:
    """Whether the events of ``part`` are the first ones of ``of``."""
    return bool(np.array_equal(part.rows, of.rows[: len(part.rows)]))


@pytest.mark.parametrize("length", [4096, 4160, 50_000, 65_536 + 4096, 200_000, 300_001])
def test_a_truncated_file_is_read_up_to_its_end(
    recorder: Recorder, whole: Path, length: int
) -> None:
    cut = recorder.folder / "cut.trace"
    cut.write_bytes(whole.read_bytes()[:length])
    trace = recorder.read(cut)
    assert trace.process.damage
    assert is_beginning_of(trace, recorder.read(whole))


@pytest.mark.parametrize("chunk", [0, 1, 3])
@pytest.mark.parametrize("place", [1, 8, 40, 500, CHUNK - 100])
def test_a_flipped_bit_is_named_and_read_up_to(
    recorder: Recorder, single: Path, chunk: int, place: int
) -> None:
    """A thread writes into the first chunk; full ones are copied behind it, in their order."""
    bytes_ = bytearray(single.read_bytes())
    bytes_[HEADER + chunk * CHUNK + place % 30_000] ^= 0x10
    flipped = recorder.folder / "flipped.trace"
    flipped.write_bytes(bytes_)
    trace, original = recorder.read(flipped), recorder.read(single)
    assert "at byte" in trace.process.damage
    assert len(trace.rows) < len(original.rows)
    assert is_beginning_of(trace, original)
    assert (len(trace.rows) > 10_000) == (chunk != 1)


def with_more(single: Path, path: Path, more: bytes) -> Path:
    """Return a trace whose file has ``more`` at its end."""
    path.write_bytes(single.read_bytes() + more)
    return path


@pytest.mark.parametrize("length", [64, 128, 20_000, CHUNK - 64, CHUNK])
@pytest.mark.parametrize("cleared", [False, True])
def test_a_copy_that_a_kill_broke_off_is_no_damage(
    recorder: Recorder, single: Path, length: int, cleared: bool
) -> None:
    """A full chunk is copied, then emptied behind its first header: both may be half done."""
    chunk = single.read_bytes()[HEADER + 2 * CHUNK :][:CHUNK]
    half = chunk[:64] + bytes(length - 64) + chunk[length:] if cleared else chunk[:length]
    trace = recorder.read(with_more(single, recorder.folder / "twice.trace", half))
    original = recorder.read(single)
    assert trace.process.damage == original.process.damage == ""
    assert trace.process.sealed_events == original.process.sealed_events
    assert np.array_equal(trace.rows, original.rows)


def test_no_damage_crashes_the_reader(recorder: Recorder, whole: Path) -> None:
    draw = random.Random(5)
    original = whole.read_bytes()[: 40 * 65_536]
    path = recorder.folder / "fuzzed.trace"
    for _ in range(60):
        bytes_ = bytearray(original[: draw.randrange(len(original))])
        for _ in range(draw.randrange(1, 40)):
            if len(bytes_) > HEADER:
                bytes_[draw.randrange(HEADER, len(bytes_))] = draw.randrange(256)
        path.write_bytes(bytes_)
        done = subprocess.run(
            [recorder.tools.tool, "rows", path, "0", recorder.folder / "rows"],
            capture_output=True,
        )
        assert done.returncode in (0, 3), done


def test_open_blocks_with_any_content_are_read(recorder: Recorder) -> None:
    """A killed process has no checksum over its last blocks: what is in them is not trusted."""
    draw = random.Random(7)
    program = [str(recorder.program), "for-ever"]
    folder = recorder.folder / "parts"
    folder.mkdir()
    from pipeline.trace.record import Wishes

    child = subprocess.Popen(
        program,
        env=Wishes().environment(recorder.tools.library, folder),
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.kill()
    child.wait()
    child.stdout.close()
    original = next(folder.iterdir()).read_bytes()
    tail = len(original.rstrip(b"\0"))
    path = recorder.folder / "fuzzed.trace"
    for _ in range(40):
        bytes_ = bytearray(original)
        for _ in range(30):
            bytes_[draw.randrange(max(HEADER, tail - 40_000), tail)] = draw.randrange(1, 256)
        path.write_bytes(bytes_)
        done = subprocess.run(
            [recorder.tools.tool, "rows", path, "0", recorder.folder / "rows"],
            capture_output=True,
        )
        assert done.returncode == 0, done


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a trace"),
        (b"hello\n" * 2000, "not a trace: it does not begin with HAKTRACE"),
        (b"HAKTRACE", "not a trace"),
    ],
)
def test_what_is_not_a_trace_is_named(recorder: Recorder, content: bytes, message: str) -> None:
    path = recorder.folder / "no.trace"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        processes(recorder.tools, path)
    assert str(path) in caught.value.message


def test_another_version_is_named(recorder: Recorder, single: Path) -> None:
    path = recorder.folder / "future.trace"
    path.write_bytes(single.read_bytes()[:8] + b"\3" + single.read_bytes()[9:])
    with pytest.raises(DataError, match=r"format version 3; this program reads 1 to 2"):
        processes(recorder.tools, path)


def word_sum(bytes_: bytes | bytearray) -> int:
    """Return the sum of docs/trace-format.md."""
    total, factor = len(bytes_) * 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
    for word in np.frombuffer(bytes_, "<u8").tolist():
        total, factor = total + word * factor, factor + 0x9E3779B97F4A7C16
    return total % 2**64


def test_the_version_before_is_read(recorder: Recorder, single: Path) -> None:
    """It had the same blocks and no batches of stamps."""
    bytes_ = bytearray(single.read_bytes())
    assert bytes_[8:16] == bytes([2, 0, 0, 0, 8, 0, 0, 0])
    bytes_[8:16] = bytes([1, 0, 0, 0, 0, 0, 0, 0])
    check = word_sum(bytes(bytes_[:48])) + 3 * word_sum(bytes(bytes_[112 : 112 + 2048]))
    bytes_[48:56] = (check % 2**64).to_bytes(8, "little")
    path = recorder.folder / "before.trace"
    path.write_bytes(bytes_)
    assert np.array_equal(recorder.read(path).rows, recorder.read(single).rows)


def test_a_block_that_is_longer_than_any_is_damage(recorder: Recorder, single: Path) -> None:
    """Many headers that each claim the rest of the file were summed up for hours."""
    records = bytes(CHUNK + 64)
    header = b"HAKB" + bytes(28)
    header += word_sum(header).to_bytes(8, "little")
    header += (
        len(records).to_bytes(8, "little") + word_sum(records).to_bytes(8, "little") + bytes(8)
    )
    path = recorder.folder / "long.trace"
    path.write_bytes(single.read_bytes()[:HEADER] + header + records)
    assert f"a block is longer than any at byte {HEADER}" in recorder.read(path).process.damage


def test_a_damaged_header_is_named(recorder: Recorder, single: Path) -> None:
    path = recorder.folder / "header.trace"
    path.write_bytes(single.read_bytes()[:20] + b"\xff" + single.read_bytes()[21:])
    with pytest.raises(DataError, match="header of the file is damaged"):
        processes(recorder.tools, path)


def test_cut_keeps_what_lives(recorder: Recorder) -> None:
    path = recorder.record("handed")
    original = recorder.read(path)
    last_birth = int(np.flatnonzero(original.rows["size"] == HANDED)[-1])
    cut = recorder.folder / "cut.trace"
    last = len(original.rows) - 1
    change(recorder.tools, "cut", path, "0", str(last_birth + 1), str(last), cut)
    trace = recorder.read(cut)
    assert (births(trace, HANDED), deaths(trace, HANDED)) == (5000, 5000)
    assert trace.process.foreign == 0
    alive = int((original.rows["kind"][: last_birth + 1] <= 3).sum())
    assert len(trace.rows) == last - last_birth + alive


def test_merge_has_all_threads_in_the_order_of_time(recorder: Recorder) -> None:
    first, second = recorder.record("handed", name="a"), recorder.record("loop", name="b")
    merged = recorder.folder / "merged.trace"
    change(recorder.tools, "merge", merged, first, second)
    trace = recorder.read(merged)
    parts = [recorder.read(first), recorder.read(second)]
    assert len(trace.rows) == sum(len(part.rows) for part in parts)
    assert trace.process.threads == 4
    assert trace.process.objects == sum(part.process.objects for part in parts)
    assert (births(trace, HANDED), births(trace, LOOPED)) == (5000, 1000)
    assert trace.process.foreign == trace.process.unseen == 0


def test_anonymised_traces_have_sizes_and_nothing_else(recorder: Recorder) -> None:
    path = recorder.record("handed")
    output = recorder.folder / "anonymous.trace"
    change(recorder.tools, "anonymise", path, output)
    trace, original = recorder.read(output), recorder.read(path)
    assert b"traced" in path.read_bytes()
    assert b"traced" not in output.read_bytes()
    assert (trace.process.command, trace.process.pid, trace.process.started_ns) == ("", 0, 0)
    for column in ("size", "before", "object", "thread", "align"):
        assert np.array_equal(trace.rows[column], original.rows[column]), column


def test_joined_traces_are_one_file(recorder: Recorder) -> None:
    first, second = recorder.record("loop", name="a"), recorder.record("handed", name="b")
    joined = recorder.folder / "joined.trace"
    result = CliRunner().invoke(cli, ["trace", "join", str(first), str(second), "-o", str(joined)])
    assert result.exit_code == 0, result.output
    assert [births(t, HANDED) for t in recorder.every(joined)] == [0, 5000]
    assert births(read(recorder.tools, joined), HANDED) == 5000  # the busiest is the default


def test_a_trace_that_was_cut_off_within_a_page_can_be_joined(recorder: Recorder) -> None:
    first, second = recorder.record("calls"), recorder.record("handed", name="b")
    os.truncate(first, first.stat().st_size - 1000)
    joined = recorder.folder / "joined.trace"
    join([first, second], joined)
    assert [births(t, HANDED) for t in recorder.every(joined)] == [0, 5000]
