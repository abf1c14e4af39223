"""The program bench/command, which runs a command once and prints what it cost."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.digest import digest_file
from pipeline.core.errors import ToolError
from pipeline.core.files import replacing
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.stages.build.programs import find_program

COMPILERS = ("cc", "clang", "gcc", "clang-22", "clang-21", "clang-20", "clang-19")
COMPILE_LIMIT_S = 120.0


def command_runner(tree: Tree) -> Path:
    """Return the program, compiled from this tree's source if that was not done yet."""
    source = tree.root / "bench" / "command.c"
    program = tree.state / "versus" / f"command-{digest_file(source)[:12]}"
    if not program.exists():
        compiler = next(filter(None, map(find_program, COMPILERS)), None)
        if compiler is None:
            raise ToolError("there is no C compiler", hint="run `./bootstrap doctor`")
        with replacing(program) as fresh:
            words: list[str | Path] = [compiler, "-O2", "-D_GNU_SOURCE", "-o", fresh, source]
            run(words, timeout_s=COMPILE_LIMIT_S)
    return program
