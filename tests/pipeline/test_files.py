"""Files appear complete or stay as they were, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from pipeline.core.errors import BusyError, SpaceError, UsageError
from pipeline.core.files import replace_text, replacing
from pipeline.core.lock import tree_lock

_KILLED_IN_BETWEEN = """
import os, signal, sys
from pathlib import Path
from pipeline.core.files import replacing

with replacing(Path(sys.argv[1])) as fresh:
    fresh.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_text_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "file"
    replace_text(path, "first")
    replace_text(path, "second")
    assert path.read_text(encoding="utf-8") == "second"
    assert [one.name for one in path.parent.iterdir()] == ["file"]


def test_an_error_in_between_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_text(path, "old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as fresh:
        fresh.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt
    assert path.read_text(encoding="utf-8") == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_kill_in_between_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_text(path, "old")
    ended = subprocess.run([sys.executable, "-c", _KILLED_IN_BETWEEN, path], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_text(encoding="utf-8") == "old"


def test_what_killed_runs_have_left_goes_and_what_others_write_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    subprocess.run([sys.executable, "-c", _KILLED_IN_BETWEEN, path], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    alive, other = tmp_path / f".file.{os.getppid()}", tmp_path / ".file.old.1"
    for one in (alive, other):
        one.touch()
    replace_text(path, "new")
    assert sorted(tmp_path.iterdir()) == sorted((path, alive, other))


def test_a_full_device_is_named() -> None:
    with pytest.raises(SpaceError, match="cannot write /dev/full: No space left on device"):
        replace_text(Path("/dev/full"), "text")


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    replace_text(path, "old")
    link.symlink_to("file")
    replace_text(link, "new")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "new"


def test_a_link_is_replaced_by_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("here")
    with replacing(link) as fresh:
        fresh.symlink_to("there")
    assert link.readlink() == Path("there")


def test_a_name_that_is_no_text_can_be_written(tmp_path: Path) -> None:
    replace_text(tmp_path / "page", "of a\udcff")
    assert (tmp_path / "page").read_text(encoding="utf-8") == "of a\\udcff"
    replace_text(Path("/dev/null"), "of a\udcff")


def test_the_lock_is_taken_by_a_command_with_a_name_that_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["pipeline", "bundle", "import", "a\udcff\n.tar.gz"])
    words = r"`pipeline bundle import 'a  \.tar\.gz'`, since"
    with tree_lock(tmp_path, wait=False, say=print), pytest.raises(BusyError, match=words):
        tree_lock(tmp_path, wait=False, say=print).__enter__()


def test_who_waits_for_the_lock_is_told_each_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    seconds = iter(range(150))
    with ExitStack() as first:
        first.enter_context(tree_lock(tmp_path, wait=False, say=print))
        monkeypatch.setattr(
            "pipeline.core.lock.time.sleep",
            lambda _: first.close() if next(seconds, None) is None else None,
        )
        with tree_lock(tmp_path, wait=True, say=said.append):
            pass
    assert [line.rpartition("; ")[2] for line in said] == [
        "waiting for it",
        "waiting for 1 min now",
        "waiting for 2 min now",
    ]
    assert all(f"process {os.getpid()}" in line for line in said)


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_text(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_no_file_takes_the_place_of_a_pipe(tmp_path: Path) -> None:
    """Nor that of a device: root may do that to /dev/null."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    for path in (pipe, link):
        with pytest.raises(UsageError, match=f"{path} is no file"), replacing(path):
            pass
    assert pipe.is_fifo() and link.is_symlink()


def test_a_folder_that_cannot_be_made_is_named() -> None:
    with pytest.raises(SpaceError, match="cannot write /dev/null/file: Not a directory"):
        replace_text(Path("/dev/null/file"), "")
