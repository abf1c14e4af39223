"""A rejected version is told where it runs, and where somebody starts a program with it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from made import Compile, compile_c, hakmem, library, publish
from test_check_process import ECHO, facts, running

from operate import rejections
from operate.commands import check
from operate.libraries import Library
from operate.processes import Process
from pipeline.core.errors import ExitCode
from pipeline.release.marks import accept, reject
from pipeline.release.version import Version

__all__ = ["compile_c", "library"]

SAID = (
    "version 1.0-aa was rejected: redis needs more memory; install another version, and start the "
    "program anew"
)
RESTART = (
    "version 1.0-aa was rejected: redis needs more memory; start the program anew: it then gets "
    "another version\n"
)


@pytest.fixture
def version(tmp_path: Path, library: Path) -> Version:
    """A version whose manifest has the digest of its library."""
    folder = publish(tmp_path / "dist", library, "mixed", "x86-64")
    manifest = folder / "manifest.json"
    digest = hashlib.sha256((folder / "lib/libhakmem.so").read_bytes()).hexdigest()
    said = json.loads(manifest.read_text(encoding="utf-8"))
    said["files"] = {"lib/libhakmem.so": digest}
    manifest.write_text(json.dumps(said), encoding="utf-8")
    return Version(folder)


def named(folder: Path, version: str) -> None:
    """Give a version another name in its manifest."""
    manifest = folder / "manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**said, "version": version}), encoding="utf-8")


def test_check_tells_it_of_a_process_that_runs(version: Version, compile_c: Compile) -> None:
    with running(compile_c(ECHO), LD_PRELOAD=str(version.library)) as pid:
        seen, told = facts(pid)[1]["library"], hakmem("check", str(pid)).stdout
        assert isinstance(seen, dict) and seen["rejected"] is None
        assert "rejected" not in told
        reject(version, "redis needs\nmore memory")
        code, found = facts(pid)
        told = hakmem("check", str(pid)).stdout
        accept(version)
        again = hakmem("check", str(pid)).stdout
    seen = found["library"]
    assert isinstance(seen, dict) and seen["rejected"] == "redis needs more memory"
    assert code == ExitCode.OK
    assert f"warning             {SAID}\n" in told
    assert "rejected" not in again


@pytest.mark.parametrize("place", ["1.0-aa", "current"])
def test_after_another_version_is_current_a_restart_is_advised(
    version: Version, compile_c: Compile, place: str
) -> None:
    """Where the process names `current`; one that names the old version would get that again."""
    path = version.folder.parent / place / "lib/libhakmem.so"
    reject(version, "redis needs more memory")
    with running(compile_c(ECHO), LD_PRELOAD=str(path)) as pid:
        before = hakmem("check", str(pid)).stdout
        shutil.copytree(version.folder, version.folder.with_name("1.0-bb"))
        named(version.folder.with_name("1.0-bb"), "1.0-bb")
        version.folder.with_name("current").unlink()
        version.folder.with_name("current").symlink_to("1.0-bb")
        after = hakmem("check", str(pid)).stdout
        seen = facts(pid)[1]["library"]
    helps = place == "current"
    assert isinstance(seen, dict) and seen["restart_gives_another"] == helps
    assert SAID in before
    assert (RESTART in after, SAID in after) == (helps, not helps)


@pytest.mark.parametrize("place", ["1.0-aa", "current"])
def test_a_version_that_is_current_no_more_says_so(
    version: Version, compile_c: Compile, place: str
) -> None:
    path = version.folder.parent / place / "lib/libhakmem.so"
    outdated = "yes, by a version since replaced, 1.0-aa; restart it to get the new one"
    with running(compile_c(ECHO), LD_PRELOAD=str(path)) as pid:
        assert outdated not in hakmem("check", str(pid)).stdout
        shutil.copytree(version.folder, version.folder.with_name("1.0-bb"))
        named(version.folder.with_name("1.0-bb"), "1.0-bb")
        version.folder.with_name("current").unlink()
        version.folder.with_name("current").symlink_to("1.0-bb")
        assert (outdated in hakmem("check", str(pid)).stdout) == (place == "current")


@pytest.mark.parametrize(("name", "helps"), [("1.0-bb", True), ("1.0-aa", False)])
def test_after_an_install_over_it_a_restart_is_advised(
    version: Version, compile_c: Compile, name: str, helps: bool
) -> None:
    reject(version, "redis needs more memory")
    mine = Library(version.library, version.manifest)
    with running(compile_c(ECHO), LD_PRELOAD=str(version.library)) as pid:
        (gone,) = (one for one in Process(pid).files() if "libhakmem" in one)
        new = version.library.with_name("new")
        shutil.copy2(version.library, new)
        new.rename(version.library)
        named(version.folder, name)
        assert check.restart_gives_another(Process(pid), f"{gone} (deleted)", mine) == helps


@pytest.mark.parametrize("place", ["1.0-aa", "current"])
def test_run_warns_and_starts(version: Version, place: str) -> None:
    reject(version, "redis needs more memory")
    path = version.folder.parent / place / "lib/libhakmem.so"
    done = hakmem("run", "--library", str(path), "--", "echo", "begun")
    assert (done.returncode, done.stdout) == (0, "begun\n")
    assert f"hakmem: {SAID}\n" in done.stderr
    assert f"hakmem: {SAID}\n" in hakmem("run", "--show", "--library", str(path), "echo").stderr
    assert SAID not in hakmem("run", "--quiet", "--library", str(path), "true").stderr


def test_run_warns_of_a_library_that_has_other_bytes_than_were_published(version: Version) -> None:
    run = ("run", "--library", str(version.library), "--", "echo", "begun")
    assert "damaged" not in hakmem(*run).stderr
    with version.library.open("ab") as stream:
        stream.write(b"more")
    done = hakmem(*run)
    assert (done.returncode, done.stdout) == (0, "begun\n")
    assert f"version 1.0-aa is damaged: {version.library} has not the bytes" in done.stderr


def test_an_installed_copy_is_known_by_the_marks_of_a_tree(
    version: Version, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Library(tmp_path / "usr/lib/libhakmem.so", {"version": "1.0-aa"})
    reject(version, "redis needs more memory")
    assert rejections.warning(copy) is None
    monkeypatch.setattr(rejections, "usual_roots", lambda: [tmp_path])
    assert rejections.warning(copy) == SAID


@pytest.mark.parametrize("text", ["{", "[]", '{"rejected": 3}', '{"rejected": [3]}'])
def test_marks_that_are_damaged_say_nothing(version: Version, text: str) -> None:
    (version.folder.parent / "marks.json").write_text(text, encoding="utf-8")
    assert rejections.rejection(Library(version.library, version.manifest)) is None
