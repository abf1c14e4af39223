"""Rust's names as people write them: tools take rustc's older ones for C++, and know half of them.

Source: rustc-demangle, https://github.com/rust-lang/rustc-demangle/blob/main/src/legacy.rs
"""

from __future__ import annotations

import re

_HASH = re.compile(r"(.+)::h[0-9a-f]{16}(?: \(\.[^)]*\)| \[clone [^\]]*\])*")
"""What rustc puts behind each of these names; compilers add to copies of functions."""
_ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
_ESCAPE = re.compile(rf"\$(?:({'|'.join(_ESCAPES)})|u([0-9a-f]{{1,4}}))\$")
_BEFORE_ESCAPE = re.compile(r"(?:^|(?<=::))_(?=\$)")
"""An identifier cannot begin with an escape: rustc puts an underscore in front."""


def plain(name: str) -> str:
    """Return a name that ends with rustc's hash without it, and without escapes; others as is."""
    found = _HASH.fullmatch(name)
    if not found:
        return name
    text = _BEFORE_ESCAPE.sub("", found[1]).replace("..", "::")
    return _ESCAPE.sub(lambda one: _ESCAPES[one[1]] if one[1] else chr(int(one[2], 16)), text)
