"""From perf's words to a source of the profile, with the library that ``tiny`` has published.

perf itself is a script here that repeats what a perf has said, with addresses of this library.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Sandbox
from perf_support import BASE, mapped, sampled
from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.core.errors import DataError
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.core.variant import PRODUCTION
from pipeline.fleet.branches import parse_stacks
from pipeline.fleet.convert import FEWEST, Tools, convert, well_seen
from pipeline.fleet.merging import Given
from pipeline.fleet.sampled import find_sampled, given_to_bolt
from pipeline.fleet.sources import read_sources, samples_file, write_sources
from pipeline.fleet.taking_in import take_in_samples
from pipeline.profile.load import load_profile
from pipeline.stages.bolt.samples import add_samples
from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.workshop import Library, Options, Workshop
from pipeline.toolchain.elf import read_build_id
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.find import find_llvm, find_toolchain
from pipeline.toolchain.text_map import read_text_map

NEEDS_PERF2BOLT = pytest.mark.skipif(
    not (find_llvm() / "perf2bolt").is_file(), reason="this LLVM has no perf2bolt"
)


@dataclass(frozen=True)
class FakePerf:
    """A perf that says of any file what was written for it here."""

    folder: Path
    library: Path

    @property
    def program(self) -> Path:
        return self.folder / "perf"

    def says(
        self, samples: Sequence[int], build_id: str, stacks: Sequence[str] = (), event: str = ""
    ) -> Path:
        """Let perf say that ``samples`` are addresses where the library was; return the file."""
        heads = mapped(self.library)
        rows = sampled(self.library, samples)
        self.folder.joinpath("samples.txt").write_text(heads + rows, encoding="utf-8")
        lines = "".join(f" {one}\n" for one in stacks)
        self.folder.joinpath("stacks.txt").write_text(heads + lines, encoding="utf-8")
        text = f"{build_id} {self.library}\n"
        self.folder.joinpath("build-ids.txt").write_text(text, encoding="utf-8")
        self.program.write_text(
            "#!/bin/sh\n"
            f'cd "{self.folder}" || exit 1\n'
            'case "$*" in\n'
            f"buildid-list*) cat build-ids.txt ;;\nevlist*) echo {event or 'cpu-clock:u'} ;;\n"
            f"*brstack*) {'cat stacks.txt' if stacks else 'exit 1'} ;;\n"
            "*) cat samples.txt ;;\nesac\n",
            encoding="utf-8",
        )
        self.program.chmod(0o755)
        data = self.folder / "perf.data"
        data.write_bytes(b"PERFILE2")
        return data


@pytest.fixture
def tree(built: Sandbox, tmp_path: Path) -> Tree:
    """A tree that knows what ``built`` has made, with samples of its own."""
    (tmp_path / "build").mkdir()
    for name in ("build/pipeline", "dist"):
        (tmp_path / name).symlink_to(built.root / name)
    return Tree(tmp_path)


@pytest.fixture
def perf(built: Sandbox, tmp_path: Path) -> FakePerf:
    folder = tmp_path / "perf"
    folder.mkdir()
    return FakePerf(folder, (built.current / "lib/libhakmem.so").resolve())


def place(library: Path, name: str) -> int:
    function = read_text_map(library).find(name)
    assert function is not None
    return function.address


def test_stacks_are_read_newest_first() -> None:
    newest = f"{BASE + 0x40:#x}/0x7fa000000100/P/-/-/0"
    before = f"{BASE + 0x10:#x}/{BASE + 0x30:#x}/M/-/-/3"
    text = f"""
 PERF_RECORD_MMAP2 7/7: [{BASE:#x}(0x5000) @ 0x1000 08:02 11 0]: r-xp /x/libhakmem.so
 PERF_RECORD_MMAP2 7/7: [0x7fa000000000(0x5000) @ 0 08:02 12 0]: r-xp /usr/lib/libc.so.6
 {newest}  {before}  0x7fa000000010/{BASE:#x}/P/-/-/0
"""
    found = parse_stacks(text)
    assert dict(found.jumps) == {(0x1040, None): 1}
    assert dict(found.runs) == {(0x1010, 0x1030, 0x1040): 1, (None, 0x1000, 0x1010): 1}


@pytest.mark.parametrize("tools", ["perf2bolt", "symbols"])
def test_samples_are_told_apart_by_function(
    tree: Tree, perf: FakePerf, tmp_path: Path, tools: str
) -> None:
    library = perf.library
    malloc, free = place(library, "hak_malloc"), place(library, "hak_free")
    data = perf.says([malloc + 4] * 700 + [free + 4] * 400, read_build_id(library))
    llvm = find_llvm() if tools == "perf2bolt" else tmp_path  # where no such tool is
    found = convert(tree, Tools(perf.program, llvm), "tiny", Given(data, 2))
    source = found.source
    assert source.functions == {"hak_free": 400, "hak_malloc": 700}
    assert (source.samples, source.weight, source.kind) == (1100, 2, "functions")
    assert source.event == "cpu-clock:u"


@NEEDS_PERF2BOLT
def test_branch_stacks_become_edges_of_what_bolt_was_given(tree: Tree, perf: FakePerf) -> None:
    library = perf.library
    malloc = place(library, "hak_malloc")
    stack = f"{BASE + malloc + 7:#x}/0x10/P/-/-/0 0x20/{BASE + malloc:#x}/P/-/-/0"
    data = perf.says([malloc] * FEWEST, read_build_id(library), [stack] * 30, "cycles:u")
    source = convert(tree, Tools(perf.program, find_llvm()), "tiny", Given(data)).source
    assert source.kind == "edges"
    given = [read_build_id(one) for one in tree.artifacts("tiny").glob("pgo/*/libhakmem.so")]
    given += [read_build_id(one) for one in tree.artifacts("tiny").glob("context/*/libhakmem.so")]
    assert source.edges_of in given
    edges = Edges()
    assert edges.add_lines(source.edges, 1)
    assert edges.taken["0 [unknown] 0 1 hak_malloc 0"] == 30


def test_llvm_profgen_names_what_was_inlined(tree: Tree, perf: FakePerf) -> None:
    tools = Tools(perf.program, find_llvm())
    if not tools.profgen.is_file():
        pytest.skip("this LLVM has no llvm-profgen")
    malloc = read_text_map(perf.library).find("hak_malloc")
    assert malloc is not None
    everywhere = [malloc.address + n for n in range(malloc.size)] * (FEWEST // malloc.size + 1)
    data = perf.says(everywhere, read_build_id(perf.library))
    told = convert(tree, tools, "tiny", Given(data)).for_pgo
    assert told.startswith("hak_malloc:")


def test_a_function_with_few_samples_is_not_called_hot() -> None:
    lines = "often:90:0\n 1: 50\n 2: rare:40\n  1: 40\nrare:9:0\n 1: 9\n"
    assert well_seen(lines, {"often": 10, "rare": 9}) == lines.partition("rare:9")[0]


def test_too_few_samples_are_refused(tree: Tree, perf: FakePerf) -> None:
    malloc = place(perf.library, "hak_malloc")
    data = perf.says([malloc] * (FEWEST - 1), read_build_id(perf.library))
    with pytest.raises(DataError, match="has 999 samples in the library") as caught:
        convert(tree, Tools(perf.program, find_llvm()), "tiny", Given(data))
    assert "pipeline sample" in str(caught.value.hint)


def test_samples_of_a_build_that_is_not_here_are_refused(tree: Tree, perf: FakePerf) -> None:
    data = perf.says([place(perf.library, "hak_malloc")] * FEWEST, "ab" * 20)
    with pytest.raises(DataError, match="is no build of tiny in this tree"):
        convert(tree, Tools(perf.program, find_llvm()), "tiny", Given(data))


def test_a_published_version_is_found_when_its_artifacts_are_gone(
    built: Sandbox, tmp_path: Path, perf: FakePerf
) -> None:
    (tmp_path / "dist").symlink_to(built.root / "dist")
    tree = Tree(tmp_path)
    sampled = find_sampled(tree, "tiny", read_build_id(perf.library))
    assert (sampled.unstripped, given_to_bolt(sampled)) == (None, None)
    data = perf.says([place(perf.library, "hak_malloc")] * FEWEST, sampled.build_id)
    found = convert(tree, Tools(perf.program, find_llvm()), "tiny", Given(data))
    assert (found.source.functions, found.for_pgo) == ({"hak_malloc": FEWEST}, "")


def test_bad_files_are_skipped_and_good_ones_kept(tree: Tree, perf: FakePerf) -> None:
    tools = Tools(perf.program, find_llvm())
    build_id = read_build_id(perf.library)
    data = perf.says([place(perf.library, "hak_malloc")] * FEWEST, build_id)
    taken = take_in_samples(tree, tools, "tiny", [Given(data, 3)])
    assert read_sources(taken.path) == taken.sources
    before = taken.path.read_bytes()
    few = perf.says([place(perf.library, "hak_malloc")] * 9, build_id)
    with pytest.raises(DataError, match="9 samples"):
        take_in_samples(tree, tools, "tiny", [Given(few)])
    assert taken.path.read_bytes() == before


def test_damaged_sources_are_named(tmp_path: Path) -> None:
    path = tmp_path / "samples.json"
    path.write_text('{"schema_version": 99, "sources": []}', encoding="utf-8")
    with pytest.raises(DataError, match="schema_version is 99"):
        read_sources(path)


@dataclass(frozen=True)
class Shop:
    """A workshop with a store of its own, and what BOLT would be given there."""

    workshop: Workshop
    library: Library
    training: EdgeProfile

    def add(self, variant: str = PRODUCTION) -> EdgeProfile | None:
        shop = replace(self.workshop, options=replace(self.workshop.options, variant=variant))
        return add_samples(shop, self.library, self.training)


@pytest.fixture
def shop(built: Sandbox, tree: Tree, tmp_path: Path) -> Shop:
    store = Store(tmp_path / "store")
    profile = load_profile(Tree(built.root), "tiny")
    console = BuildConsole(Console(file=io.StringIO()))
    workshop = Workshop(tree, profile, find_toolchain(), store, console, Options())
    there = Store(built.root / "build/pipeline/tiny")
    given, counted = built.artifacts("pgo")[-1], built.artifacts("bolt-train")[-1]
    artifact = there.find("pgo", json.loads((given / "receipt.json").read_text())["parts"])
    edges = there.find("bolt-train", json.loads((counted / "receipt.json").read_text())["parts"])
    assert artifact is not None
    assert edges is not None
    library = Library(artifact.path("libhakmem.so"), artifact.digest("libhakmem.so"), artifact)
    training = EdgeProfile(edges.path("bolt.fdata"), edges.digest("bolt.fdata"), edges)
    return Shop(workshop, library, training)


def test_the_stage_is_done_again_only_for_other_samples(
    shop: Shop, tree: Tree, perf: FakePerf
) -> None:
    assert shop.add() is None
    build_id = read_build_id(perf.library)
    data = perf.says([place(perf.library, "hak_malloc") + 4] * FEWEST, build_id)
    tools = Tools(perf.program, find_llvm())
    first = take_in_samples(tree, tools, "tiny", [Given(data)])
    made = [shop.add(), shop.add()]
    take_in_samples(tree, tools, "tiny", [Given(data)])  # the same once more
    made.append(shop.add())
    write_sources(samples_file(tree, "tiny"), [*first.sources, *first.sources])
    made.append(shop.add())
    profiles = [one for one in made if one is not None]
    assert [one.artifact.fresh for one in profiles] == [True, False, False, True]
    row = profiles[0].artifact.receipt.notes["sources"][0]
    assert (row["file"], row["samples"], row["by"]) == ("perf.data", FEWEST, "functions")
    assert row["share"] == 0.5
    assert shop.add(variant="hardened") is None


def test_import_says_what_the_next_build_takes(
    built: Sandbox, tree: Tree, perf: FakePerf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.cli import cli

    shutil.copytree(built.root / "training/profiles", tree.root / "training/profiles")
    shutil.copytree(built.root / "layouts", tree.root / "layouts")
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    monkeypatch.setattr("pipeline.commands.sample.find_perf", lambda: perf.program)
    data = perf.says([place(perf.library, "hak_malloc") + 4] * 1500, read_build_id(perf.library))
    done = CliRunner().invoke(cli, ["import", "-p", "tiny", f"{data}=2.5"])
    assert done.exit_code == 0, done.output
    assert (
        "1,500 samples, weight 2.5: how the time is shared out between 1 functions" in done.output
    )
    assert "the next build of tiny counts" in done.output
