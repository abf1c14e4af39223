"""Builds beside what was rolled back, rejected, damaged, or judged more fully."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from conftest import Sandbox
from test_build_errors import published

from pipeline.core.digest import digest_file
from pipeline.core.exit_codes import ExitCode


def newer(built: Sandbox) -> str:
    """Let the judge have said the same an hour later, and publish: that is another version."""
    folder = built.artifacts("verify")[-1]
    said = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    later = datetime.fromisoformat(said["created"]) + timedelta(hours=1)
    said["created"] = later.isoformat(timespec="seconds")
    (folder / "verdict.json").write_text(json.dumps(said, indent=1), encoding="utf-8")
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    receipt["outputs"]["verdict.json"] = digest_file(folder / "verdict.json")
    (folder / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    before = published(built)
    code, output = built.build()
    assert code == 0, output
    assert published(built) != before, output
    return published(built)


def test_rollback_and_list(built: Sandbox) -> None:
    new = newer(built)
    _, listing = built.run("list", "--profile", "tiny")
    assert any(line.split()[:3] == ["*", "tiny", new] for line in listing.splitlines())
    code, output = built.run("rollback", "--profile", "tiny")
    assert code == 0, output
    old = published(built)
    assert old != new
    assert output.startswith(f"current is now {old}\n{new} is set aside")
    code, output = built.run("rollback", "--profile", "tiny", "--to", "nowhere")
    assert code == ExitCode.VERSION
    assert "no published version nowhere" in output
    folder = built.root / "dist" / "tiny" / new
    records = [(folder / name).read_bytes() for name in ("manifest.json", "report.json")]
    (folder / "lib" / "libhakmem.so").write_bytes(b"spoilt")
    code, output = built.run("rollback", "--profile", "tiny", "--to", new)
    assert code == ExitCode.ARTIFACT
    assert "is damaged: lib/libhakmem.so (changed)" in output
    assert published(built) == old
    code, output = built.build()
    assert code == 0, output
    assert f"{new} was damaged (lib/libhakmem.so), and is whole again" in output
    assert f"`current` is still {old}: {new} was rolled back" in output
    assert new in built.run("unpin", "--profile", "tiny")[1], "mending has lifted the mark"
    assert published(built) == old
    code, output = built.build()
    assert code == 0, output
    assert published(built) == new
    assert built.run("verify", "--profile", "tiny", new)[0] == 0
    assert records == [(folder / name).read_bytes() for name in ("manifest.json", "report.json")]


def test_a_published_folder_is_not_written_again(built: Sandbox) -> None:
    """Neither by the same build once more, nor after a rollback; its time of publication stays."""
    manifest = built.current.resolve() / "manifest.json"
    before = manifest.stat().st_ino, manifest.read_bytes()
    code, output = built.build("--from", "publish")
    assert code == 0, output
    assert (manifest.stat().st_ino, manifest.read_bytes()) == before


def test_a_quick_build_does_not_take_the_place_of_a_full_one(built: Sandbox) -> None:
    full = published(built)
    code, output = built.build("--quick")
    assert code == 0, output
    assert f"{full} was judged in mode default, this one in mode quick alone" in output
    assert published(built) == full
    quick = output.split(" --to ")[1].split("`")[0]
    assert (built.root / "dist" / "tiny" / quick / "manifest.json").exists()


@pytest.fixture
def spared(built: Sandbox, tmp_path: Path) -> Iterator[Sandbox]:
    """The same as ``built``, whose published versions are as they were when the test has ended."""
    dist = built.root / "dist"
    shutil.copytree(dist, tmp_path / "dist", symlinks=True)
    yield built
    shutil.rmtree(dist)
    shutil.copytree(tmp_path / "dist", dist, symlinks=True)


def test_a_build_that_was_rejected_is_refused(spared: Sandbox) -> None:
    rejected = published(spared)
    assert spared.build("--quick")[0] == 0
    last = spared.root / "build" / "pipeline" / "tiny" / "reports" / "last"
    last.unlink()
    last.symlink_to("another")
    command = ("reject", rejected, "--profile", "tiny", "--reason", "it is slow")
    assert spared.run(*command)[0] == 0
    code, output = spared.build()
    assert code == ExitCode.GATE
    assert f"{rejected} was rejected (it is slow)" in output
    assert "train: unchanged" in output and "merge: " not in output  # nothing more is done in vain
    assert last.resolve().name == rejected, "a review went by the build that was before"
    code, output = spared.run("report", "last", "-p", "tiny", "--check")
    assert code == ExitCode.GATE
    assert output.startswith("REJECTED on ")


def test_a_version_with_a_damaged_manifest_keeps_its_date(spared: Sandbox) -> None:
    folder = spared.current.resolve()
    judged = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))["created"]
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    code, output = spared.build()
    assert code == 0, output
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["created"] == judged
    assert spared.run("verify", "--profile", "tiny", folder.name)[0] == 0
