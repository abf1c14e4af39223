"""What an app needs from Debian: found, installed, or named with the line that installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pipeline.core.errors import PipelineError, SpaceError
from pipeline.core.process import run

APT_LIMIT_S = 600.0
# Administrators' programs (nginx) lie where an ordinary user's PATH does not lead.
PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
# Debian asks this file before it starts the service of a package that is being installed.
POLICY = Path("/usr/sbin/policy-rc.d")
MARK = "# hakmem: while packages are installed"
_KEEPER = r"""
printf '#!/bin/sh\n%s\nexit 101\n' "$2" >"$1" && chmod 755 "$1" && echo ready
cat >/dev/null
rm -f "$1"
"""


class Needy(Protocol):
    """What needs programs or files, each with the Debian package that has it."""

    @property
    def needs(self) -> Mapping[str, str]:
        """Program (``a|b``: one of them) or file (``/a/*/b``) -> package."""


def missing(app: Needy) -> list[str]:
    """Return the packages of the programs and files that are not on this machine."""
    return sorted({package for what, package in app.needs.items() if not present(what)})


def present(what: str) -> bool:
    """Return whether a program is here: one of ``a|b``, or a file that fits an absolute path."""
    if what.startswith("/"):
        return any(Path("/").glob(what[1:]))
    return any(shutil.which(name, path=PLACES) for name in what.split("|"))


def provide(app: Needy, log: Path, say: Callable[[str], None]) -> str:
    """Install what is missing; return "" or a sentence that says why it cannot be used."""
    packages = missing(app)
    if not packages:
        return ""
    line = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    become_root = _root()
    if become_root is None or shutil.which("apt-get") is None:
        return f"missing: {', '.join(packages)}; run as root: {line}"
    say(f"installs {' '.join(packages)}")
    try:
        _install(become_root, packages, log)
    except PipelineError as error:
        return f"cannot install {' '.join(packages)}: {error.message.splitlines()[-1].strip()}"
    left = missing(app)
    return f"installed, and still missing: {', '.join(left)}" if left else ""


def _root() -> list[str] | None:
    """Return the words that make a command run as root, or None if nothing does."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = run(["sudo", "-n", "true"], expect=None)
    return ["sudo", "-n"] if asked.returncode == 0 else None


def _install(become_root: Sequence[str], packages: Sequence[str], log: Path) -> None:
    apt = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    run([*apt, "update"], timeout_s=APT_LIMIT_S, log=log, expect=None)
    with _services_stay_off(become_root):
        run(
            [*apt, "install", "-y", "--no-install-recommends", *packages],
            timeout_s=APT_LIMIT_S,
            log=log,
        )


@contextmanager
def _services_stay_off(become_root: Sequence[str]) -> Iterator[None]:
    """Let no package start its server: the suite starts its own, in private folders.

    A shell beside us makes the file, and removes it as soon as its input ends: also when we are
    killed. One that a crash of the machine has left is ours by its mark, and goes as well.
    """
    if POLICY.exists() and MARK not in POLICY.read_text(encoding="utf-8", errors="replace"):
        yield
        return
    keeper = subprocess.Popen(
        [*become_root, "sh", "-c", _KEEPER, "sh", str(POLICY), MARK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # ctrl-C is for us; it ends when we do
    )
    with keeper:
        try:
            if keeper.stdout is None or keeper.stdout.readline() != b"ready\n":
                raise SpaceError(f"cannot write {POLICY}, which keeps servers from being started")
            yield
        finally:
            keeper.communicate()
