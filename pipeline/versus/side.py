"""One side of a comparison: a library and the variables that its runs have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ArtifactError, UsageError
from pipeline.core.paths import Tree
from pipeline.core.preload import preload
from pipeline.core.process import run
from pipeline.core.spelling import did_you_mean
from pipeline.core.variant import split_line
from pipeline.profile.load import profile_names
from pipeline.release.mending import require_undamaged
from pipeline.release.published import published
from pipeline.release.version import CURRENT, Version
from pipeline.release.wish import resolve
from pipeline.toolchain.elf import read_kind

# A comma ends the library where a variable follows it: a value may have commas.
_VARIABLE = re.compile(r",(?=[A-Za-z_][A-Za-z0-9_]*=)")
# What the library says of a variable that it does not use: a verdict would be about nothing.
_UNUSED = re.compile(
    r"^hakmem: (?:process \d+: )?(.* (?:is no option|is not a number).*)$", re.MULTILINE
)
_START_LIMIT_S = 60.0

WISHES = (
    "give libc, a library's file such as /usr/lib/x86_64-linux-gnu/libjemalloc.so.2, the folder of "
    "a version, or a version's name"
)
LIBC = "libc"
"""The malloc that programs have by themselves."""


@dataclass(frozen=True)
class SideOfTwo:
    """A library by its file, and what the environment of its runs has beside it."""

    name: str
    library: Path
    env: dict[str, str]


def parse_side(tree: Tree, profile: str, words: str) -> SideOfTwo:
    """Return the side that ``words`` name: LIBRARY[,NAME=VALUE...].

    LIBRARY is ``libc``, a file, the folder of a version, or a version's name: ``current``, VERSION
    (a unique beginning will do), PROFILE:current or PROFILE:VERSION, where PROFILE may be
    PROFILE+hardened.
    UsageError or VersionError otherwise.
    """
    wish, *variables = _VARIABLE.split(words)
    env = dict(one.split("=", 1) for one in variables)
    name, library = _library(tree, profile, wish)
    _require_shared(wish, library)
    return understood(SideOfTwo(name, library, env))


def wish_in(words: str) -> str:
    """Return the LIBRARY of LIBRARY[,NAME=VALUE...]."""
    return _VARIABLE.split(words)[0]


def understood(side: SideOfTwo) -> SideOfTwo:
    """Return the side; UsageError with the library's words if it cannot use one of the variables.

    A run would hide what the library says, and go by the default.
    """
    if any(name.startswith("HAKMEM_") for name in side.env):
        env = preload(side.library) | side.env
        said = _UNUSED.search(run(["true"], env=env, timeout_s=_START_LIMIT_S, expect=None).stderr)
        if said is not None:
            raise UsageError(said[1], hint="docs/options.md has all names and ranges")
    return side


def _require_shared(wish: str, library: Path) -> None:
    """Refuse a file that no program can be started with; UsageError says what it is instead."""
    try:
        machine, kind = read_kind(library)
    except ArtifactError:
        machine, kind = "", "no ELF file"
    if (machine, kind) != ("x64", "a shared library"):
        what = f"{kind} for {machine}" if machine not in ("", "x64") else kind
        raise UsageError(
            f"{wish} is no library that can be preloaded here: it is {what}",
            hint=WISHES,
        )


def _library(tree: Tree, profile: str, wish: str) -> tuple[str, Path]:
    path = Path(wish)
    if wish == LIBC:
        return wish, _libc()
    if (library := Version(path).library).is_file():
        require_undamaged(Version(path.resolve()))
        return wish, library.resolve()
    if path.is_file():
        return wish, path.resolve()
    if "," in wish:
        raise UsageError(
            f"there is no library {wish!r}: behind a comma a variable is missing its value",
            hint="write LIBRARY,NAME=VALUE, as libc,MALLOC_ARENA_MAX=1",
        )
    if "/" in wish or path.suffix == ".so":
        raise UsageError(f"there is no library {wish}", hint=WISHES)
    return _published(tree, profile, wish)


def _published(tree: Tree, profile: str, wish: str) -> tuple[str, Path]:
    """Return the library of a version: PROFILE:VERSION, or a version of ``profile``."""
    named, colon, version = wish.rpartition(":")
    if colon:
        _require_profile(tree, named)
    else:
        _require_version(tree, profile, wish)
    found = resolve(tree, named or profile, version or (CURRENT if colon else ""))
    require_undamaged(found)
    return f"{named or profile}:{found.name}", found.library


def _require_profile(tree: Tree, named: str) -> None:
    known = profile_names(tree)
    if split_line(named)[0] not in known:
        raise UsageError(
            f"there is no profile {named!r}; known: {', '.join(known)}",
            hint=did_you_mean(named, known, WISHES),
        )


def _require_version(tree: Tree, profile: str, wish: str) -> None:
    """Raise UsageError for a profile in the place of a version, and where there is no version."""
    if split_line(wish)[0] in profile_names(tree):
        raise UsageError(
            f"there is no library {wish!r}: that is a profile", hint=f"did you mean {wish}:current?"
        )
    if wish != CURRENT and not published(tree.dist(profile)):
        why = f"profile {profile!r} has no version"
        raise UsageError(f"there is no library {wish!r}, and {why}", hint=WISHES)


def _libc() -> Path:
    """Return libc's own file, as this process has it loaded: to preload it changes nothing."""
    lines = Path("/proc/self/maps").read_text(encoding="ascii", errors="replace").splitlines()
    loaded = (Path(line.split(maxsplit=5)[-1]) for line in lines if line.endswith("/libc.so.6"))
    found = next(loaded, None)
    if found is None:
        raise UsageError("libc's file is not to be found", hint="give its path, libc.so.6")
    return found.resolve()
