"""Signatures of bundles, made and checked by ssh-keygen: whoever can push has a key for it.

A signature lies beside its file, under the same name with ``.sig``. Whom to trust stands in a file
as ssh-keygen has it (ALLOWED SIGNERS in its manual): a name and a public key on each line.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pipeline.core.errors import ChildError, DataError, UsageError
from pipeline.core.process import run

_NAME_AND_KEY = re.compile(r"^[^#\s]\S*\s+(?:.*\s)?(?:ssh|ecdsa|sk)-\S+\s+AAAA", re.MULTILINE)
NAMESPACE = "hakmem-bundle"
LIMIT_S = 60.0


def signature_of(file: Path) -> Path:
    """Return where the signature of ``file`` lies."""
    return file.with_name(f"{file.name}.sig")


def sign(file: Path, key: Path, called: Path | None = None) -> Path:
    """Sign ``file`` with an OpenSSH key; return the signature. UsageError if the key is no use.

    A private key with a pass phrase needs an agent, as nobody is asked here; name the public one.
    ``called`` is the name that an error gives the file, where it has another one as yet.
    """
    signature = signature_of(file)
    signature.unlink(missing_ok=True)  # ssh-keygen would ask
    try:
        run(["ssh-keygen", "-Y", "sign", "-f", key, "-n", NAMESPACE, file], timeout_s=LIMIT_S)
    except ChildError as error:
        raise UsageError(
            f"{called or file} cannot be signed with {key}: {error.message}",
            hint="name a private OpenSSH key without a pass phrase, or one that an agent holds",
        ) from error
    return signature


def verify(file: Path, signers: Path, called: Path | None = None) -> str:
    """Return by whom of ``signers`` ``file`` is signed; DataError if by none of them.

    Also where it was changed since, or has no signature. ``called`` is the name that an error gives
    the file, where it has another one.
    """
    _require_keys(signers)
    signature, named = signature_of(file), called or file
    if not signature.is_file():
        raise DataError(
            f"{named} has no signature: there is no {signature_of(named)}",
            hint="get it from where the bundle comes from, or leave out --verify",
        )
    try:
        asked: list[str | Path] = ["-Y", "find-principals", "-s", signature, "-f", signers]
        said = run(["ssh-keygen", *asked], timeout_s=LIMIT_S).stdout
        name = said.splitlines()[0].strip() if said.strip() else ""
        checked: list[str | Path] = ["-Y", "verify", "-f", signers, "-I", name]
        checked += ["-n", NAMESPACE, "-s", signature]
        run(["ssh-keygen", *checked], stdin=file, timeout_s=LIMIT_S)
    except ChildError as error:
        raise DataError(
            f"{named} is not signed by anybody in {signers}, or was changed since",
            hint="do not use it, unless you know why",
            log=error.log,
        ) from error
    return name


def verified_copy(file: Path, signers: Path, folder: Path) -> tuple[Path, str]:
    """Copy ``file`` into ``folder``, our own; return the copy and by whom of ``signers`` it is.

    What is read later is then what was checked, whoever may write where ``file`` lies. Raises as
    `verify` does.
    """
    own = folder / file.name
    for source, target in ((file, own), (signature_of(file), signature_of(own))):
        if source.is_file():
            shutil.copyfile(source, target)
    return own, verify(own, signers, file)


def _require_keys(signers: Path) -> None:
    """Raise UsageError if no line of a file of signers has a name and a key."""
    text = signers.read_text(encoding="utf-8", errors="replace")
    if not _NAME_AND_KEY.search(text):
        raise UsageError(
            f"{signers} names no key: each line is a name, then that person's public key",
            hint=f'write such lines, as by: echo "ada $(cat KEY.pub)" >> {signers}',
        )
