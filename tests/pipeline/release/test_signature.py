"""Signatures of bundles: by whom, of what, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner
from rollback_support import tree_of_two

from pipeline.cli import cli
from pipeline.core.errors import DataError, UsageError
from pipeline.core.process import run
from pipeline.rebuild.differences import committed_at
from pipeline.release import bundle as bundles
from pipeline.release.signature import sign, signature_of, verify

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen here")


def key_of(folder: Path, name: str) -> Path:
    path = folder / name
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path])
    return path


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    file = tmp_path / "bundle.tar.gz"
    file.write_bytes(b"a bundle")
    return file


def signers_of(folder: Path, **keys: Path) -> Path:
    lines = [f"{name} {key.with_suffix('.pub').read_text()}" for name, key in keys.items()]
    file = folder / "allowed_signers"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def test_a_signature_names_who_made_it(bundle: Path, tmp_path: Path) -> None:
    one, other = key_of(tmp_path, "one"), key_of(tmp_path, "other")
    assert sign(bundle, one) == signature_of(bundle)
    assert verify(bundle, signers_of(tmp_path, ada=one, bob=other)) == "ada"
    sign(bundle, other)  # again, in place of the first
    assert verify(bundle, signers_of(tmp_path, ada=one, bob=other)) == "bob"


def test_what_is_not_as_it_was_signed_is_refused(bundle: Path, tmp_path: Path) -> None:
    one, other = key_of(tmp_path, "one"), key_of(tmp_path, "other")
    with pytest.raises(DataError, match="has no signature"):
        verify(bundle, signers_of(tmp_path, ada=one))
    sign(bundle, one)
    with pytest.raises(DataError, match="not signed by anybody in"):
        verify(bundle, signers_of(tmp_path, bob=other))
    bundle.write_bytes(b"another bundle")
    with pytest.raises(DataError, match="or was changed since"):
        verify(bundle, signers_of(tmp_path, ada=one))


def test_a_signature_for_something_else_is_refused(bundle: Path, tmp_path: Path) -> None:
    """Whoever signs commits or mail with that key has not signed a bundle."""
    one = key_of(tmp_path, "one")
    run(["ssh-keygen", "-Y", "sign", "-f", one, "-n", "git", bundle])
    with pytest.raises(DataError, match="not signed by anybody"):
        verify(bundle, signers_of(tmp_path, ada=one))


def test_what_is_no_key_is_named(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "no-key").write_text("no key", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be signed with"):
        sign(bundle, tmp_path / "no-key")


def test_import_looks_at_the_signature_before_anything_else(bundle: Path, tmp_path: Path) -> None:
    signers = signers_of(tmp_path, ada=key_of(tmp_path, "one"))
    arguments = ["bundle", "import", str(bundle), "--verify", str(signers)]
    result = CliRunner().invoke(cli, arguments)
    assert isinstance(result.exception, DataError)
    assert "has no signature" in result.exception.message


def test_import_reads_what_was_verified_whoever_changes_the_file_meanwhile(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(tmp_path, "ada")
    sign(bundle, key)
    signed, signers = bundle.read_bytes(), signers_of(tmp_path, ada=key)
    seen: list[Path] = []

    def look_into(file: Path) -> NoReturn:
        bundle.write_bytes(b"another")  # by somebody else, just after the check
        assert file.read_bytes() == signed
        seen.append(file)
        raise DataError("seen")

    monkeypatch.setattr("pipeline.commands.bundle._look_into", look_into)
    arguments = ["bundle", "import", str(bundle), "--verify", str(signers)]
    result = CliRunner().invoke(cli, arguments)
    assert isinstance(result.exception, DataError)
    assert result.exception.message == "seen"
    assert f"{bundle} is signed by ada" in " ".join(result.output.split())
    assert not seen[0].exists(), "the copy is gone with the command"


def test_a_file_of_signers_without_a_name_is_named(bundle: Path, tmp_path: Path) -> None:
    key = key_of(tmp_path, "one")
    sign(bundle, key)
    with pytest.raises(UsageError, match="names no key"):
        verify(bundle, key.with_suffix(".pub"))  # it has a key, and nobody's name in front
    with pytest.raises(UsageError, match="names no key"):
        verify(bundle, signers_of(tmp_path))


@pytest.fixture
def exporting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree_of_two(tmp_path, monkeypatch)
    monkeypatch.setattr(bundles, "pack", lambda _: packed(b"new"))
    return tmp_path / "mine.tar.gz"


def packed(text: bytes) -> bytes:
    return bundles._compress({bundles.BUNDLE: text})


def export(target: Path, *words: str) -> BaseException | None:
    words = ("bundle", "export", "-p", "p", "-o", str(target), *words)
    return CliRunner().invoke(cli, words, standalone_mode=False).exception


def test_a_bundle_that_cannot_be_signed_is_not_written(exporting: Path) -> None:
    no_key = exporting.with_name("no-key")
    no_key.write_text("no key", encoding="utf-8")
    failed = export(exporting, "--sign", str(no_key))
    assert isinstance(failed, UsageError)
    assert failed.message.startswith(f"{exporting} cannot be signed")
    assert not list(exporting.parent.glob("*mine.tar.gz*"))


def test_a_signed_bundle_takes_the_place_of_one(exporting: Path) -> None:
    exporting.write_bytes(packed(b"old"))
    one = key_of(exporting.parent, "one")
    assert export(exporting, "--sign", str(one)) is None
    assert exporting.read_bytes() == packed(b"new")
    assert verify(exporting, signers_of(exporting.parent, ada=one)) == "ada"
    assert sorted(file.name for file in exporting.parent.glob("*mine*")) == [
        "mine.tar.gz",
        "mine.tar.gz.sig",
    ]


def test_what_is_no_bundle_is_not_written_over(exporting: Path) -> None:
    exporting.write_text("notes", encoding="utf-8")
    failed = export(exporting)
    assert isinstance(failed, UsageError) and "is no bundle" in failed.message
    assert exporting.read_text(encoding="utf-8") == "notes"


def test_other_sources_are_named_by_the_commit_of_the_bundle(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    assert committed_at(manifest) == ""
    manifest.write_text('{"git": {"commit": "0123456789abcdef", "changed": ["a.c"]}}')
    assert committed_at(manifest) == " (they are commit 0123456789ab and, not committed, a.c)"
