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
from operate.facts import restart_gives_another
from operate.libraries import Library
from operate.processes import Process
from pipeline.core.exit_codes import ExitCode
from pipeline.release.marking import accept, reject
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
    write_digest(folder)
    return Version(folder)


def say(folder: Path, **entries: object) -> None:
    """Change entries of a version's manifest."""
    manifest = folder / "manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**said, **entries}), encoding="utf-8")


def write_digest(folder: Path) -> None:
    """Write the digest of a version's library into its manifest."""
    digest = hashlib.sha256((folder / "lib/libhakmem.so").read_bytes()).hexdigest()
    say(folder, files={"lib/libhakmem.so": digest})


def make_another_current(version: Version) -> None:
    """Lay a version with other bytes beside it, and let `current` point there."""
    folder = version.folder.with_name("1.0-bb")
    shutil.copytree(version.folder, folder)
    say(folder, version="1.0-bb")
    library = folder / "lib/libhakmem.so"
    library.write_bytes(library.read_bytes() + b"more")
    write_digest(folder)
    current = folder.with_name("current")
    current.unlink()
    current.symlink_to("1.0-bb")


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
        make_another_current(version)
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
        make_another_current(version)
        assert (outdated in hakmem("check", str(pid)).stdout) == (place == "current")


def test_the_same_library_judged_again_needs_no_restart(
    version: Version, compile_c: Compile
) -> None:
    """`build --from verify` gives the same bytes a version of its own, and makes it current."""
    path = version.folder.parent / "current/lib/libhakmem.so"
    with running(compile_c(ECHO), LD_PRELOAD=str(path)) as pid:
        make_another_current(version)
        shutil.copy2(version.library, path)
        write_digest(path.parent.parent)
        assert "malloc is hakmem's  yes\n" in hakmem("check", str(pid)).stdout


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
        say(version.folder, version=name)
        assert restart_gives_another(Process(pid), f"{gone} (deleted)", mine) == helps


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


@pytest.mark.parametrize("shared", [{"files": {"lib/libhakmem.so": "d1"}}, {"inputs": "d2"}])
def test_a_rejection_holds_for_the_same_library_under_another_name(
    version: Version, shared: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(version.folder, **shared)
    reject(Version(version.folder), "redis needs more memory")
    monkeypatch.setattr(rejections, "usual_roots", lambda: [version.folder.parents[2]])
    twin = Library(version.library, {"version": "1.0-bb", "files": {}, **shared})
    other = Library(version.library, {"version": "1.0-cc", "files": {"lib/libhakmem.so": "d3"}})
    assert rejections.rejection(other) is None
    assert rejections.rejection(twin) == "redis needs more memory (it is the same as 1.0-aa)"


@pytest.mark.parametrize(
    "text", ["{", "[]", "[" * 100_000, '{"rejected": 3}', '{"rejected": [3]}'], ids=range(5)
)
def test_marks_that_are_damaged_say_nothing(version: Version, text: str) -> None:
    (version.folder.parent / "marks.json").write_text(text, encoding="utf-8")
    assert rejections.rejection(Library(version.library, version.manifest)) is None
