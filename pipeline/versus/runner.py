"""The program bench/command, which runs a command once and prints what it cost."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.errors import ToolError
from pipeline.core.files import replacing
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.stages.build.programs import find_program

COMPILERS = ("cc", "clang", "gcc", "clang-22", "clang-21", "clang-20", "clang-19")
COMPILE_LIMIT_S = 120.0
SOURCES, HEADERS = "command*.c", "command*.h"
"""In bench/: they need nothing else of it."""


def command_runner(tree: Tree) -> Path:
    """Return the program, compiled from this tree's sources if that was not done yet."""
    bench = tree.root / "bench"
    sources = sorted(bench.glob(SOURCES))
    digests = "".join(map(digest_file, (*sources, *sorted(bench.glob(HEADERS)))))
    program = tree.state / "versus" / f"command-{digest_value(digests)[:12]}"
    if not program.exists():
        compiler = next(filter(None, map(find_program, COMPILERS)), None)
        if compiler is None:
            raise ToolError("there is no C compiler", hint="run `./bootstrap doctor`")
        with replacing(program) as fresh:
            words: list[str | Path] = [compiler, "-O2", "-D_GNU_SOURCE", "-o", fresh, *sources]
            run(words, timeout_s=COMPILE_LIMIT_S)
    return program
