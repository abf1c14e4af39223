"""A geometry in the build: stages compile it, and only a changed value builds anything anew."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import GEOMETRY, Sandbox

from pipeline.core.errors import ProfileError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.processor import machine
from pipeline.core.receipt import read_receipt
from pipeline.core.store import Artifact
from pipeline.geometry.load import parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_toml
from pipeline.release.version import Version
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup, configure
from pipeline.stages.build.cut import cut
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.instrument import instrument
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.proof.ablation import simple_steps


@pytest.fixture
def shop(built: Sandbox, tmp_path: Path) -> Workshop:
    return built.workshop(tmp_path / "store")


def stored(built: Sandbox, stage: str) -> Artifact:
    folder = built.artifacts(stage)[-1]
    receipt = read_receipt(folder)
    assert receipt is not None
    return Artifact(folder, receipt, fresh=False)


def baseline_of(shop: Workshop, built: Sandbox) -> Baseline:
    made = stored(built, "baseline")
    return Baseline(shop.library(made), made)


def with_geometry(shop: Workshop, geometry: Geometry | None) -> Setup:
    return replace(configure(shop), geometry=geometry)


@pytest.mark.e2e
def test_without_a_geometry_the_baseline_is_the_plain_build(shop: Workshop, built: Sandbox) -> None:
    plain = baseline_of(shop, built)
    setup = with_geometry(shop, None)
    assert cut(shop, setup, plain) is plain
    assert not (shop.store.folder / "geometry").exists()


@pytest.mark.e2e
def test_only_changed_values_build_anew(shop: Workshop, built: Sandbox) -> None:
    plain = baseline_of(shop, built)
    first = default_geometry(shop.tree).with_value("small_depth", 64, "one reason", "+1 %")
    told = first.with_value("small_depth", 64, "another reason", "+2 %")
    other = first.with_value("small_depth", 33, "one reason", "+1 %")

    def libraries(geometry: Geometry) -> list[Artifact]:
        setup = with_geometry(shop, geometry)
        done = (cut(shop, setup, plain).library, instrument(shop, setup))
        return [one.artifact for one in done]

    made, again, changed = libraries(first), libraries(told), libraries(other)
    assert [one.fresh for one in (*made, *again, *changed)] == [True] * 2 + [False] * 2 + [True] * 2
    assert made[0].receipt.key == again[0].receipt.key != changed[0].receipt.key
    assert made[0].digest("libhakmem.so") != changed[0].digest("libhakmem.so")
    assert made[0].receipt.notes["differences"] == ["small_depth (32 -> 64)"]


@pytest.mark.e2e
def test_the_chain_of_a_geometry_has_a_step_of_its_own(shop: Workshop, built: Sandbox) -> None:
    merged = stored(built, "merge")
    profile = ProfileData(merged.path("hakmem.profdata"), merged.digest("hakmem.profdata"), merged)
    plain = baseline_of(shop, built)
    chains = {}
    for name, geometry in (("default", None), ("cut", without_a_class(shop))):
        setup = with_geometry(shop, geometry)
        tuned = cut(shop, setup, plain)
        steps = simple_steps(shop, setup, plain, tuned, profile)
        chains[name] = {step.name: step.library.digest for step in steps}
    assert list(chains["default"]) == ["baseline", "sections", "pgo"]
    assert list(chains["cut"]) == ["baseline", "tune", "sections", "pgo"]
    assert chains["default"]["baseline"] == chains["cut"]["baseline"]
    for step in ("sections", "pgo"):
        assert chains["default"][step] != chains["cut"][step]


def without_a_class(shop: Workshop) -> Geometry:
    """Return a geometry whose code is as the default's, so that its profile fits."""
    default = default_geometry(shop.tree)
    return default.with_classes(one for one in default.classes if one.size != 48)


def test_an_illegal_geometry_is_refused_before_all_work(fresh: Sandbox, tmp_path: Path) -> None:
    shop = fresh.workshop(tmp_path / "store")
    path = shop.tree.geometry("tiny")
    default = default_geometry(shop.tree)
    write_toml(default.with_value("small_depth", 1, "a mistake", "none"), default, path)
    code, output = fresh.build("--quick")
    assert code == ExitCode.PROFILE
    assert "small_depth is 1; it must be from 2 to 256" in output
    assert f"{path}: " in output.replace("\n", "")
    assert "baseline" not in output
    with pytest.raises(ProfileError):
        configure(shop)


