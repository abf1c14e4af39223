"""Which allocators take part, and where they are."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.core.errors import SpaceError
from pipeline.core.preload import check_preloadable

REPOSITORY = Path(__file__).resolve().parents[2]
NEWER_PEERS = REPOSITORY / "build" / "peers"

_DEBIAN_PEERS = {
    "jemalloc": "libjemalloc.so.2",
    "mimalloc": "libmimalloc.so.2.0",
    "tcmalloc": "libtcmalloc_minimal.so.4",
}
_LIBRARY_FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib")
_NAME = re.compile(r"[A-Za-z0-9._+-]+")


@dataclass(frozen=True)
class Allocator:
    """An allocator under a name; without a library it is the C library's own."""

    name: str
    library: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)
    """Environment of the programs that run with it."""
    is_peer: bool = True
    """Whether the others are held against it; no: it is shown beside them."""

    @property
    def file_names(self) -> frozenset[str]:
        """By which names the programs may report the file that malloc comes from."""
        return frozenset({self.library.name, self.library.resolve().name} if self.library else ())


def parse(text: str) -> Allocator:
    """Read `name=path.so[,VARIABLE=value...]`; an empty path means the C library's allocator.

    Raises ValueError with a sentence for the user.
    """
    name, separator, rest = text.partition("=")
    path, *settings = rest.split(",")
    if not separator or not _NAME.fullmatch(name):
        raise ValueError(f"{text!r} is not of the form name=path.so[,VARIABLE=value...]")
    if any("=" not in setting for setting in settings):
        raise ValueError(f"{text!r}: after a comma VARIABLE=value is expected")
    variables = dict(setting.split("=", 1) for setting in settings)
    if not path:
        return Allocator(name, None, variables)
    library = Path(path).absolute()
    if not library.is_file():
        raise ValueError(f"{name}: there is no file {path}")
    try:
        check_preloadable(library)
    except SpaceError as error:
        raise ValueError(error.message) from None
    return Allocator(name, library, variables)


def debian_peers() -> list[Allocator]:
    """Return glibc and those of Debian's packaged allocators that are installed here."""
    found = [Allocator("glibc")]
    for name, file_name in _DEBIAN_PEERS.items():
        for folder in _LIBRARY_FOLDERS:
            hits = sorted(Path("/").glob(f"{folder[1:]}/{file_name}"))
            if hits:
                found.append(Allocator(name, hits[0]))
                break
    return found


def newer_peers() -> list[Allocator]:
    """Return what bench/peers/build has built, named after the files (libNAME.so)."""
    return [
        Allocator(library.stem.removeprefix("lib"), library)
        for library in sorted(NEWER_PEERS.glob("lib*.so"))
    ]


def unique(allocators: Iterable[Allocator]) -> list[Allocator]:
    """Return them in order, a later one taking the place of an earlier one with its name."""
    by_name: dict[str, Allocator] = {}
    for allocator in allocators:
        by_name[allocator.name] = allocator
    return list(by_name.values())


@contextmanager
def copied(allocators: Sequence[Allocator]) -> Iterator[list[Allocator]]:
    """Give the allocators with copies of their libraries, but for those of the system.

    A build that links one of them again would otherwise have the other runs measure another.
    The copies lie in the file system of what is built here: how pages are mapped depends on that.
    """
    (REPOSITORY / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compare-", dir=REPOSITORY / "build") as folder:
        yield [_copied(one, Path(folder) / one.name) for one in allocators]


def _copied(one: Allocator, folder: Path) -> Allocator:
    if one.library is None or one.library.is_relative_to("/usr"):
        return one
    folder.mkdir()
    return replace(one, library=Path(shutil.copy2(one.library, folder)))
