"""Rust's names as people write them, and which of them are the standard library's.

Tools take rustc's older names for C++, and know half of them. Whose a function is gets decided
here, while its mangled name is known: C++ has ``std``, too, and may have a ``core``.

Sources: https://github.com/rust-lang/rustc-demangle/blob/main/src/legacy.rs
https://doc.rust-lang.org/rustc/symbol-mangling/v0.html
"""

from __future__ import annotations

import re

_COPY = r"(?: \(\.[^)]*\)| \[clone [^\]]*\])*"
"""What tools show of what compilers add to copies of functions."""
_HASH = re.compile(rf"(.+)::h[0-9a-f]{{16}}{_COPY}")
"""What rustc puts behind each of its older names."""
_MANGLED = re.compile(r"_ZN.+17h[0-9a-f]{16}E(?:\..*)?")
_ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
_ESCAPE = re.compile(rf"\$(?:({'|'.join(_ESCAPES)})|u([0-9a-f]{{1,4}}))\$")
_BEFORE_ESCAPE = re.compile(r"(?:^|(?<=::))_(?=\$)")
"""An identifier cannot begin with an escape: rustc puts an underscore in front."""
_ADDED = re.compile(rf"(?<=\w)\[[0-9a-f]+\](?=::)|{_COPY}$")
"""The hash of a crate, which binutils show in newer names, and a copy."""

_STD = {"alloc", "core", "hashbrown", "std", "__rustc"}
_HELPER = re.compile(r"__r(?:ust|dl|g)_\w+")
"""What passes requests on to the allocator, and catches panics: these have no mangled names."""
_CRATE = re.compile(r"_R(?:I|N[A-Za-z]|[XM](?:s[0-9A-Za-z]*_)?)*C(?:s[0-9A-Za-z]*_)?(\d+)_?(\w+)")
"""Generics, paths within, and implementations come in front of the crate that has them."""
_TRAIT = re.compile(r"<.*? as (\w+)::")
_ROOT = re.compile(r"(?<![\w:])\w+(?=::)")


class Name(str):
    """A name that rustc gave: it stays whole."""

    __slots__ = ()


class StdName(Name):
    """The name of a function of Rust's standard library."""

    __slots__ = ()


def named(mangled: str, text: str) -> str:
    """Return a function's name from what a demangler says; a Name if it is Rust's."""
    if mangled.startswith("_R") and text != mangled:
        newer = _ADDED.sub("", text)
        return _of(newer, {_crate(mangled, newer)})
    older = plain(text)
    if older != text or _MANGLED.fullmatch(mangled):
        return _of(older, _crates(older))
    return StdName(text) if _HELPER.fullmatch(mangled) else text


def plain(name: str) -> str:
    """Return a name that ends with rustc's hash without it, and without escapes; others as is."""
    found = _HASH.fullmatch(name)
    if not found:
        return name
    text = _BEFORE_ESCAPE.sub("", found[1]).replace("..", "::")
    return _ESCAPE.sub(lambda one: _ESCAPES[one[1]] if one[1] else chr(int(one[2], 16)), text)


def _of(text: str, crates: set[str]) -> Name:
    return StdName(text) if crates <= _STD else Name(text)


def _crate(mangled: str, text: str) -> str:
    """Return whose code a newer name is: of what a trait has for all, the trait's own crate."""
    if found := _CRATE.match(mangled):
        return found[2][: int(found[1])]
    found = _TRAIT.match(text)
    return found[1] if found else ""


def _crates(text: str) -> set[str]:
    """Return the crates that can have written what an older name means.

    A crate may implement traits for its own types, and its own traits for all types.
    """
    if text.startswith("<"):
        return set(_ROOT.findall(text.rpartition(">::")[0]))
    return {text.partition("::")[0]}