def starts(library: Path) -> list[int]:
    """Return where the exported functions of a library start."""
    found = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    rows = (line.split() for line in found.stdout.splitlines())
    return [int(row[0], 16) for row in rows if row[1] == "T"]


def published(sandbox: Sandbox, *arguments: str) -> tuple[Path, str]:
    """Build quickly and publish where nothing was before; return the version and what was said."""
    shutil.rmtree(sandbox.root / "dist")
    code, output = sandbox.build("--quick", *arguments)
    assert code == 0, output
    return sandbox.current.resolve(), " ".join(output.split())


def uses(library: Path, instruction: str) -> bool:
    """Return whether the code of a library has an instruction."""
    found = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True)
    return f"\t{instruction}" in found.stdout


@pytest.mark.e2e
def test_a_library_for_one_kind_of_processor_says_so(built: Sandbox, tmp_path: Path) -> None:
    """What is published has the values of both files, compiles by them, and names the kind."""
    shutil.copytree(built.root, tmp_path / "tree", symlinks=True)
    sandbox, here = Sandbox(tmp_path / "tree"), machine()
    tree, level = Tree(sandbox.root), "x86-64" if here.missing("x86-64-v2") else "x86-64-v2"
    tree.geometry("tiny", here.name).write_text(
        "schema_version = 1\n"
        f"code.march = {{ value = '{level}', why = 'flags are tested' }}\n"
        "code.align_functions = { value = 128, why = 'flags are tested' }\n"
        "constants.warm_slabs = { value = 2, why = 'one kind' }\n"
        "class.512 = { depth = 64, why = 'one line' }\n"
    )
    version, output = published(sandbox)
    said = f"built for {here.name} alone, judged on {here.name}"
    assert said in output
    of_the_kind = (version / "lib" / "libhakmem.so").read_bytes()
    assert here.name.encode() + b"\0" in of_the_kind
    manifest = json.loads((version / "manifest.json").read_text())
    assert manifest["processor"] == {
        "cut_for": here.name,
        "march": level,
        "judged_on": here.name,
    }
    joined = parse_geometry(version / "profile" / "geometry.toml", default_geometry(tree))
    assert manifest["geometry"] == joined.digest
    assert (joined.value("small_depth"), joined.value("warm_slabs")) == (24, 2)
    assert said[1:] in (version / "report.md").read_text()
    library = sandbox.artifacts("geometry")[-1] / "libhakmem.so"
    assert starts(library)
    assert all(start % 128 == 0 for start in starts(library))
    assert uses(library, "popcnt") == (level != "x86-64")
    version, _ = published(sandbox, "--cpu", "any")
    manifest = json.loads((sandbox.current / "manifest.json").read_text())
    assert manifest["processor"]["cut_for"] == "any"
    assert (sandbox.current / "profile" / "geometry.toml").read_text() == GEOMETRY
    other = "amd-zen3" if here.name != "amd-zen3" else "intel-icelake"
    tree.geometry("tiny", other).write_text(
        "schema_version = 1\nconstants.warm_slabs = { value = 3, why = 'another kind' }\n"
    )
    both, output = published(sandbox, "--cpu", "all")  # both are made already
    assert f"this machine has {here.name} and cannot judge them: {other}" in output
    own = both / "lib" / here.name / "libhakmem.so"
    assert Version(both).beside() == [own]
    assert own.read_bytes() == of_the_kind
    assert (both / "lib/libhakmem.so").read_bytes() != own.read_bytes()
    manifest = json.loads((both / "manifest.json").read_text())
    assert manifest["processor"]["cut_for"] == "any"
    beside = manifest["beside"][here.name]
    assert beside["library"] == f"lib/{here.name}/libhakmem.so"
    assert beside["geometry"] == joined.digest
    assert beside["processor"]["cut_for"] == here.name
    assert beside["verdict"]["reason"]
    assert beside["made_on"] is None
    assert (both / "kinds" / here.name / "verdict.json").is_file()
    code, output = sandbox.run("verify", str(both))
    assert code == 0, output
    assert f"{here.name}: the debug file belongs to the library" in output
    own.write_bytes(b"nothing")
    code, output = sandbox.run("verify", str(both))
    assert code == ExitCode.ARTIFACT
    assert f"{here.name}: the library can be read" in output
