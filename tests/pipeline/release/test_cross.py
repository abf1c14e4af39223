"""Versions for another architecture: what they need and say, and that nobody here takes them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bare_shop import bare_shop
from bundle_support import edited, exported
from click.testing import CliRunner
from conftest import ROOT, Sandbox, make_sandbox
from rollback_support import make

from operate import libraries
from pipeline.cli import cli
from pipeline.core.architecture import AARCH64, HERE, X86_64
from pipeline.core.errors import ArtifactError, ToolError, UsageError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.core.processor import require_known
from pipeline.profile.workload import Program
from pipeline.release.check_version import check_version
from pipeline.release.current import current
from pipeline.release.published import published
from pipeline.release.version import Version
from pipeline.stages.bolt import emulated
from pipeline.stages.bolt.instrument import Counted
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.find import find_llvm
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.target import NATIVE, Target, cross_to

NEEDED = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
needs_cross = pytest.mark.skipif(
    HERE != X86_64 or not all(shutil.which(one) for one in NEEDED),
    reason=f"{' and '.join(NEEDED)} are not installed, or this is no x86-64",
)
FOREIGN = Target(AARCH64, emulator=("qemu-x", "-L", "/root-x"), versions={"qemu-x": "1"})
SHARED = ("-O1", "-fno-builtin", "-shared", "-fPIC", "-Wl,--build-id=sha1", "-Wl,-z,now,-z,relro")
MALLOC = """
#include <stddef.h>
static char room[1 << 26];
static size_t used;
void *malloc(size_t n) { return room + __atomic_fetch_add(&used, (n + 31) & ~15ul, 0); }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void free(void *p) { (void)p; }
void *realloc(void *p, size_t n) {
    char *q = malloc(n), *o = p;
    for (size_t i = 0; o && i < n; i++) q[i] = o[i];
    return q;
}
"""


@pytest.mark.parametrize("gone", [NEEDED[:1], NEEDED[1:], NEEDED])
def test_what_is_missing_is_named_with_its_packages(
    gone: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name in gone else "/x")
    with pytest.raises(ToolError, match=" and ".join(gone)) as refused:
        cross_to(AARCH64, Path("clang"), tmp_path)
    packages = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
    assert str(refused.value.hint).endswith(packages)


def test_a_compiler_that_makes_no_program_is_told_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: "/x")
    with pytest.raises(ToolError, match="clang makes no program for AArch64") as refused:
        cross_to(AARCH64, Path("/bin/false"), tmp_path)
    assert refused.value.log is not None and refused.value.log.exists()


def test_an_emulator_is_told_what_is_preloaded_and_takes_nothing_of_it_itself() -> None:
    libraries_of = (Path("/a.so"), Path("/b.so"))
    argv, env = FOREIGN.started(("prog", "x"), libraries_of, LD_DEBUG="bindings")
    told = ("-E", "LD_PRELOAD=/a.so:/b.so", "-E", "LD_DEBUG=bindings")
    assert (argv, env) == (("qemu-x", "-L", "/root-x", *told, "prog", "x"), {})
    assert FOREIGN.started(("prog",), ()) == (("qemu-x", "-L", "/root-x", "prog"), {})
    assert NATIVE.started(("prog",), libraries_of) == (("prog",), {"LD_PRELOAD": "/a.so:/b.so"})
    assert [one["QEMU_PAGESIZE"] for one in FOREIGN.variables] == ["4096", "16384", "65536"]


def test_another_architecture_is_in_the_key_of_every_stage(tmp_path: Path) -> None:
    def work(room: Path, _line: object) -> dict[str, str]:
        (room / "file").write_text("x", encoding="utf-8")
        return {}

    here = bare_shop(tmp_path)
    other = replace(here, target=FOREIGN)
    made = [shop.do("pgo", {}, work, summary=lambda _: "") for shop in (here, other)]
    assert "target" not in made[0].receipt.parts
    assert made[1].receipt.parts["target"] == {"qemu-x": "1"}
    assert here.log("pgo", "a") != other.log("pgo", "a")


def test_counts_under_an_emulator_are_weighed_by_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, prefix = replace(bare_shop(tmp_path), target=FOREIGN), tmp_path / "counts" / "p"
    counts = {"few": 10, "many": 1000}

    def train_on(one: Program, _prepared: object, *_: object, **words: Any) -> None:
        assert words["target"] is FOREIGN
        for hot in ("hak_malloc", "hak_free"):
            line = f"1 {hot} 0 1 {hot} 8 0 {counts[one.name]}\n"
            prefix.with_name(f"p.{hot}.fdata").write_text(line, encoding="utf-8")

    library = cast(Library, SimpleNamespace(digest="d", path=Path("l")))
    monkeypatch.setattr(emulated, "bolt_instrument", lambda *_: Counted(library, prefix))
    monkeypatch.setattr(emulated, "prepare", lambda *_: None)
    monkeypatch.setattr(emulated, "train_on", train_on)
    programs = tuple(
        Program(
            kind="program", name=name, role="train", program="training/tree", ops=9,
            quick_ops=9, weight=weight,
        )
        for name, weight in (("few", 3), ("many", 1))
    )  # fmt: skip
    setup = Setup("", "", SymbolLists((), ()), None, programs, (), (), {})
    edges = emulated.count_emulated(shop, setup, cast(Baseline, None), library, tmp_path / "rt")
    lines = edges.path.read_text(encoding="utf-8").splitlines()
    # the factor of "few" is 100,000, that of "many" 300 times smaller
    assert [int(line.split()[-1]) for line in lines] == [10 * 100_000 + 1000 * 333] * 2


def abroad(tree: Tree) -> Version:
    """Publish a version here, and one for AArch64 beside it."""
    here = make(tree, "1.0-aa11", "2026-01-01")
    (here.folder.parent / "current").symlink_to(here.name)
    other = make(tree, "1.0-bb22", "2026-01-02")
    manifest = {**other.manifest, "verdict": None, "made_for": {"architecture": "AArch64"}}
    folder = here.folder.parent / "aarch64" / other.name
    folder.parent.mkdir()
    other.folder.rename(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return Version(folder)


def test_nothing_that_looks_for_versions_here_takes_one_for_another_architecture(
    tmp_path: Path,
) -> None:
    tree = Tree(tmp_path)
    foreign = abroad(tree)
    dist = tree.dist("p")
    assert [one.name for one in published(dist)] == ["1.0-aa11"]
    here = current(dist)
    assert here is not None and here.name == "1.0-aa11"
    found = [one.path for one in libraries.published([tmp_path], "production")]
    assert found == [dist / "current/lib/libhakmem.so"]
    assert libraries.named(foreign.library).manifest["made_for"] == {"architecture": "AArch64"}


def test_a_version_for_another_architecture_is_not_installed_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(tmp_path)
    foreign = abroad(tree)
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    monkeypatch.setattr("pipeline.release.mending.require_undamaged", lambda _: None)
    words = ["install", "-p", "p", "--prefix", str(tmp_path / "prefix"), str(foreign.folder)]
    monkeypatch.setattr("pipeline.core.architecture.HERE", X86_64)
    refused = CliRunner().invoke(cli, words)
    assert isinstance(refused.exception, UsageError)
    assert "is made for AArch64, and this machine is x86-64" in refused.exception.message
    assert CliRunner().invoke(cli, [*words, "--destdir", str(tmp_path), "--dry-run"]).exit_code == 0


def test_a_version_that_nobody_judged_has_to_say_so(tmp_path: Path) -> None:
    foreign = abroad(Tree(tmp_path))

    def said() -> bool:
        checks = check_version(Tree(ROOT), Version(foreign.folder))
        return next(one.holds for one in checks if one.rule == "it says that nobody judged it")

    assert said()
    manifest = {**foreign.manifest, "verdict": {"reason": "GO"}}
    (foreign.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert not said()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bolt-runtime", "VERSION"), "--bolt-runtime needs --cpu"),
        (("--cpu", "aarch64", "--quick"), "nothing is judged with --cpu"),
        (("--cpu", "sparc"), "there is no 'sparc' among"),
    ],
)
def test_bad_wishes(words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(cli, ["bundle", "import", "VERSION", *words])
    assert result.exit_code == ExitCode.USAGE
    assert said in result.output


def test_an_architecture_is_no_kind_of_processor() -> None:
    with pytest.raises(UsageError, match="aarch64 is an architecture") as refused:
        require_known("aarch64")
    assert "bundle import FILE --cpu aarch64" in str(refused.value.hint)


# ---- with the cross compiler ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> Target:
    return cross_to(AARCH64, find_llvm() / "clang", tmp_path_factory.mktemp("probe"))


@pytest.fixture
def compiled(cross: Target, tmp_path: Path) -> Callable[..., Path]:
    """Compile a small library for AArch64."""

    def compile_library(text: str = MALLOC) -> Path:
        source, output = tmp_path / "tiny.c", tmp_path / "tiny.so"
        source.write_text(text, encoding="utf-8")
        run([find_llvm() / "clang", *cross.words, *SHARED, source, "-o", output])
        return output

    return compile_library


@needs_cross
def test_a_library_is_tried_with_each_size_of_pages(
    cross: Target, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    assert check_library(compiled(), tmp_path / "log", cross).bind_now
    assert (tmp_path / "log").read_text().startswith("$ QEMU_PAGESIZE=65536 ")
    with pytest.raises(ArtifactError, match="malloc is not taken from it"):
        check_library(compiled("int no_malloc;"), tmp_path / "log", cross)


@needs_cross
def test_a_library_for_another_machine_is_refused(
    compiled: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(ArtifactError, match="malloc is not taken from it"):
        check_library(compiled(), tmp_path / "log")


WORDS = ("bundle", "import", "--cpu", "aarch64")
RUNTIME = "BOLT_RUNTIME_AARCH64"
"""The variable that names BOLT's run-time library for AArch64: Debian has it for arm64 alone."""


