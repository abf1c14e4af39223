"""Signatures of bundles: by whom, of what, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.errors import DataError, UsageError
from pipeline.core.process import run
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
