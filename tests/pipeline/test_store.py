"""Artifacts: finished or not there, never in between."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.core import store as store_module
from pipeline.core.errors import BuildError, SpaceError
from pipeline.core.receipt import by_stage, changed_parts
from pipeline.core.store import KEPT_PER_STAGE, Store, discard

PARTS = {"sources": "1", "flags": ["-O2"]}


def write(room: Path) -> dict[str, Any]:
    (room / "sub").mkdir()
    (room / "sub" / "out").write_text("made", encoding="utf-8")
    return {"note": 7}


def test_made_artifact_is_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = store.make("pgo", PARTS, write)
    found = store.find("pgo", dict(reversed(PARTS.items())))
    assert found is not None
    assert (made.fresh, found.fresh) == (True, False)
    assert found.receipt.notes == {"note": 7}
    assert found.path("sub/out").read_text(encoding="utf-8") == "made"


def test_a_stage_that_was_done_twice_has_two_records(tmp_path: Path) -> None:
    """BOLT's training of what is published is not lost to that of the random layouts."""
    store = Store(tmp_path)
    first = store.make("bolt-train", {"library": "1"}, write).receipt
    other = store.make("bolt-train", {"library": "2"}, write).receipt
    third = store.make("bolt-train", {"library": "3"}, write).receipt
    again = store.find("bolt-train", {"library": "2"})
    assert again is not None
    found = by_stage([first, other, third, again.receipt, first])
    assert list(found) == ["bolt-train", "bolt-train (2)", "bolt-train (3)"]
    assert [one.key for one in found.values()] == [first.key, other.key, third.key]


def test_store_remembers_what_it_gave_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = store.make("pgo", PARTS, write)
    found = store.find("pgo", PARTS)
    assert store.used == [made, found]


def test_other_inputs_find_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.make("pgo", PARTS, write)
    assert store.find("pgo", {**PARTS, "flags": ["-O3"]}) is None
    assert store.find("bolt", PARTS) is None


def test_failed_work_leaves_nothing(tmp_path: Path) -> None:
    def fail(room: Path) -> dict[str, Any]:
        write(room)
        raise RuntimeError("half-way")

    store = Store(tmp_path)
    with pytest.raises(RuntimeError, match="half-way"):
        store.make("pgo", PARTS, fail)
    assert store.find("pgo", PARTS) is None
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_room_that_somebody_still_writes_in_is_out_of_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "pgo" / ".tmp-0123"
    room.mkdir(parents=True)
    (room / "late").touch()
    monkeypatch.setattr("shutil.rmtree", lambda *_args, **_options: None)
    discard(room)
    assert not room.exists()
    assert [path.name for path in tmp_path.rglob("late")] == ["late"]


def test_full_disk_is_what_a_stage_failed_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_room: Path) -> dict[str, Any]:
        raise BuildError("clang: Bus error")

    with pytest.raises(BuildError):
        Store(tmp_path).make("pgo", PARTS, fail)
    monkeypatch.setattr(store_module, "NO_SPACE_BELOW", 1 << 60)
    with pytest.raises(SpaceError, match=r"no space left in .*clang: Bus error"):
        Store(tmp_path).make("pgo", PARTS, fail)


def test_room_of_a_killed_run_is_not_an_artifact_and_is_cleared(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = store.make("pgo", PARTS, write)
    room = made.folder.with_name(f".tmp-{made.folder.name}")
    shutil.move(made.folder, room)
    assert store.find("pgo", PARTS) is None
    store.clear_rooms()
    assert not room.exists()


def test_an_output_that_nobody_has_touched_is_not_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    made = store.make("pgo", PARTS, write)
    monkeypatch.setattr(store_module, "digest_file", lambda _path: "hashed")
    receipt = made.folder / "receipt.json"
    while made.path("sub/out").stat().st_ctime_ns >= receipt.stat().st_ctime_ns:
        receipt.chmod(0o644)  # in a later tick of the clock
    assert store.find("pgo", PARTS) is not None


def test_an_output_of_the_tick_in_which_the_receipt_was_written_is_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could change once more, and have the same time."""
    store = Store(tmp_path)
    made = store.make("pgo", PARTS, write)
    made.path("sub/out").chmod(0o644)  # after the receipt
    monkeypatch.setattr(store_module, "stamp_of", lambda _path: made.receipt.stamps["sub/out"])
    monkeypatch.setattr(store_module, "digest_file", lambda _path: "hashed")
    assert store.find("pgo", PARTS) is None


def test_a_copied_artifact_is_hashed_and_taken(tmp_path: Path) -> None:
    Store(tmp_path / "here").make("pgo", PARTS, write)
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    assert Store(tmp_path / "there").find("pgo", PARTS) is not None


def test_a_change_whose_time_was_set_back_is_noticed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    out = store.make("pgo", PARTS, write).path("sub/out")
    before = out.stat()
    out.write_text("evil", encoding="utf-8")
    os.utime(out, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert out.stat().st_size == before.st_size
    assert store.find("pgo", PARTS) is None


@pytest.mark.parametrize("damage", ["changed", "gone", "no receipt", "cut receipt"])
def test_damaged_artifact_is_not_taken(damage: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = store.make("pgo", PARTS, write)
    receipt = made.folder / "receipt.json"
    if damage == "changed":
        made.path("sub/out").write_text("evil", encoding="utf-8")
    elif damage == "gone":
        made.path("sub/out").unlink()
    elif damage == "no receipt":
        receipt.unlink()
    else:
        receipt.write_text(receipt.read_text(encoding="utf-8")[:40], encoding="utf-8")
    assert store.find("pgo", PARTS) is None
    assert store.make("pgo", PARTS, write).path("sub/out").read_text(encoding="utf-8") == "made"


def test_tidy_keeps_the_newest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(KEPT_PER_STAGE + 3):
        store.make("pgo", {"number": number}, write)
    store.tidy()
    left = [n for n in range(KEPT_PER_STAGE + 3) if store.find("pgo", {"number": n})]
    assert len(left) == KEPT_PER_STAGE
    assert KEPT_PER_STAGE + 2 in left


def test_tidy_keeps_what_was_used_though_the_clock_has_gone_back(tmp_path: Path) -> None:
    """Older artifacts had times of the future: what each build made anew was removed at its end."""
    store = Store(tmp_path)
    for number in range(KEPT_PER_STAGE):
        made = store.make("pgo", {"number": number}, write)
        os.utime(made.folder, (4e9, 4e9))
    now = Store(tmp_path)
    now.make("pgo", {"number": "now"}, write)
    now.tidy()
    assert now.find("pgo", {"number": "now"}) is not None


def test_changed_parts_are_named() -> None:
    assert changed_parts({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 9, "d": 3}) == ["b", "c", "d"]
    old, new = ({"commands": {"load": one, "sh": 1, "gcc": 1}, "tools": {}} for one in (1, 2))
    assert changed_parts(old, new) == ["commands (load)"]
    many = {name: 1 for name in "abcde"}
    assert changed_parts({"tools": many}, {"tools": {}}) == ["tools (a, b, c and 2 more)"]


def test_a_part_that_was_read_back_is_not_called_changed(tmp_path: Path) -> None:
    parts = {"gate": {"programs": ("gcc", "redis")}, "machine": "x"}
    store = Store(tmp_path)
    store.make("verify", parts, lambda room: {"file": (room / "a").write_text("x")})
    last = store.latest("verify")
    assert last is not None
    assert changed_parts(last.parts, parts) == []
    assert changed_parts(last.parts, {**parts, "machine": "y"}) == ["machine"]
