"""The files of a version: libraries, debug file, header, package files, and what it was made by.

lib/libhakmem.so                      what users preload or link
lib/libhakmem.a                       the same code as ordinary objects
lib/CPU/libhakmem.so                  what is for one kind of processor alone, with its debug/
kinds/CPU/                            verdict of that; where a worker made it manifest and report
lib/libhakmem.so.debug                a link to the next, for debuggers that look beside it
lib/debug/.build-id/xx/yyyy.debug     its debug information
lib/cmake/hakmem/, lib/pkgconfig/     find_package(hakmem), pkg-config hakmem
include/hakmem.h
profile/                              profiles, weights, symbol lists, geometry it was compiled by

Beside these stand the records of publish: manifest, verdict, reports, checksums. The libraries of
another variant than production are called libhakmem-VARIANT, and nothing is for linking with them
but the archive.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.digest import digest_file
from pipeline.core.variant import PRODUCTION, shared_name, stem
from pipeline.release.version import PROFILE, SUMS, library_place
from pipeline.toolchain.elf import read_build_id

HEADER = "include/hakmem.h"
KINDS = "kinds"
FDATA, FACTORS = "bolt.fdata", "factors.json"
CONTEXT_PROFDATA = "context.profdata"  # both training passes; only where the second was used
GEOMETRY = "geometry.toml"  # only where the profile has one
LISTS = ("hot.txt", "cold.txt")
# From lib/ to include/ in a version; the same place as in a prefix.
LIB_TO_INCLUDE = "../include"
_PACKAGE_FILES = {
    "hakmem-config.cmake": "cmake/hakmem",
    "hakmem-config-version.cmake": "cmake/hakmem",
    "hakmem.pc": "pkgconfig",
}


@dataclass(frozen=True)
class Product:
    """Where the files of a version come from. ``profile`` maps names below profile/ to files.

    ``beside`` has library and debug file for each kind of processor that has its own, ``records``
    the files that tell of them, by name.
    """

    library: Path
    debug: Path
    archive: Path
    profile: Mapping[str, Path]
    beside: Mapping[str, tuple[Path, Path]] = field(default_factory=dict)
    records: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)
    variant: str = PRODUCTION


def write_contents(room: Path, root: Path, product: Product, version: str) -> None:
    """Fill ``room`` with the files of a version of the tree ``root``, without its records.

    ``version`` is the library's, such as 0.1.0.
    """
    place = library_place(product.variant)
    files = {
        place: product.library,
        archive_place(product.variant): product.archive,
        HEADER: root / "allocator" / "include" / "hakmem.h",
        str(debug_place(product.library)): product.debug,
        **{f"{PROFILE}/{name}": path for name, path in product.profile.items()},
    }
    for kind, (library, debug) in product.beside.items():
        own = kind_place(kind, product.variant)
        files |= {own: library, str(debug_place(library, Path(own).parent)): debug}
    for kind, records in product.records.items():
        files |= {f"{KINDS}/{kind}/{name}": path for name, path in records.items()}
    for name, source in files.items():
        target = room / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for name in (place, *(kind_place(kind, product.variant) for kind in product.beside)):
        (room / name).chmod(0o755)
    link = room / f"{place}.debug"
    link.symlink_to(debug_place(product.library).relative_to(link.parent.relative_to(room)))
    if product.variant == PRODUCTION:  # programs are linked with it, whatever they run with
        write_package_files(room / "lib", root, version, LIB_TO_INCLUDE)


def archive_place(variant: str) -> str:
    """Return where the static library of a variant lies in a version."""
    return f"lib/{stem(variant)}.a"


def kind_place(kind: str, variant: str) -> str:
    """Return where the library for one kind of processor lies in a version."""
    return f"lib/{kind}/{shared_name(variant)}"


def debug_place(library: Path, folder: Path = Path("lib")) -> Path:
    """Return where the debug file of ``library`` lies in a version, by its build-id."""
    build_id = read_build_id(library)
    return folder / "debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"


def file_digests(room: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a version by name; links by what they point to."""
    return {
        str(path.relative_to(room)): digest_file(path)
        for path in sorted(room.rglob("*"))
        if path.is_file()
    }


def write_sums(room: Path) -> None:
    """Write SHA256SUMS, which `sha256sum -c` understands."""
    lines = (f"{digest}  {name}\n" for name, digest in file_digests(room).items())
    (room / SUMS).write_text("".join(lines), encoding="utf-8")


def write_package_files(lib: Path, root: Path, version: str, to_include: str) -> None:
    """Fill in the templates that CMake's own install rules use as well (cmake/install.cmake).

    ``lib`` is the folder of the libraries; ``to_include`` leads from there to the header.
    """
    for name, folder in _PACKAGE_FILES.items():
        text = (root / "cmake" / f"{name}.in").read_text(encoding="utf-8")
        text = text.replace("@HAKMEM_VERSION@", version)
        text = text.replace("@HAKMEM_LIB_TO_INCLUDE@", to_include)
        (lib / folder).mkdir(parents=True, exist_ok=True)
        (lib / folder / name).write_text(text, encoding="utf-8")
