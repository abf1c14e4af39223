"""Bundles: the same bytes again, elsewhere, and nothing else from a file that somebody hands us."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import GEOMETRY, Sandbox, make_sandbox
from judge_support import result_of

from pipeline.core.console import open_console
from pipeline.core.errors import ArtifactError, DataError, ExitCode
from pipeline.core.paths import Tree
from pipeline.core.store import Artifact, Receipt, Store, read_receipt
from pipeline.profile.load import parse_profile
from pipeline.rebuild import (
    Imported,
    compile_step,
    imported_setup,
    kept_verdict,
    require_consent,
    take_in,
)
from pipeline.release.bundle import BUNDLE, describe, pack, unpack
from pipeline.release.version import Version
from pipeline.report.files import read_report
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.workshop import Library, Options, Workshop
from pipeline.stages.proof.candidate import Candidate
from pipeline.toolchain.find import find_toolchain

PRODUCTS = ("lib/libhakmem.so", "lib/libhakmem.a", "lib/libhakmem.so.debug")


@pytest.fixture(scope="module")
def bundle(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("bundle") / "tiny.tar.gz"
    code, output = built.run("bundle", "export", "--profile", "tiny", "-o", str(target))
    assert code == 0, output
    return target


@pytest.fixture(scope="module")
def elsewhere(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """Another checkout, in a folder whose name has another length.

    What a rebuild does not compare is not compiled once more.
    """
    sandbox = make_sandbox(tmp_path_factory.mktemp("elsewhere") / "another" / "checkout")
    sandbox.take(built, ("baseline", "record", "geometry", "slowdown"))
    return sandbox


def contents(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {e.name: (tar.extractfile(e) or io.BytesIO()).read() for e in tar}


def write(target: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(target, "w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return target


def edited(bundle: Path, target: Path, **changes: object) -> Path:
    """Write a bundle whose bundle.json says something else."""
    files = contents(bundle)
    described = json.loads(files[BUNDLE]) | changes
    return write(target, files | {BUNDLE: json.dumps(described).encode()})


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


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/outside",
        "profile/../../outside",
        "profile/sub/outside",
        "other.txt",
        "profile/.hidden",
    ],
)
def test_names_that_lead_elsewhere_are_refused(name: str, bundle: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "evil.tar.gz", contents(bundle) | {name: b"x"})
    with pytest.raises(DataError, match="has no place in a bundle"):
        unpack(file, tmp_path / "room" / "inner")
    assert not list(tmp_path.rglob("*outside*"))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE]
)
def test_links_and_devices_are_refused(kind: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as tar:
        entry = tarfile.TarInfo("profile/hot.txt")
        entry.type, entry.linkname = kind, "/etc/passwd"
        tar.addfile(entry)
    with pytest.raises(DataError, match="has no place in a bundle"):
        unpack(tmp_path / "evil.tar.gz", tmp_path / "room")


@pytest.mark.parametrize("count", [1, 3])
def test_more_than_a_bundle_can_be_is_refused_unread(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.release.bundle.LARGEST", 1 << 20)
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as tar:
        for number in range(count):
            entry = tarfile.TarInfo(f"profile/{number}")
            entry.size = (5 << 18) // count
            tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    with pytest.raises(DataError, match=f"with profile/{count - 1} it is larger than any bundle"):
        unpack(tmp_path / "evil.tar.gz", tmp_path / "room")


def test_headers_of_any_length_are_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pax header is no file of the bundle, but was read into memory as a whole."""
    monkeypatch.setattr("pipeline.release.bundle.LARGEST", 1 << 20)
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        entry = tarfile.TarInfo("profile/small")
        entry.pax_headers = {"comment": "x" * (4 << 20)}
        tar.addfile(entry, io.BytesIO(b""))
    with pytest.raises(DataError, match="larger than any bundle"):
        unpack(tmp_path / "evil.tar.gz", tmp_path / "room")


def test_a_verdict_about_another_library_is_not_kept(tmp_path: Path) -> None:
    judged = result_of()
    file = tmp_path / "verdict.json"
    file.write_text(judged.model_dump_json(), encoding="utf-8")
    receipt = Receipt("bundle", "", {}, {"verdict.json": ""}, 0.0)
    imported = cast(Imported, SimpleNamespace(artifact=Artifact(tmp_path, receipt, fresh=False)))

    def library(digest: str) -> Library:
        return Library(tmp_path / "x.so", digest, imported.artifact)

    assert kept_verdict(imported, library(judged.tuned.sha256)) is not None
    assert kept_verdict(imported, library("0" * 64)) is None


FOREIGN = """
schema_version = 1
name = "foreign"
description = "from somebody else"
[layout]
name = "mixed"
[[workload]]
name = "a"
kind = "program"
role = "train"
program = "training/tree"
ops = "1k"
quick_ops = "1k"
weight = 1
[[workload]]
name = "b"
kind = "program"
role = "verify"
program = "bench/tiny_hot"
ops = "1k"
quick_ops = "1k"
weight = 1
[[workload]]
name = "c"
kind = "command"
role = "verify"
argv = ["sh", "-c", "curl example.org | sh"]
"""


def test_commands_of_a_foreign_bundle_need_consent(tmp_path: Path) -> None:
    tree, file = Tree(tmp_path), tmp_path / "foreign.toml"
    file.write_text(FOREIGN, encoding="utf-8")
    profile = parse_profile(file)
    with pytest.raises(DataError, match=r"executed: sh -c 'curl example.org \| sh'") as error:
        require_consent(tree, profile, frozenset({"sources"}))
    assert "--allow commands" in error.value.hint
    require_consent(tree, profile, frozenset({"commands"}))
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "foreign.toml").write_text(FOREIGN, encoding="utf-8")
    require_consent(tree, profile, frozenset())


@pytest.mark.parametrize("name", ["profile/hot.txt", "verdict.json"])
def test_damage_and_loss_are_noticed(name: str, bundle: Path, tmp_path: Path) -> None:
    files = contents(bundle)
    spoilt = write(tmp_path / "a.tar.gz", files | {name: b"spoilt"})
    with pytest.raises(DataError, match=f"{name} is damaged"):
        unpack(spoilt, tmp_path / "room")
    lost = write(tmp_path / "b.tar.gz", {n: d for n, d in files.items() if n != name})
    with pytest.raises(DataError, match=f"{name} is damaged, missing"):
        unpack(lost, tmp_path / "room")
    extra = write(tmp_path / "c.tar.gz", files | {"profile/more": b"x"})
    with pytest.raises(DataError, match="profile/more is damaged, missing, or not listed"):
        unpack(extra, tmp_path / "room")


@pytest.mark.parametrize("content", [b"", b"no archive", gzip.compress(b"no archive either")])
def test_what_is_no_bundle_is_refused(content: bytes, elsewhere: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(content)
    code, output = elsewhere.run("bundle", "import", str(tmp_path / "x.tar.gz"))
    assert code == ExitCode.DATA
    assert "x.tar.gz" in output and "bundle" in output


def test_half_a_bundle_is_refused(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "half.tar.gz").write_bytes(bundle.read_bytes()[:9000])
    with pytest.raises(DataError, match="cannot be read as a bundle"):
        unpack(tmp_path / "half.tar.gz", tmp_path / "room")


def test_bundle_of_another_schema_is_refused(bundle: Path, tmp_path: Path) -> None:
    newer = edited(bundle, tmp_path / "newer.tar.gz", schema_version=2)
    with pytest.raises(DataError, match=r"bundle\.json is not valid"):
        unpack(newer, tmp_path / "room")


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
