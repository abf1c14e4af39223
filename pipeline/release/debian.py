"""Debian packages of a published version, made by dpkg-deb alone: nothing is compiled or fetched.

    libhakmem       usr/lib/TRIPLET/libhakmem.so, those for kinds of processors, the manifest
    libhakmem-dev   libhakmem.a, header, pkg-config file, CMake package
    libhakmem-dbg   usr/lib/debug/.build-id/: debug information, where debuggers look for it
    hakmem-tools    the command `hakmem`, with what it needs of this tree; for all machines

The same version makes the same bytes: all times are that of its publication.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline.core.architecture import Architecture
from pipeline.core.closure import imports, module_file
from pipeline.core.errors import ArtifactError
from pipeline.core.files import replacing
from pipeline.core.process import run
from pipeline.core.variant import PRODUCTION, asked_for
from pipeline.release.contents import HEADER, archive_place, write_package_files
from pipeline.release.elf_rules import architecture_of, needed_glibc
from pipeline.release.mending import line_of_version
from pipeline.release.version import MANIFEST, Version

TOOLS = "usr/lib/hakmem"
_COMMAND = """\
#!/usr/bin/python3 -P
import os.path
import sys

prefix = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(prefix, "lib", "hakmem"))
from operate.cli import main

main()
"""


@dataclass(frozen=True)
class Source:
    """What packages are made of: a version, and the tree with the command and the templates."""

    root: Path
    version: Version

    @property
    def lib(self) -> str:
        """Where libraries go."""
        return f"usr/lib/{self.architecture.triplet}"

    @property
    def architecture(self) -> Architecture:
        """That of the library, which is this machine's unless the version came from elsewhere."""
        return architecture_of(self.version.library)

    @property
    def number(self) -> str:
        """The package version: later publications of one version count as newer."""
        library, _, digest = self.version.name.partition("-")
        return f"{library}+{self._time:%Y%m%d%H%M%S}.{digest or '0'}"

    @property
    def seconds(self) -> int:
        """When the version was published, in seconds since 1970."""
        return int(self._time.timestamp())

    @property
    def _time(self) -> datetime:
        try:
            return datetime.fromisoformat(self.version.created)
        except ValueError as error:
            line = asked_for(line_of_version(self.version))
            raise ArtifactError(
                f"{self.version.folder / MANIFEST} does not say when the version was published",
                hint=f"`.venv/bin/pipeline build --profile {line}` publishes it again, with that",
            ) from error


@dataclass(frozen=True)
class Package:
    """A package: its name, what it needs, what it is, and what fills its folder."""

    name: str
    depends: str
    about: str
    fill: Callable[[Source, Path], None]
    section: str = "libs"
    for_all: bool = False
    """It holds no machine code."""


def packages(source: Source) -> tuple[Package, ...]:
    """Return the packages of a version."""
    same = f"libhakmem (= {source.number})"
    glibc = ".".join(map(str, needed_glibc(source.version.library)))
    profile = source.version.manifest.get("profile", "unknown")
    return (
        Package(
            "libhakmem",
            f"libc6 (>= {glibc})",
            f"malloc compiled for the workload {profile}",
            _library,
        ),
        Package("libhakmem-dev", same, "header and static library of hakmem", _dev, "libdevel"),
        Package("libhakmem-dbg", same, "debug information of hakmem", _debug, "debug"),
        Package(
            *("hakmem-tools", "python3 (>= 3.11)", "run and check programs with hakmem", _tools),
            section="utils",
            for_all=True,
        ),
    )


def build(source: Source, out: Path) -> list[Path]:
    """Build all packages into ``out`` and return their files."""
    out.mkdir(parents=True, exist_ok=True)
    return [_build(source, package, out) for package in packages(source)]


def _build(source: Source, package: Package, out: Path) -> Path:
    target = out / f"{package.name}_{source.number}_{_architecture(source, package)}.deb"
    with tempfile.TemporaryDirectory() as folder, replacing(target) as fresh:
        room = Path(folder) / package.name
        package.fill(source, room)
        _copy(source.root / "LICENSE", room / f"usr/share/doc/{package.name}/copyright")
        _write(room / "DEBIAN/control", _control(source, package))
        _set_modes(room)
        env = {"SOURCE_DATE_EPOCH": str(source.seconds)}
        run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", room, fresh], env=env)
    return target


def _architecture(source: Source, package: Package) -> str:
    return "all" if package.for_all else source.architecture.debian


def _control(source: Source, package: Package) -> str:
    fields = {
        "Package": package.name,
        "Version": source.number,
        "Architecture": _architecture(source, package),
        "Section": package.section,
        "Priority": "optional",
        "Maintainer": "the hakmem developers <hakmem@localhost>",
        "Depends": package.depends,
        "Description": package.about,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def _library(source: Source, room: Path) -> None:
    for library in (source.version.library, *source.version.beside()):
        _copy(library, room / source.lib / library.relative_to(source.version.library.parent))
    _copy(source.version.folder / MANIFEST, room / "usr/share/hakmem" / MANIFEST)


def _dev(source: Source, room: Path) -> None:
    folder = source.version.folder
    archive = folder / archive_place(PRODUCTION)
    _copy(archive, room / source.lib / archive.name)
    _copy(folder / HEADER, room / "usr" / HEADER)
    number = source.version.name.partition("-")[0]
    write_package_files(room / source.lib, source.root, number, "../../include")


def _debug(source: Source, room: Path) -> None:
    for file in sorted((source.version.library.parent).rglob("*.debug")):
        if ".build-id" in file.parts:
            place = file.parts[file.parts.index(".build-id") :]
            _copy(file, room.joinpath("usr/lib/debug", *place))


def _tools(source: Source, room: Path) -> None:
    for file in command_files(source.root):
        _copy(file, room / TOOLS / file.relative_to(source.root))
    _copy(source.root / "VERSION", room / TOOLS / "VERSION")
    for page in sorted((source.root / "docs").glob("*.md")):
        _copy(page, room / "usr/share/doc/hakmem-tools" / page.name)
    _write(room / "usr/bin/hakmem", _COMMAND)
    for shell, place in _COMPLETIONS.items():
        completion = run([sys.executable, "-m", "operate", "completion", shell], cwd=source.root)
        _write(room / "usr/share" / place, completion.stdout)


_COMPLETIONS = {
    "bash": "bash-completion/completions/hakmem",
    "zsh": "zsh/vendor-completions/_hakmem",
    "fish": "fish/vendor_completions.d/hakmem.fish",
}
"""Where each shell looks, below /usr/share."""


def command_files(root: Path) -> list[Path]:
    """Return the files of the command `hakmem`: its own, and what they import of the pipeline."""
    own = sorted((root / "operate").rglob("*.py"))
    waiting, found = [*own], set(own)
    while waiting:
        names = {name for name in imports(waiting.pop()) if module_file(root, name).is_file()}
        packages = {name.rpartition(".")[0] for name in names}
        new = {module_file(root, name) for name in (names | packages) - {""}} - found
        waiting += new
        found |= new
    return sorted(found)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def _set_modes(room: Path) -> None:
    """Give each file the mode that a package has, whatever the umask was."""
    for path in (room, *room.rglob("*")):
        program = path.is_dir() or path.parent.name == "bin"
        path.chmod(0o755 if program else 0o644)
