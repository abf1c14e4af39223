"""What an app needs from Debian: found, installed, or named with the line that installs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipeline.apps.model import App
from pipeline.core.errors import PipelineError
from pipeline.core.process import run

APT_LIMIT_S = 600.0
# Administrators' programs (nginx) lie where an ordinary user's PATH does not lead.
PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
# Debian asks this file before it starts the service of a package that is being installed.
POLICY = Path("/usr/sbin/policy-rc.d")


def missing(app: App) -> list[str]:
    """Return the packages of the programs and files that are not on this machine."""
    return sorted({package for what, package in app.needs.items() if not present(what)})


def present(what: str) -> bool:
    """Return whether a program is here: one of ``a|b``, or a file that fits an absolute path."""
    if what.startswith("/"):
        return any(Path("/").glob(what[1:]))
    return any(shutil.which(name, path=PLACES) for name in what.split("|"))


def provide(app: App, log: Path, say: Callable[[str], None]) -> str:
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
    """Let no package start its server: the suite starts its own, in private folders."""
    if POLICY.exists():
        yield
        return
    script = f"printf '#!/bin/sh\\nexit 101\\n' >{POLICY} && chmod 755 {POLICY}"
    run([*become_root, "sh", "-c", script])
    try:
        yield
    finally:
        run([*become_root, "rm", "-f", POLICY])
