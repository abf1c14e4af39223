"""Two layouts of one library: functions in the listed order on line starts, and shuffled.

A random order alone may be a lucky one, with hot functions side by side. So the shuffled layout has
cold code between any two hot functions: hot ones in random order, all others dealt out behind them
evenly by bytes. Nothing is aligned beyond what compilers do by themselves. Sources and all other
flags are those of the plain library.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from pathlib import Path

from pipeline.core.process import run
from pipeline.stages.build.compile import cmake_build
from pipeline.stages.build.workshop import Workshop
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
    middle = [name for name in sizes_in(shop, archive) if name not in listed]
    return link(shop, archive, [*lists.hot, *middle, *lists.cold], room / "listed.so")


def link_shuffled(shop: Workshop, archive: Path, seed: int, output: Path) -> Path:
    """Link ``archive`` into ``output``, cold functions mixed into hot ones by ``seed``."""
    hot = read_lists(shop.tree.layout(shop.profile.layout.name)).hot
    return link(shop, archive, mixed(sizes_in(shop, archive), hot, seed), output)


def mixed(sizes: Mapping[str, int], hot: Collection[str], seed: int) -> list[str]:
    """Return all names of ``sizes`` in a random order that has cold code behind each hot function.

    Each gap gets about as many bytes of other functions; as long as there are enough of them, no
    gap is empty.
    """
    dice = random.Random(seed)
    first = [name for name in sorted(sizes) if name in hot]
    others = [name for name in sorted(sizes) if name not in hot]
    dice.shuffle(first)
    dice.shuffle(others)
    gaps: list[list[str]] = [[] for _ in first]
    for name in others:
        min(gaps, key=lambda gap: sum(sizes[one] for one in gap)).append(name)
    return [name for one, gap in zip(first, gaps, strict=True) for name in (one, *gap)]


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


def sizes_in(shop: Workshop, archive: Path) -> dict[str, int]:
    """Return the functions that the archive defines with their sizes in bytes, sorted by name."""
    present = functions(shop.tools.path("llvm-nm"), archive, shop.log(STAGE, "nm"))
    return {one.name: one.size for one in sorted(present, key=lambda one: one.name)}


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