@pytest.fixture(scope="module")
def bundle(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(built, tmp_path_factory)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return make_sandbox(tmp_path_factory.mktemp("cross") / "tree")


def manifest_of(output: str, sandbox: Sandbox) -> dict[str, Any]:
    """Return what the version says of itself that was made; it passes what `verify` checks."""
    found = re.search(r"dist/tiny/aarch64/\S+", output)
    assert found is not None, output
    code, said = sandbox.run("verify", found[0])
    assert code == 0, said
    assert not sandbox.current.exists()
    text = (sandbox.root / found[0] / "manifest.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@pytest.mark.slow
@needs_cross
def test_a_bundle_becomes_a_version_for_aarch64(
    built: Sandbox, bundle: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    code, output = sandbox.run(*WORDS, str(bundle))
    assert code == 0, output
    assert "not timed and not judged" in output
    assert "without BOLT" in output
    manifest = manifest_of(output, sandbox)
    assert (manifest["verdict"], manifest["step"]) == (None, "lto")
    assert manifest["made_for"]["trained_on"]["architecture"] == "x86-64"
    assert manifest["rebuilt_from"]["version"] == built.current.resolve().name
    code, output = sandbox.run(*WORDS, str(bundle))
    assert (code, "nothing to do" in output) == (0, True), output
    other = edited(bundle, tmp_path / "other.tar.gz", sources="0" * 64)
    assert sandbox.run(*WORDS, str(other))[0] == ExitCode.DATA


@pytest.mark.slow
@needs_cross
@pytest.mark.skipif(RUNTIME not in os.environ, reason=f"{RUNTIME} names no library")
def test_bolt_lays_it_out_by_what_the_emulator_counts(bundle: Path, sandbox: Sandbox) -> None:
    code, output = sandbox.run(*WORDS, "--bolt-runtime", os.environ[RUNTIME], str(bundle))
    assert code == 0, output
    assert "branches under the emulator, of mixed-sizes" in output
    assert manifest_of(output, sandbox)["step"] == "bolt"
