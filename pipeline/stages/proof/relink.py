"""Linking the code of a build once more: compiled once, its functions in any order."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import BuildError, ChildError
from pipeline.core.process import run
from pipeline.stages.build.compile import cmake_build
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.optimize import Flavour
from pipeline.toolchain.flags import KEEP_CODE, LTO, texts
from pipeline.toolchain.symbols import Function, functions

LINK_LIMIT_S = 300.0
_ORDER_FLAG, _SCRIPT_FLAG = "-Wl,--symbol-ordering-file=", "-Wl,-T,"
_SORT_FLAG = "-Wl,--call-graph-profile-sort="
# What a link with LTO has beyond one of ordinary objects.
_OF_LTO = ("-flto", "-fprofile-use=", "-Wl,--lto-")


@dataclass(frozen=True)
class Placing:
    """What tells the linker where functions go: their order, and its script."""

    order: Path
    script: Path


class Relinker:
    """Links the code of one build: compiled once, its functions in any order."""

    def __init__(
        self,
        shop: Workshop,
        setup: Setup,
        stage: str,
        build: Path,
        flavour: Flavour,
        profile: Path | None,
        first: Placing,
    ) -> None:
        """Compile in the folder ``build``, which stays; ``first`` is for the link that this has."""
        self._shop, self._stage, self._build = shop, stage, build
        code = build / "code.o"
        names: dict[str, object] = {"root": shop.tree.root, "room": build, "code": code}
        names |= {"order": first.order, "script": first.script, "profile": profile}
        kept = (KEEP_CODE,) if LTO in flavour.compile else ()
        cmake_build(
            shop,
            stage,
            build,
            compile_flags=texts(*flavour.compile, **names),
            link_flags=texts(*flavour.link, *kept, **names),
            geometry=setup.geometry,
        )
        self._command = relinking(self._line(), code if kept else None)

    def link(self, placing: Placing, output: Path) -> None:
        """Link the code in that order to ``output``; BuildError with the log if not."""
        self._run(self._command, placing, output)

    def sort(self, algorithm: str, placing: Placing, output: Path) -> None:
        """Link it in the order that lld finds by the calls in the code; the script stays."""
        kept = [word for word in self._command if not word.startswith(_ORDER_FLAG)]
        self._run([*kept, f"{_SORT_FLAG}{algorithm}"], placing, output)

    def _run(self, words: Sequence[str], placing: Placing, output: Path) -> None:
        names = {"order": placing.order, "script": placing.script, "output": output}
        command = [word.format(**names) for word in words]
        log = self._shop.log(self._stage, f"link-{output.parent.name}")
        try:
            run(command, cwd=self._build, log=log, timeout_s=LINK_LIMIT_S)
        except ChildError as error:
            raise BuildError(error.message, log=error.log) from error

    def _line(self) -> str:
        ninja = self._shop.tools.path("ninja")
        said = run([ninja, "-C", self._build, "-t", "commands", "hakmem"], timeout_s=60).stdout
        return said.strip().splitlines()[-1]


def relinking(line: str, code: Path | None) -> list[str]:
    """Return a linker's command line with {order}, {script} and {output} to be filled in.

    ``code`` is what the linker's compiler made of all files with LTO: it takes their place.
    """
    words = [word for word in shlex.split(line) if word not in (":", "&&")]
    kept: list[str] = []
    for number, word in enumerate(words):
        if word.startswith(_ORDER_FLAG):
            kept.append(f"{_ORDER_FLAG}{{order}}")
        elif word.startswith(_SCRIPT_FLAG):
            kept.append(f"{_SCRIPT_FLAG}{{script}}")
        elif number and words[number - 1] == "-o":
            kept.append("{output}")
        elif code is None or not (word.endswith(".o") or word.startswith(_OF_LTO)):
            kept.append(_escaped(word))
    return [*kept, _escaped(str(code))] if code else kept


def functions_of(shop: Workshop, stage: str, library: Path) -> list[Function]:
    """Return the functions of a library or debug file that has symbols, by address."""
    return functions(shop.tools.path("llvm-nm"), library, shop.log(stage, "nm"))


def require_same(found: Sequence[Function], wanted: Sequence[Function], whose: str) -> None:
    """Raise BuildError unless each function has its place and size again.

    Bytes may differ: the table by which libc is called has another order when the linker did not
    compile.
    """
    if list(found) != list(wanted):
        raise BuildError(f"compiled again, the code is not that of {whose}")


def _escaped(word: str) -> str:
    return word.replace("{", "{{").replace("}", "}}")
