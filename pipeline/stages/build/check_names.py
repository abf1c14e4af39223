"""Names in a profile and its symbol lists that nothing answers to, found before all work."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from pipeline.core.errors import ProfileError
from pipeline.core.paths import Tree
from pipeline.core.spelling import did_you_mean
from pipeline.profile.schema import Profile
from pipeline.profile.workload import Program
from pipeline.toolchain.symbols import SymbolLists

# A line that begins with a type, a name, parameters, a body.
_DEFINITION = re.compile(r"^[A-Za-z_][^;={}()]*?\b(\w+)\([^;{}]*\) *\{", re.M)
_MACRO = re.compile(r"\b[A-Z][A-Z_]{3,}\(((?:[^;{}()]|\([^;{}()]*\))*)\)")


def check_names(tree: Tree, profile: Profile, lists: SymbolLists) -> None:
    """Raise ProfileError for a program without a source, or a symbol that no source defines."""
    file = tree.profiles / f"{profile.name}.toml"
    for workload in profile.workload:
        if isinstance(workload, Program):
            _check_program(tree, f'{file}: workload "{workload.name}"', workload.program)
    names = listable(tree, {*profile.layout.must_be_hot, *lists.hot, *lists.cold})
    _check_symbols(f"{file}: layout.must_be_hot", profile.layout.must_be_hot, names)
    layout = tree.layout(profile.layout.name)
    _check_symbols(str(layout / "hot.txt"), lists.hot, names)
    _check_symbols(str(layout / "cold.txt"), lists.cold, names)


def _check_program(tree: Tree, place: str, program: str) -> None:
    if (tree.root / f"{program}.c").is_file():
        return
    folder = program.partition("/")[0]
    known = sorted(f"{folder}/{path.stem}" for path in (tree.root / folder).glob("*.c"))
    raise ProfileError(
        f"{place}: there is no program {program}; known: {', '.join(known) or 'none'}",
        hint=did_you_mean(program, known) or f"a program is a file {folder}/NAME.c",
    )


def _check_symbols(place: str, symbols: Iterable[str], names: Collection[str]) -> None:
    unknown = [symbol for symbol in symbols if symbol not in names]
    if unknown:
        raise ProfileError(
            f"{place}: no function of the library is called {', '.join(unknown)}",
            hint=did_you_mean(unknown[0], names)
            or "was it renamed? a name must be that of a definition, not of an alias",
        )


def defined_functions(tree: Tree) -> set[str]:
    """Return the functions that the library's sources define, also those that are inlined."""
    texts = [path.read_text("utf-8") for path in (tree.root / "allocator").rglob("*.[ch]")]
    return {name for text in texts for name in _DEFINITION.findall(text)}


def listable(tree: Tree, listed: Collection[str]) -> set[str]:
    """Return the functions that the sources define, and what macros may define of ``listed``.

    Few names are made by macros: other files than theirs are not searched, which takes long.
    """
    found = defined_functions(tree)
    left = set(listed) - found
    files = [p for p in (tree.root / "allocator").rglob("*") if p.suffix in (".c", ".h", ".def")]
    for text in (file.read_text("utf-8") for file in files):
        if any(name in text for name in left):
            made = " ".join(_MACRO.findall(text))
            found |= left & set(re.findall(r"\w+", made))
    return found
