"""Bundles: the same bytes again, elsewhere, and nothing else from a file that somebody hands us."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from bundle_support import contents, edited, exported, write
from conftest import GEOMETRY, Sandbox, make_sandbox

from pipeline.core.console import open_console
from pipeline.core.errors import ArtifactError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.receipt import read_receipt
from pipeline.core.store import Artifact, Store
from pipeline.profile.load import parse_profile
from pipeline.rebuild.imported import imported_setup, take_in
from pipeline.rebuild.step import compile_step
from pipeline.release.bundle import BUNDLE, describe, pack
from pipeline.release.version import Version
from pipeline.report.files import read_report
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.proof.candidate import Candidate
from pipeline.toolchain.find import find_toolchain

PRODUCTS = ("lib/libhakmem.so", "lib/libhakmem.a", "lib/libhakmem.so.debug")


@pytest.fixture(scope="module")
def bundle(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(built, tmp_path_factory)


@pytest.fixture(scope="module")
def elsewhere(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """Another checkout, in a folder whose name has another length.

    What a rebuild does not compare is not compiled once more.
    """
    sandbox = make_sandbox(tmp_path_factory.mktemp("elsewhere") / "another" / "checkout")
    sandbox.take(built, ("baseline", "record", "geometry", "slowdown"))
    return sandbox


def test_rebuild_elsewhere_is_bit_identical(
    built: Sandbox, bundle: Path, elsewhere: Sandbox
) -> None:
    code, output = elsewhere.run("bundle", "import", str(bundle))
    assert code == 0, output
    assert "the rebuilt library: bit-identical to" in output
    assert "train: " not in output and "verify: " not in output
    original, again = built.current.resolve(), elsewhere.current.resolve()
    assert again.name == original.name
    for name in PRODUCTS:
        assert (again / name).read_bytes() == (original / name).read_bytes(), name
    record = json.loads((again / "manifest.json").read_text(encoding="utf-8"))["rebuilt_from"]
    assert (record["version"], record["bit_identical"]) == (original.name, True)
    assert (record["verdict_kept"], record["differences"]) == (True, {})


def test_the_geometry_comes_from_the_bundle(
    built: Sandbox, bundle: Path, elsewhere: Sandbox
) -> None:
    code, output = elsewhere.run("bundle", "import", str(bundle))
    assert code == 0, output
    assert not elsewhere.geometry.exists()
    folders = (built.current, elsewhere.current)
    assert {(one / "profile" / "geometry.toml").read_text() for one in folders} == {GEOMETRY}
    digests = {json.loads((one / "manifest.json").read_text())["geometry"] for one in folders}
    assert len(digests) == 1
    assert None not in digests
    for one in folders:
        rows = read_report(one.resolve()).geometry or ()
        assert [(row.what, row.before, row.after) for row in rows] == [("small_depth", "32", "24")]


def test_bundle_of_a_rebuild_leads_to_the_same_bytes(bundle: Path, elsewhere: Sandbox) -> None:
    again = unpack_to(pack(Version(elsewhere.current.resolve())), bundle.parent / "again.tar.gz")
    assert again["profile/bolt.fdata"] == contents(bundle)["profile/bolt.fdata"]
    ours, theirs = json.loads(again[BUNDLE]), json.loads(contents(bundle)[BUNDLE])
    assert (ours["library"], ours["archive"]) == (theirs["library"], theirs["archive"])


def unpack_to(data: bytes, file: Path) -> dict[str, bytes]:
    file.write_bytes(data)
    return contents(file)


def test_import_in_the_same_tree_has_nothing_to_do(built: Sandbox, bundle: Path) -> None:
    before = built.current.readlink()
    code, output = built.run("bundle", "import", str(bundle))
    assert code == 0, output
    assert "nothing to do" in output
    assert built.current.readlink() == before


def test_equal_versions_give_equal_bytes(built: Sandbox, bundle: Path) -> None:
    data = pack(Version(built.current.resolve()))
    assert data == bundle.read_bytes()
    assert gzip.decompress(data)[:11] == b"bundle.json"


@pytest.mark.parametrize("twice", [False, True])
def test_flags_are_those_of_the_stages_that_a_rebuild_does(
    twice: bool, built: Sandbox, tmp_path: Path
) -> None:
    manifest = json.loads((built.current / "manifest.json").read_text(encoding="utf-8"))
    manifest["stages"]["context"] = manifest["stages"]["pgo"]  # a full build does both
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    files = {"profile/context.profdata": "0" * 64} if twice else {}
    flags = describe(Version(tmp_path), files).flags
    assert set(flags) == {"static", "bolt", "context" if twice else "pgo"}


def test_changed_sources_are_refused_before_all_work(bundle: Path, elsewhere: Sandbox) -> None:
    source = elsewhere.root / "allocator" / "front" / "gate.c"
    text = source.read_text(encoding="utf-8")
    source.write_text(f"/* changed */\n{text}", encoding="utf-8")
    try:
        code, output = elsewhere.run("bundle", "import", str(bundle))
    finally:
        source.write_text(text, encoding="utf-8")
    assert code == ExitCode.DATA
    assert "the bundle was made with other sources" in output
    assert "--allow sources" in output
    assert "baseline" not in output


def test_other_tools_are_refused_before_all_work(
    bundle: Path, elsewhere: Sandbox, tmp_path: Path
) -> None:
    tools = json.loads(contents(bundle)[BUNDLE])["tools"] | {"clang": "clang version 21.0.0"}
    other = edited(bundle, tmp_path / "other.tar.gz", tools=tools)
    code, output = elsewhere.run("bundle", "import", str(other))
    assert code == ExitCode.TOOL
    assert "the bundle was made with other tools: clang was 'clang version 21.0.0'" in output
    assert "baseline" not in output


@pytest.mark.slow
def test_allowed_difference_is_named_and_other_bytes_are_judged(
    bundle: Path, elsewhere: Sandbox, tmp_path: Path
) -> None:
    flags = json.loads(contents(bundle)[BUNDLE])["flags"]
    flags["pgo"].append("-fno-inline")
    other = edited(bundle, tmp_path / "flags.tar.gz", flags=flags, library="0" * 64)
    code, output = elsewhere.run("bundle", "import", str(other))
    assert code == ExitCode.DATA
    assert "the bundle was made with other flags: pgo: -fno-inline" in output
    code, output = elsewhere.run("bundle", "import", str(other), "--allow", "flags")
    assert code == 0, output
    assert "the rebuilt library: other bytes than" in output
    assert "verify: done" in output
    manifest = json.loads((elsewhere.current / "manifest.json").read_text(encoding="utf-8"))
    record = manifest["rebuilt_from"]
    assert (record["bit_identical"], record["verdict_kept"]) == (False, False)
    assert record["differences"] == {"flags": "pgo: -fno-inline"}


def test_library_that_does_not_come_out_alike_is_an_error(
    bundle: Path, elsewhere: Sandbox, tmp_path: Path
) -> None:
    other = edited(bundle, tmp_path / "digest.tar.gz", library="0" * 64)
    code, output = elsewhere.run("bundle", "import", str(other))
    assert code == ExitCode.ARTIFACT
    assert "is not bit-identical" in output
    code, output = elsewhere.run("bundle", "import", str(other), "--allow", "tools")
    assert code == 0, output
    assert "other bytes than" in output


@pytest.mark.parametrize("content", [b"", b"no archive", gzip.compress(b"no archive either")])
def test_what_is_no_bundle_is_refused(content: bytes, elsewhere: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(content)
    code, output = elsewhere.run("bundle", "import", str(tmp_path / "x.tar.gz"))
    assert code == ExitCode.DATA
    assert "x.tar.gz" in output and "bundle" in output


def test_version_without_a_profile_cannot_be_exported(built: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "0.1.0-old"
    folder.mkdir()
    (folder / "manifest.json").write_bytes((built.current / "manifest.json").read_bytes())
    with pytest.raises(ArtifactError, match="was published without profile/"):
        pack(Version(folder))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("export", "--profile", "tiny", "0.9-nope"), ExitCode.VERSION),
        (("export", "--profile", "tiny", "-o", "/no/such/folder/x"), ExitCode.USAGE),
        (("import", "/no/such/file"), ExitCode.USAGE),
        (("import", "CMakeLists.txt", "--allow", "everything"), ExitCode.USAGE),
    ],
)
def test_bad_wishes(arguments: tuple[str, ...], code: ExitCode, built: Sandbox) -> None:
    assert built.run("bundle", *arguments)[0] == code


def test_report_of_a_rebuild_says_where_it_comes_from(bundle: Path, elsewhere: Sandbox) -> None:
    code, said = elsewhere.run("bundle", "import", str(bundle))
    assert code == 0, said
    model = read_report(elsewhere.current.resolve())
    assert model.origin is not None
    assert model.origin.endswith("the same bytes, the verdict is kept from it")
    assert model.code is not None
    assert model.training is None


@pytest.mark.parametrize(
    "step",
    ["tune", *(pytest.param(s, marks=pytest.mark.slow) for s in ("sections", "context"))],
)
def test_each_step_of_the_chain_has_the_same_bytes_everywhere(
    step: str, built: Sandbox, bundle: Path, elsewhere: Sandbox, tmp_path: Path
) -> None:
    files = contents(bundle)
    files["profile/context.profdata"] = files["profile/hakmem.profdata"]
    described = json.loads(files[BUNDLE])
    described["files"]["profile/context.profdata"] = described["files"]["profile/hakmem.profdata"]
    described["step"] = step
    file = write(tmp_path / "step.tar.gz", files | {BUNDLE: json.dumps(described).encode()})
    compiled = built.artifacts("geometry")[-1]
    shutil.copytree(compiled, tmp_path / built.root.parent.name / "geometry" / compiled.name)
    first, second = (step_again(file, sandbox, tmp_path) for sandbox in (built, elsewhere))
    assert first.name == second.name == step
    assert first.library.digest == second.library.digest
    assert (first.profile is None) == (step in ("tune", "sections"))
    assert first.edges is None


def step_again(file: Path, sandbox: Sandbox, folder: Path) -> Candidate:
    """Do the last step of a bundle in the tree of a sandbox, with a store of its own."""
    store = Store(folder / sandbox.root.parent.name)
    imported = take_in(store, file)
    profile, tree = parse_profile(imported.profile / "tiny.toml"), Tree(sandbox.root)
    shop = Workshop(tree, profile, find_toolchain(), store, open_console(False), Options())
    setup = imported_setup(shop, imported)
    assert setup.geometry is not None
    folder = sandbox.artifacts("baseline")[-1]
    receipt = read_receipt(folder)
    assert receipt is not None
    plain = Artifact(folder, receipt, fresh=False)
    return compile_step(shop, setup, Baseline(shop.library(plain), plain), imported)
