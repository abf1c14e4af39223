"""Which modules of the pipeline a module uses, itself and by others: what decides its results."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.errors import SpaceError
from pipeline.core.files import replace_text
from pipeline.core.home import own_root
from pipeline.core.nested import read_json

PACKAGE = "pipeline"
# What these do is said to people, and decides no result.
SILENT = frozenset(
    f"{PACKAGE}.{name}"
    for name in (
        *("core.console", "core.errors", "core.exit_codes", "core.report_error"),
        *("core.spelling", "judge.topic", "report.text"),
    )
)


@cache
def closure_digest(module: str) -> str:
    """Return the digest of ``module`` and of all modules of the pipeline that it imports."""
    root = own_root()
    return digest_value({name: _digest(module_file(root, name)) for name in closure(root, module)})


def is_unchanged(module: str) -> bool:
    """Return whether all these files still are what they were when their digest was made."""
    root = own_root()
    now = {name: digest_file(module_file(root, name)) for name in closure(root, module)}
    return digest_value(now) == closure_digest(module)


class _Memory:
    """What files import, remembered by their bytes: to parse them again takes long under load."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            known = read_json(file)
        except (OSError, ValueError):
            known = {}
        self._known: dict[str, list[str]] = known if isinstance(known, dict) else {}
        self._new = False

    def imports(self, file: Path) -> tuple[str, ...]:
        """Return the names that ``file`` imports."""
        digest = _digest(file)
        if digest not in self._known:
            self._known[digest] = list(imports(file))
            self._new = True
        return tuple(self._known[digest])

    def keep(self) -> None:
        """Write down what is new, if the folder can be written."""
        if self._new:
            with suppress(SpaceError):
                replace_text(self._file, json.dumps(self._known, indent=1) + "\n")
            self._new = False


@cache
def _memory(root: Path) -> _Memory:
    return _Memory(root / "build" / "pipeline" / "imports.json")


def closure(root: Path, module: str) -> list[str]:
    """Return the names of ``module`` and all that it imports, at its top or inside a function.

    Imports for type checkers alone are left out: nothing of them is executed.
    """
    found, waiting, memory = set[str](), [module], _memory(root)
    while waiting:
        name = waiting.pop()
        if name in found or name in SILENT or not module_file(root, name).is_file():
            continue
        found.add(name)
        waiting += memory.imports(module_file(root, name))
    memory.keep()
    return sorted(found)


_digest = cache(digest_file)  # most stages share most modules


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Return the names that ``file`` imports from this package, but not for type checkers alone."""
    tree = ast.parse(file.read_bytes())
    return tuple(name for name in _imported(tree) if name.partition(".")[0] == PACKAGE)


def _imported(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module  # and what may be a module of that package
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from _imported(child)


@cache  # stages share modules, and each asks for all that it uses
def module_file(root: Path, module: str) -> Path:
    """Return the file of a module, which need not exist."""
    place = root.joinpath(*module.split("."))
    package = place / "__init__.py"
    return package if package.is_file() else place.with_suffix(".py")
