"""Packages of a published version are built, installed below a folder, and used from there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from made import ROOT, Compile, compile_c, library, publish

from pipeline.release.debian import Source, build, command_files
from pipeline.release.version import Version

__all__ = ["compile_c", "library"]
NAMES = ("hakmem-tools", "libhakmem", "libhakmem-dbg", "libhakmem-dev")
pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb here")


@pytest.fixture
def version(tmp_path: Path, library: Path, compile_c: Compile) -> Version:
    """A version as it is published, of a library that a compiler made in no time."""
    folder = publish(tmp_path / "dist", library, "mixed", "x86-64")
    object_file = compile_c("int hak_validate(void) { return 1; }", "-c", name="made.o")
    subprocess.run(["ar", "rcs", folder / "lib/libhakmem.a", object_file], check=True)
    debug = folder / "lib/debug/.build-id/ab/cdef.debug"
    for file in (debug, folder / "include/hakmem.h"):
        file.parent.mkdir(parents=True)
    debug.write_bytes(b"debug information")
    shutil.copyfile(ROOT / "allocator/include/hakmem.h", folder / "include/hakmem.h")
    said = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    said["created"] = "2026-11-23T00:29:53+00:00"
    said["version"] = folder.name
    (folder / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
    return Version(folder)


def installed(version: Version, folder: Path) -> Path:
    """Install all packages below a folder: as dpkg does it, or without root unpacked alone."""
    files = [str(file) for file in build(Source(ROOT, version), folder / "debs")]
    root = folder / "root"
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    if os.getuid() == 0:
        options = ("--force-depends", "--force-architecture")
        subprocess.run(["dpkg", f"--root={root}", *options, "-i", *files], check=True)
        status = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
        assert all(f"Package: {name}\nStatus: install ok installed" in status for name in NAMES)
    else:
        for file in files:
            subprocess.run(["dpkg-deb", "-x", file, str(root)], check=True)
    return root


def test_packages_are_installed_and_the_command_runs_programs(
    version: Version, tmp_path: Path
) -> None:
    root = installed(version, tmp_path)
    command = root / "usr/bin/hakmem"
    env = {"PATH": os.environ["PATH"]}
    said = subprocess.run(
        ["/usr/bin/python3", "-P", command, "--version"],
        env=env,
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    ).stdout
    assert said == f"hakmem {(ROOT / 'VERSION').read_text().strip()}\n"
    argv = ["/usr/bin/python3", "-P", str(command), "run", "purge-delay=5", "env"]
    found = subprocess.run(argv, env=env, check=True, capture_output=True, text=True, cwd=tmp_path)
    place = root / "usr/lib/x86_64-linux-gnu/libhakmem.so"
    assert f"LD_PRELOAD={place}" in found.stdout
    assert "HAKMEM_PURGE_DELAY=5" in found.stdout
    assert (root / "usr/lib/debug/.build-id/ab/cdef.debug").is_file()
    for script in ("bash-completion/completions/hakmem", "zsh/vendor-completions/_hakmem"):
        assert "_hakmem() {" in (root / "usr/share" / script).read_text(encoding="utf-8")
    assert (root / "usr/share/fish/vendor_completions.d/hakmem.fish").is_file()


def test_the_tools_bring_the_pages_that_they_name(version: Version, tmp_path: Path) -> None:
    pages = installed(version, tmp_path) / "usr/share/doc/hakmem-tools"
    texts = [path.read_text("utf-8") for path in (ROOT / "operate").rglob("*.py")]
    said = {name for text in texts for name in re.findall(r"docs/([\w-]+\.md)", text)}
    linked = set(re.findall(r"\]\(([\w-]+\.md)", (pages / "operations.md").read_text("utf-8")))
    assert {"statistics.md", "exit-codes.md"} <= said and "limits.md" in linked
    assert not [name for name in said | linked if not (pages / name).is_file()]


def test_a_package_can_be_linked_with(version: Version, tmp_path: Path) -> None:
    root = installed(version, tmp_path)
    package = root / "usr/lib/x86_64-linux-gnu/pkgconfig/hakmem.pc"
    folder = package.parent
    text = package.read_text(encoding="utf-8").replace("${pcfiledir}", str(folder))
    include = next(line for line in text.splitlines() if line.startswith("includedir="))
    place = include.partition("=")[2].replace("${libdir}", str(folder.parent))
    assert (Path(place) / "hakmem.h").resolve() == root / "usr/include/hakmem.h"
    assert (folder.parent / "libhakmem.a").is_file()
    assert (folder.parent / "cmake/hakmem/hakmem-config.cmake").is_file()


@pytest.mark.slow
@pytest.mark.skipif(
    os.getuid() != 0 or not all(map(shutil.which, ("buildah", "debootstrap"))),
    reason="needs root, buildah and debootstrap",
)
def test_the_image_is_built_and_runs_programs(version: Version, tmp_path: Path) -> None:
    """By the recipe for containers, on a base that is made here: no registry need be there."""
    places = (f"--root={tmp_path}/images", f"--runroot={tmp_path}/run", "--storage-driver=vfs")
    build(Source(ROOT, version), tmp_path / "debs")
    base = ["debootstrap", "--variant=minbase", "bookworm", str(tmp_path / "base")]
    if subprocess.run(base, capture_output=True).returncode != 0:
        pytest.skip("debootstrap reaches no mirror of Debian here")
    (tmp_path / "Base").write_text("FROM scratch\nADD base /\n", encoding="utf-8")

    def buildah(verb: str, *words: str) -> str:
        argv = ["buildah", *places, verb, *words]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    recipe = ("--build-arg=BASE=localhost/base", f"-f={ROOT}/packaging/container/Containerfile")
    buildah("build", "--isolation=chroot", "-f=Base", "-t=base", ".")
    buildah("build", "--isolation=chroot", *recipe, "-t=hakmem", "debs")
    container = buildah("from", "--pull=never", "localhost/hakmem").strip()
    asked = ("hakmem", "run", "--", "env")
    said = buildah("run", "--isolation=chroot", container, "--", *asked)
    assert "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libhakmem.so" in said


def test_equal_versions_make_equal_packages(version: Version, tmp_path: Path) -> None:
    def digests(folder: Path) -> list[str]:
        files = build(Source(ROOT, version), folder)
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]

    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_the_tools_bring_all_that_the_command_imports() -> None:
    files = {str(path.relative_to(ROOT)) for path in command_files(ROOT)}
    assert {"operate/cli.py", "operate/commands/run.py", "pipeline/core/errors.py"} <= files
    assert {"pipeline/__init__.py", "pipeline/core/__init__.py"} <= files
    assert not [
        name
        for name in files
        if name.startswith("pipeline/") and "core" not in name and name != "pipeline/__init__.py"
    ]
