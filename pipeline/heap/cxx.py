"""C++ names as a person reads them, and stacks without the inside of the standard library.

``short`` is for display; sums and trees go by whole names, so that no two functions become one.
Stacks of Rust are folded, too: its standard library has no names that tell its inside, so of its
functions that call each other the outermost stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from pipeline.heap.rust import Name, StdName
from pipeline.heap.stacks import Frame, Stack, Sums

_NEW = r"operator (?:new|delete)\b|_[MS]_\w|__invoke(?:_impl)?\b|lib(?:std)?c\+\+\S*\+0x"
_STD = re.compile(rf"(?:std|__gnu_cxx|__cxxabiv1)::|{_NEW}")
_INSIDE = re.compile(rf"__gnu_cxx::|std::(?:.*::)?(?:_|allocator(?:_traits)?\b)|{_NEW}")
"""Names of the implementation begin with an underscore; allocators only pass a request on."""
_INLINE_NAMESPACE = re.compile(r"\bstd::(?:__cxx11|__1|__2|__ndk1|_V2)::")
_OPERATOR = re.compile(r"operator(?:<=>|->\*|<<=|>>=|<<|>>|<=|>=|->|<|>|\(\))")
_NO_NAME = re.compile(r"\[abi:\w+\]| \[clone [^\]]*\]| \(\.[^)]*\)")
"""Tags, and what compilers add to parts and copies of functions."""
_TYPES = {
    "std::basic_string<...>": "std::string",
    "std::basic_ostream<...>": "std::ostream",
    "std::basic_istream<...>": "std::istream",
}
_USUAL = ", std::allocator<...>"
"""An argument that says nothing."""
_CLOSES = {"<": ">", "(": ")"}
_HIDDEN = str.maketrans(" (", "\0\1")
_BACK = str.maketrans("\0\1", " (")
"""Inside of brackets no space parts the result from the name."""
_KEPT = "(anonymous namespace)"


@lru_cache(maxsize=65536)
def short(name: str) -> str:
    """Return a name without template arguments, and without types of parameters and result.

    What is no name of C++ is left as it is.
    """
    return _shortened(name, "")


def apart(names: Iterable[str]) -> dict[str, str]:
    """Return the short form of each name, or one with so much more that no other has the same.

    Overloads are told by their parameters, templates by their arguments, others by all they have.
    """
    said = {name: short(name) for name in names}
    for shown in ("(", "<", None):
        count = Counter(said.values())
        said = {
            name: brief if count[brief] == 1 else _shortened(name, shown)
            for name, brief in said.items()
        }
    return said


def _shortened(name: str, shown: str | None) -> str:
    """Return a name without what stands in brackets, but those ``shown``; None: the whole name."""
    plain = _NO_NAME.sub("", name)
    if shown is None or isinstance(name, Name) or not _is_cxx(plain):
        return name
    text = "".join(_folded(_INLINE_NAMESPACE.sub("std::", plain), shown))
    for long, brief in _TYPES.items():
        text = text.replace(long, brief)
    return _without_result(text).translate(_BACK).replace(_USUAL, "")


def _is_cxx(name: str) -> bool:
    """Tell names of C++ from those of C, Rust (<T as Trait>::f), Go, and from offsets in files."""
    return not name.startswith("<") and (
        "::" in name or re.search(r"\)( const)?$", name) is not None
    )


def _folded(name: str, shown: str = "") -> Iterator[str]:
    """Yield the parts of a name, with "..." for what stands in brackets, but for the ``shown``."""
    at = 0
    while at < len(name):
        found = _OPERATOR.match(name, at)
        if found or name.startswith(_KEPT, at):
            part = found[0] if found else _KEPT
        elif name[at] in _CLOSES:
            part = name[at : _end(name, at)]
            inside = "".join(_folded(part[1:-1])) if part[0] in shown else "..."
            yield f"{part[0]}{inside.translate(_HIDDEN) if len(part) > 2 else ''}{_CLOSES[part[0]]}"
            at += len(part)
            continue
        else:
            part = name[at]
        yield part
        at += len(part)


def _end(name: str, start: int) -> int:
    """Return where the bracket that opens at ``start`` has been closed; else the name's end."""
    closing, at = [_CLOSES[name[start]]], start + 1
    while closing and at < len(name):
        found = _OPERATOR.match(name, at)
        if found:
            at += len(found[0])
            continue
        if name[at] in _CLOSES:
            closing.append(_CLOSES[name[at]])
        elif name[at] == closing[-1]:
            closing.pop()
        at += 1
    return at


def _without_result(text: str) -> str:
    """Drop the type of the result, which names of templates have, and a const behind them."""
    text = re.sub(r"^decltype ?\(\.\.\.\) | const$", "", text)
    head, operator, rest = text.partition("operator")
    places = [i for i, c in enumerate(head) if c == " " and not head.startswith(_KEPT, i - 10)]
    places = [i for i in places if "(" not in head[:i].replace(_KEPT, "")]
    return head[places[-1] + 1 if places else 0 :] + operator + rest


def is_std(name: str) -> bool:
    """Return whether a function is the standard library's, of C++ or of Rust."""
    if isinstance(name, Name):
        return isinstance(name, StdName)
    return _STD.match(short(name)) is not None


def _is_inside(name: str) -> bool:
    """Return whether a function belongs to the inside of the standard library of C++."""
    return (
        not isinstance(name, Name)
        and is_std(name)
        and _INSIDE.match(short(name).partition("(")[0]) is not None
    )


def fold(sums: Sums) -> dict[Stack, float]:
    """Return the sums by stacks without the inside of the standard library.

    Of what it calls to get memory the outermost function stays: it was the program that called it.
    """
    folded: dict[Stack, float] = {}
    for stack, value in sums.items():
        kept = _fold(stack)
        folded[kept] = folded.get(kept, 0.0) + value
    return {stack: value for stack, value in folded.items() if value}


def _fold(stack: Stack) -> Stack:
    kept = [frame for frame in _without_rust_inside(stack) if not _is_inside(frame.name)]
    own = max((i for i, frame in enumerate(kept) if not is_std(frame.name)), default=-1)
    return tuple(kept[: own + 2]) or stack[:1]


def _without_rust_inside(stack: Stack) -> Iterator[Frame]:
    """Yield the frames but those that Rust's standard library calls within itself."""
    within = False
    for frame in stack:
        inside = isinstance(frame.name, StdName)
        if not (inside and within):
            yield frame
        within = inside
