"""LD_PRELOAD: the variable by which the dynamic linker loads a library before all others."""

from __future__ import annotations

import shlex
from pathlib import Path

from pipeline.core.errors import SpaceError


def check_preloadable(library: Path) -> None:
    """Raise SpaceError for a path that the dynamic linker would take for two; it only warns."""
    if any(separator in str(library) for separator in " :"):
        raise SpaceError(
            f"{library} cannot be preloaded: to LD_PRELOAD a path ends at a space or colon",
            hint="move it, the clone it belongs to, or the temporary folder (TMPDIR) to a path "
            "without them",
        )


def preload(*libraries: Path) -> dict[str, str]:
    """Return the variable that loads ``libraries`` into a child; SpaceError if it never would."""
    for library in libraries:
        check_preloadable(library)
    return {"LD_PRELOAD": ":".join(map(str, libraries))}


def through_env(library: Path) -> tuple[str, ...]:
    """Return the words in front of a command that load ``library`` into it, and not into a tool.

    So perf, which starts the command, keeps libc's allocator.
    """
    return ("env", *(f"{name}={value}" for name, value in preload(library).items()))


def preloading(library: Path) -> str:
    """Return what is typed in a shell in front of a command that gets ``library``."""
    return f"LD_PRELOAD={shlex.quote(str(library))}"
