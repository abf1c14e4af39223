"""Random layouts: the functions of the chosen build in any order, and nothing else changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.console import open_console
from pipeline.core.errors import BuildError
from pipeline.core.paths import Tree
from pipeline.core.receipt import read_receipt
from pipeline.core.store import Artifact, Store
from pipeline.profile.load import load_profile
from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.configure import configure
from pipeline.stages.build.workshop import Library, Options, Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.layout_null import _BoltShuffler, _LinkShuffler, shuffled
from pipeline.stages.proof.relink import relinking
from pipeline.toolchain.find import find_toolchain
from pipeline.toolchain.symbols import functions

LINE = (
    ": && /usr/bin/clang -O2 -flto -fprofile-use=/p -Wl,--lto-O2 -Wl,--lto-obj-path=/c "
    "-Wl,--symbol-ordering-file=/order -shared -Wl,-soname,x.so -o lib/x.so a.c.o 'b {1}.c.o'  && :"
)


def test_a_relinking_takes_the_kept_code_in_place_of_all_files() -> None:
    words = [word.format(order="/o", output="/x") for word in relinking(LINE, Path("/c"))]
    linked = "/usr/bin/clang -O2 -Wl,--symbol-ordering-file=/o -shared -Wl,-soname,x.so -o /x /c"
    assert words == linked.split()


def test_without_lto_the_files_are_linked_again() -> None:
    words = [word.format(order="/o", output="/x") for word in relinking(LINE, None)]
    assert words[-4:] == ["-o", "/x", "a.c.o", "b {1}.c.o"]
    assert "-Wl,--symbol-ordering-file=/o" in words


def test_orders_are_random_and_the_same_everywhere() -> None:
    names = [f"f{number}" for number in range(100)]
    assert shuffled(names, 1) == shuffled(sorted(names), 1) != shuffled(names, 2)
    assert sorted(shuffled(names, 1)) == sorted(names)
    assert shuffled(["a", "b", "c", "d"], 1) == ["c", "a", "b", "d"]


def made(sandbox: Sandbox, stage: str) -> Artifact:
    folder = sandbox.artifacts(stage)[-1]
    receipt = read_receipt(folder)
    assert receipt is not None
    return Artifact(folder, receipt, fresh=False)


def library(artifact: Artifact) -> Library:
    name = "libhakmem.so"
    return Library(artifact.path(name), artifact.digest(name), artifact)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["lto", "bolt"])
def test_the_code_is_that_of_the_chosen_build(step: str, built: Sandbox, tmp_path: Path) -> None:
    tree = Tree(built.root)
    profile = load_profile(tree, "tiny")
    tools, store = find_toolchain(), Store(tmp_path / "store")
    shop = Workshop(tree, profile, tools, store, open_console(False), Options())
    setup = configure(shop)
    merged, counted = made(built, "merge"), made(built, "bolt-train")
    profdata = ProfileData(merged.path("hakmem.profdata"), "", merged)
    linked = Candidate("lto", library(made(built, "pgo")), profdata)
    edges = EdgeProfile(counted.path("bolt.fdata"), "", counted)
    bolted = Candidate("bolt", library(made(built, "bolt")), profdata, edges)
    chosen = bolted if step == "bolt" else linked
    make: Callable[..., Callable[[int], Path]]
    make = _BoltShuffler if step == "bolt" else _LinkShuffler
    shuffle = make(shop, setup, tmp_path / "room", chosen, linked)
    nm, log = tools.path("llvm-nm"), tmp_path / "nm.log"
    name = "unstripped.so" if step == "bolt" else "libhakmem.so"
    before = functions(nm, chosen.library.artifact.path(name), log)
    one, other = (functions(nm, shuffle(seed), log) for seed in (1, 2))
    sizes = {function.name: function.size for function in before}
    places = [{f.name: f.address for f in found} for found in (before, one, other)]
    for found in (one, other):
        assert {function.name for function in found} == sizes.keys()
    if step == "lto":  # the linker changes not a byte; BOLT's jumps may be shorter or longer
        assert {function.name: function.size for function in one} == sizes
    orders = [sorted(place, key=place.__getitem__) for place in places]
    moved = [sum(a != b for a, b in zip(orders[0], order, strict=True)) for order in orders[1:]]
    assert min(moved) > len(orders[0]) / 4
    assert orders[1] != orders[2]


def test_a_step_without_sections_has_one_order_only(tmp_path: Path) -> None:
    nowhere = Library(tmp_path / "x.so", "", None)  # type: ignore[arg-type]
    with pytest.raises(BuildError, match="the step tune is linked file by file"):
        _LinkShuffler(None, None, tmp_path, Candidate("tune", nowhere), None)  # type: ignore[arg-type]
