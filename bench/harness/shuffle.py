"""The library with its functions in random order: cold ones among hot ones, nothing aligned."""

from __future__ import annotations

import random
from pathlib import Path

from pipeline.core.process import run
from pipeline.stages.compile import cmake_build
from pipeline.stages.workshop import Workshop
from pipeline.toolchain.flags import COMPILE, LINK, texts
from pipeline.toolchain.symbols import functions

STAGE = "shuffle"
LIMIT_S = 60.0
SECTIONS = "-ffunction-sections"


def build_archive(shop: Workshop, room: Path) -> Path:
    """Compile the plain sources with one section per function and return the static library."""
    build = room / "build"
    cmake_build(
        shop,
        STAGE,
        build,
        compile_flags=[*texts(COMPILE, root=shop.tree.root, room=build), SECTIONS],
        link_flags=texts(LINK),
        targets=("hakmem-static",),
    )
    return build / "lib" / "libhakmem.a"


def link_shuffled(shop: Workshop, archive: Path, seed: int, output: Path) -> Path:
    """Link ``archive`` into the shared library ``output``, its functions in an order by ``seed``.

    Nothing but the order and the alignment of functions differs from the plain library.
    """
    order = output.with_suffix(".order")
    present = functions(shop.tools.path("llvm-nm"), archive, shop.log(STAGE, "nm"))
    names = sorted({function.name for function in present})
    random.Random(seed).shuffle(names)
    order.write_text("\n".join(names) + "\n", encoding="utf-8")
    run(
        [
            shop.tools.path("clang"),
            "-shared",
            *texts(LINK),
            "-Wl,-z,nodelete",
            f"-Wl,--symbol-ordering-file={order}",
            "-Wl,--no-warn-symbol-ordering",
            "-Wl,--whole-archive",
            archive,
            "-Wl,--no-whole-archive",
            "-o",
            output,
        ],
        log=shop.log(STAGE, f"link-{seed}"),
        timeout_s=LIMIT_S,
    )
    return output
