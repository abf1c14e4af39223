"""``pipeline install`` and ``uninstall``: what is written, replaced, kept, removed, refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Sandbox

from pipeline.commands.install import STILL_OLD
from pipeline.core.digest import digest_bytes
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.release.install import carry_out
from pipeline.release.install_plan import plan_install, plan_removal
from pipeline.release.installed import Place
from pipeline.release.marks import Mark, Marks
from pipeline.release.version import Version

TINY = ("--profile", "tiny")
LIBRARY = "lib/libhakmem.so"


def names(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir()}


def install(built: Sandbox, prefix: Path, *more: str) -> tuple[int, str]:
    return built.run("install", *TINY, "--prefix", str(prefix), *more)


def test_installed_version_serves_projects_and_goes_without_a_trace(
    built: Sandbox, tmp_path: Path
) -> None:
    prefix = tmp_path / "prefix"
    code, output = install(built, prefix)
    assert code == 0, output
    assert output.endswith(f"use it:  LD_PRELOAD={prefix}/{LIBRARY} your-program\n")
    version = built.current.resolve()
    shipped = {n for n in names(version) if n.startswith(("lib/", "include/"))}
    records = {"share/hakmem/manifest.json", "share/hakmem/installed.json"}
    assert names(prefix) == shipped | records
    assert (prefix / LIBRARY).read_bytes() == (version / LIBRARY).read_bytes()
    assert (prefix / LIBRARY).stat().st_mode & 0o777 == 0o755
    assert (prefix / "lib/libhakmem.so.debug").is_symlink()
    folder = tmp_path / "consumer"
    source = ROOT / "tests" / "package"
    run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}"])
    run(["cmake", "--build", folder, "--target", "c-hakmem"])
    assert run([folder / "c-hakmem"]).stdout == f"{Tree(ROOT).version}\n"
    code, output = built.run("uninstall", "--prefix", str(prefix))
    assert code == 0, output
    first, removed = (
        output.index(f"still preloads {prefix}/{LIBRARY} "),
        f"remove {prefix}/{LIBRARY}",
    )
    assert first < output.index(removed)
    assert "/etc/ld.so.preload" in output
    assert list(prefix.iterdir()) == []


def test_dry_run_writes_nothing(built: Sandbox, tmp_path: Path) -> None:
    code, output = install(built, tmp_path / "p", "--dry-run")
    assert code == 0
    assert f"would install {tmp_path}/p/{LIBRARY}" in output
    assert not (tmp_path / "p").exists()
    assert install(built, tmp_path / "p")[0] == 0
    before = names(tmp_path / "p")
    code, output = built.run("uninstall", "--prefix", str(tmp_path / "p"), "--dry-run")
    assert code == 0 and f"would remove {tmp_path}/p/{LIBRARY}" in output
    assert f"still preloads {tmp_path}/p/{LIBRARY} " in output
    assert names(tmp_path / "p") == before


def test_the_same_once_more_has_nothing_to_do(built: Sandbox, tmp_path: Path) -> None:
    assert install(built, tmp_path)[0] == 0
    version, library = built.current.resolve().name, tmp_path / LIBRARY
    before = {name: (tmp_path / name).lstat().st_ino for name in names(tmp_path)}
    for more in ((), ("--dry-run",)):
        code, output = install(built, tmp_path, *more)
        assert code == 0
        assert f"{version} is installed there already\nnothing to do: all " in output
        assert "install /" not in output and "ldconfig" not in output
    assert {name: (tmp_path / name).lstat().st_ino for name in names(tmp_path)} == before
    library.chmod(0o600)
    (tmp_path / "include/hakmem.h").unlink()
    code, output = install(built, tmp_path)
    assert code == 0 and f"installed {version}: 2 files below" in output
    assert library.stat().st_mode & 0o777 == 0o755
    assert names(tmp_path) == before.keys()
    assert built.run("uninstall", "--prefix", str(tmp_path))[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_destdir_stands_in_front_of_the_prefix(built: Sandbox, tmp_path: Path) -> None:
    code, output = built.run(
        "install", *TINY, "--prefix", "/usr", "--destdir", str(tmp_path / "root")
    )
    assert code == 0, output
    assert (tmp_path / "root" / "usr" / LIBRARY).is_file()
    record = json.loads((tmp_path / "root/usr/share/hakmem/installed.json").read_text())
    assert (record["prefix"], record["version"]) == ("/usr", built.current.readlink().name)
    assert str(tmp_path) not in json.dumps(record)


def test_newer_version_replaces_an_older_one(built: Sandbox, tmp_path: Path) -> None:
    code, output = install(built, tmp_path)
    assert code == 0 and STILL_OLD not in output
    record = tmp_path / "share/hakmem/installed.json"
    text = json.loads(record.read_text(encoding="utf-8"))
    old = tmp_path / "lib/old.debug"  # as if the older version had had one file more
    old.write_text("x", encoding="utf-8")
    text["files"]["lib/old.debug"] = (
        "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # SHA-256 of x
    )
    record.write_text(json.dumps(text), encoding="utf-8")
    code, output = install(built, tmp_path)
    assert code == 0, output
    assert "remove " in output and not old.exists()
    assert STILL_OLD in output
    assert (tmp_path / LIBRARY).is_file()


def _age(prefix: Path, version: str, debug: str) -> Path:
    """Make the record say that an older version is installed, which had this debug file as well."""
    record = prefix / "share/hakmem/installed.json"
    text = json.loads(record.read_text(encoding="utf-8"))
    (prefix / debug).parent.mkdir(parents=True)
    (prefix / debug).write_text("x", encoding="utf-8")
    text["version"], text["files"][debug] = version, digest_bytes(b"x")
    record.write_text(json.dumps(text), encoding="utf-8")
    return prefix / debug


def test_debug_file_of_the_version_before_stays_for_programs_that_run(
    built: Sandbox, tmp_path: Path
) -> None:
    assert install(built, tmp_path)[0] == 0
    old = _age(tmp_path, "0.1.0-old", "lib/debug/.build-id/0a/bc.debug")
    for _ in range(2):
        assert install(built, tmp_path)[0] == 0
        assert old.is_file()
    newer = _age(tmp_path, "0.1.0-newer", "lib/debug/.build-id/1a/bc.debug")
    code, output = install(built, tmp_path)
    assert code == 0 and f"remove {old}\n" in output
    assert newer.is_file() and not old.exists()
    assert built.run("uninstall", "--prefix", str(tmp_path))[0] == 0
    assert names(tmp_path) == set()


def test_files_of_others_are_not_overwritten(built: Sandbox, tmp_path: Path) -> None:
    header = tmp_path / "include" / "hakmem.h"
    header.parent.mkdir()
    header.write_text("mine", encoding="utf-8")
    code, output = install(built, tmp_path)
    assert code == ExitCode.USAGE
    assert "include/hakmem.h" in output and "--force" in output
    assert names(tmp_path) == {"include/hakmem.h"}
    assert install(built, tmp_path, "--force")[0] == 0
    assert "hak_malloc" in header.read_text(encoding="utf-8")


def test_installation_goes_on_where_it_was_killed(built: Sandbox, tmp_path: Path) -> None:
    version = Version(built.current.resolve())
    place = Place(tmp_path)

    def killed(_step: str) -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            carry_out(plan_install(version, place, force=False), version, killed)
    code, output = install(built, tmp_path)
    assert code == 0, output
    assert f"{version.name} was being installed there, and that did not end" in output
    assert "nothing to do" in install(built, tmp_path)[1]
    with pytest.raises(KeyboardInterrupt):
        carry_out(plan_removal(place), None, killed)
    assert built.run("uninstall", "--prefix", str(tmp_path))[0] == 0
    assert names(tmp_path) == set()


def test_killed_installation_can_be_removed(built: Sandbox, tmp_path: Path) -> None:
    version = Version(built.current.resolve())

    def killed(_step: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(plan_install(version, Place(tmp_path), force=False), version, killed)
    assert built.run("uninstall", "--prefix", str(tmp_path))[0] == 0
    assert names(tmp_path) == set()


def test_what_is_replaced_was_rejected(built: Sandbox, tmp_path: Path) -> None:
    version = Version(built.current.resolve())
    assert install(built, tmp_path)[0] == 0
    record = tmp_path / "share/hakmem/installed.json"
    text = record.read_text(encoding="utf-8").replace(version.name, "0.1.0-bad")
    record.write_text(text, encoding="utf-8")
    bad = Mark(version="0.1.0-bad", library=None, inputs=None, since="2026-01-02", reason="slow")
    said = Place(tmp_path).replaced_by(version, Marks(rejected=(bad,)))
    assert said.startswith("0.1.0-bad is installed there") and said.endswith("REJECTED: slow")


def test_changed_files_survive_the_removal(built: Sandbox, tmp_path: Path) -> None:
    assert install(built, tmp_path)[0] == 0
    (tmp_path / "include/hakmem.h").write_text("changed", encoding="utf-8")
    (tmp_path / "lib/other.so").write_text("not ours", encoding="utf-8")
    code, output = built.run("uninstall", "--prefix", str(tmp_path))
    assert code == 0
    assert f"kept, because it was changed: {tmp_path}/include/hakmem.h" in output
    assert names(tmp_path) == {"include/hakmem.h", "lib/other.so"}


def test_damaged_version_is_not_installed(built: Sandbox, tmp_path: Path) -> None:
    version = tmp_path / "0.1.0-copy"
    shutil.copytree(built.current.resolve(), version, symlinks=True)
    (version / LIBRARY).write_bytes(b"spoilt")
    code, output = built.run("install", str(version), "--prefix", str(tmp_path / "p"))
    assert code == ExitCode.ARTIFACT
    assert "is damaged: lib/libhakmem.so" in output
    assert not (tmp_path / "p").exists()


def test_record_that_leads_out_of_the_prefix_removes_nothing(
    built: Sandbox, tmp_path: Path
) -> None:
    prefix, outside = tmp_path / "prefix", tmp_path / "outside"
    outside.write_text("x", encoding="utf-8")
    record = prefix / "share/hakmem/installed.json"
    record.parent.mkdir(parents=True)
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    files = {"../outside": digest}
    text = {"version": "x", "prefix": str(prefix), "files": files}
    record.write_text(json.dumps(text), encoding="utf-8")
    assert built.run("uninstall", "--prefix", str(prefix))[0] == 0
    assert outside.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("install", *TINY, "--prefix", "relative"), ExitCode.USAGE, "not an absolute path"),
        (("install", *TINY), ExitCode.USAGE, "--prefix"),
        (("install", *TINY, "9.9", "--prefix", "/x"), ExitCode.VERSION, "no published version"),
        (("install", *TINY, "--prefix", "/dev/null/x"), ExitCode.SPACE, "cannot write"),
        (("uninstall", "--prefix", "/no/such"), ExitCode.VERSION, "nothing of hakmem"),
    ],
)
def test_bad_wishes(arguments: tuple[str, ...], code: ExitCode, words: str, built: Sandbox) -> None:
    got, output = built.run(*arguments)
    assert got == code, output
    assert words in output


def test_damaged_record_is_named(built: Sandbox, tmp_path: Path) -> None:
    record = tmp_path / "share/hakmem/installed.json"
    record.parent.mkdir(parents=True)
    record.write_text("{", encoding="utf-8")
    for arguments in (("uninstall", "--prefix", str(tmp_path)),):
        code, output = built.run(*arguments)
        assert code == ExitCode.ARTIFACT
        assert "installed.json is damaged" in output
