"""Two layouts of one library: functions in the listed order on line starts, and in random order.

In the random one cold functions lie among hot ones, and nothing is aligned beyond what compilers do
by themselves. Sources and all other flags are those of the plain library.
"""

from __future__ import annotations

import random
from pathlib import Path

from pipeline.core.process import run
from pipeline.stages.compile import cmake_build
from pipeline.stages.workshop import Workshop
from pipeline.toolchain.flags import COMPILE, LINK, TUNED, texts
from pipeline.toolchain.symbols import functions, read_lists

STAGE = "shuffle"
LIMIT_S = 60.0
SECTIONS = ("-ffunction-sections",)


def link_listed(shop: Workshop, room: Path) -> Path:
    """Return the library with its functions in the order of the profile's lists, aligned."""
    lists = read_lists(shop.tree.layout(shop.profile.layout.name))
    archive = build_archive(shop, room / "listed", texts(TUNED))
    listed = {*lists.hot, *lists.cold}
    middle = [name for name in names_in(shop, archive) if name not in listed]
    return link(shop, archive, [*lists.hot, *middle, *lists.cold], room / "listed.so")


def link_shuffled(shop: Workshop, archive: Path, seed: int, output: Path) -> Path:
    """Link ``archive`` into ``output`` with its functions in a random order, by ``seed``."""
    names = names_in(shop, archive)
    random.Random(seed).shuffle(names)
    return link(shop, archive, names, output)


def build_archive(shop: Workshop, build: Path, flags: tuple[str, ...] | list[str]) -> Path:
    """Compile the plain sources with further ``flags`` in ``build``; return the static library."""
    cmake_build(
        shop,
        STAGE,
        build,
        compile_flags=[*texts(COMPILE, root=shop.tree.root, room=build), *flags],
        link_flags=texts(LINK),
        targets=("hakmem-static",),
    )
    return build / "lib" / "libhakmem.a"


def names_in(shop: Workshop, archive: Path) -> list[str]:
    """Return the names of all functions that the archive defines, sorted, each once."""
    present = functions(shop.tools.path("llvm-nm"), archive, shop.log(STAGE, "nm"))
    return sorted({function.name for function in present})


def link(shop: Workshop, archive: Path, names: list[str], output: Path) -> Path:
    """Link all of ``archive`` into the shared library ``output`` in the order of ``names``."""
    order = output.with_suffix(".order")
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
        log=shop.log(STAGE, output.stem),
        timeout_s=LIMIT_S,
    )
    return output
