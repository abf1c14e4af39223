"""Which build of the library is meant: production, or one that is published beside it.

A profile and a variant make a *line* of versions. Each line has a name, such as ``mixed`` and
``mixed+hardened``, and folders of its own for artifacts, reports and versions. No profile can have
such a name, so what knows only profiles cannot mistake one for the other.
"""

from __future__ import annotations

PRODUCTION, HARDENED = "production", "hardened"
VARIANTS = (PRODUCTION, HARDENED)
"""Those that the pipeline publishes; the guard and research are built by CMake alone."""

_JOINT = "+"


def line_of(profile: str, variant: str) -> str:
    """Return the name of a line of versions."""
    return profile if variant == PRODUCTION else f"{profile}{_JOINT}{variant}"


def split_line(line: str) -> tuple[str, str]:
    """Return the profile and the variant of a line."""
    profile, _, variant = line.partition(_JOINT)
    return profile, variant or PRODUCTION


def asked_for(line: str) -> str:
    """Return a line as `pipeline build` is asked for it: behind its --profile."""
    profile, variant = split_line(line)
    return profile if variant == PRODUCTION else f"{profile} --variant {variant}"


def stem(variant: str) -> str:
    """Return how the files of a variant are called, as allocator/CMakeLists.txt has it."""
    return "libhakmem" if variant == PRODUCTION else f"libhakmem-{variant}"


def shared_name(variant: str) -> str:
    """Return the name of its shared library."""
    return f"{stem(variant)}.so"


LIBRARY_NAMES = tuple(map(shared_name, VARIANTS))


def share_folder(variant: str) -> str:
    """Return where a prefix keeps what is known of an installed version."""
    return f"share/{stem(variant).removeprefix('lib')}"
