"""bolt-instrument: the PGO library with BOLT's counters on every edge."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_file
from pipeline.core.errors import BuildError, ChildError
from pipeline.core.process import run
from pipeline.core.receipt import Notes
from pipeline.stages.build.compile import LIBRARY
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import BOLT_INSTRUMENT, BOLT_RUNTIME, spelled, texts

STAGE = "bolt-instrument"
BOLT_LIMIT_S = 300.0


@dataclass(frozen=True)
class Counted:
    """A library for BOLT's training, and the prefix of the files its processes write."""

    library: Library
    prefix: Path


def bolt_instrument(shop: Workshop, library: Library, runtime: Path | None = None) -> Counted:
    """Insert BOLT's counters. The prefix is burnt into the library, so it is a fixed place.

    ``runtime`` is BOLT's run-time library where it is not the one of this machine.
    """
    prefix = shop.store.folder / "bolt-counts" / "p"
    linked = BOLT_RUNTIME if runtime else ()
    parts = {
        "library": library.digest,
        "tools": shop.tool_keys,
        "flags": spelled(BOLT_INSTRUMENT, linked),
        "prefix": str(prefix),
        **({"runtime": digest_file(runtime)} if runtime else {}),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("inserting counters")
        output = room / LIBRARY
        bolt_run(
            shop,
            STAGE,
            "bolt",
            [
                *(library.path, "-o", output),
                *texts(BOLT_INSTRUMENT, linked, prefix=prefix, runtime=runtime),
            ],
        )
        fresh_folder(prefix.parent)
        check_library(output, shop.log(STAGE, "probe"), shop.target)
        return {"bytes": output.stat().st_size}

    made = shop.do(STAGE, parts, work, summary=lambda _n: "library with BOLT's counters")
    return Counted(shop.library(made), prefix)


def bolt_run(shop: Workshop, stage: str, name: str, arguments: list[str | Path]) -> str:
    """Run llvm-bolt and return what it said; BuildError with its log if it fails."""
    try:
        done = run(
            [shop.tools.path("llvm-bolt"), *arguments],
            log=shop.log(stage, name),
            timeout_s=BOLT_LIMIT_S,
        )
    except ChildError as error:
        raise BuildError(error.message, log=error.log) from error
    return done.stdout + done.stderr


def fresh_folder(folder: Path) -> None:
    """Make ``folder`` exist and empty. Without it, BOLT's runtime ends the host program."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
