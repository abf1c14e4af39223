"""What a library was made from elsewhere, held against what is here."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.toolchain.find import LLVM_PARTS


def other_sources(there: str, here: str) -> str:
    """Return in words how the digests of sources differ; "" where they do not."""
    if there == here:
        return ""
    return f"their digest was {there[:16]}, here it is {here[:16]}"


def other_tools(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return in words how the tools that decide a library's bytes differ; "" where none does."""
    return "; ".join(
        f"{name} was {there[name]!r}, here it is {here.get(name, 'missing')!r}"
        for name in LLVM_PARTS
        if name in there and here.get(name) != there[name]
    )
