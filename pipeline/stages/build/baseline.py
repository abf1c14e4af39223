"""baseline: the honest opponent, and the programs that exercise every library.

The same sources at -O2 as a distribution would build them: no profile, no layout, no tuning.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.errors import ProfileError
from pipeline.core.places import PLACES
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.profile.workload import REPLAY, Program
from pipeline.stages.build.compile import PROGRAM_FOLDERS, cmake_build, take_library
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.flags import COMPILE, LINK, spelled, texts

STAGE = "baseline"
PLACED = "placed"
CLOCK = "training/libtraining-clock.so"


@dataclass(frozen=True)
class Baseline:
    """The plain library, and the folder with bench/ and training/ programs."""

    library: Library
    artifact: Artifact

    def program(self, name: str) -> Path:
        """Return the path of a program such as ``bench/larson``; ProfileError if there is none."""
        if name not in self.artifact.receipt.outputs:
            folder = name.split("/", maxsplit=1)[0]
            outputs = self.artifact.receipt.outputs
            known = sorted(
                n for n in outputs if n.startswith(folder) and f"/{PLACED}/" not in n and n != CLOCK
            )
            raise ProfileError(f"there is no program {name}; known: {', '.join(known) or 'none'}")
        return self.artifact.path(name)

    @property
    def clock(self) -> Path:
        """The library that trainings preload beside ours: training/common/clock.c."""
        return self.artifact.path(CLOCK)

    def elsewhere(self, name: str) -> tuple[Path, ...]:
        """Return the same program with its code at other places; none for what is no loop."""
        folder, _, program = name.rpartition("/")
        names = (f"{folder}/{PLACED}/{program}-{place}" for place in range(1, PLACES))
        return tuple(self.artifact.path(n) for n in names if n in self.artifact.receipt.outputs)


def baseline(shop: Workshop, setup: Setup) -> Baseline:
    """Build the plain library, all bench programs and all training programs.

    For another architecture there are no bench programs: nothing is timed there.
    """
    parts = {
        "sources": setup.sources,
        "programs": setup.programs,
        "flags": spelled(COMPILE, LINK),
        "placed": placed(setup),
        "tools": shop.tool_keys,
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("compiling the library and the programs")
        build = room / "build"
        _compile(shop, setup, build, line)
        programs = _take_programs(build, room)
        library = take_library(shop, build, room)
        facts = check_library(library, shop.log(STAGE, "probe"), shop.target)
        return {
            "build_id": facts.build_id,
            "bytes": library.stat().st_size,
            "programs": programs,
        }

    made = shop.do(
        STAGE, parts, work, summary=lambda n: f"plain -O2 library, {n['programs']} programs"
    )
    return Baseline(shop.library(made), made)


def _compile(shop: Workshop, setup: Setup, build: Path, line: StageLine) -> None:
    cmake_build(
        shop,
        STAGE,
        build,
        targets=("all",),
        compile_flags=texts(COMPILE, root=shop.tree.root, room=build),
        link_flags=texts(LINK),
        options={
            "HAKMEM_BENCH": "ON" if shop.target.is_here else "OFF",
            "HAKMEM_TRAINING": "ON",
            "HAKMEM_PLACED": ";".join(placed(setup)),
            "HAKMEM_MORE_PLACES": str(PLACES - 1),
        },
        line=line,
    )


def _take_programs(build: Path, room: Path) -> int:
    """Take the programs out of a build, those at other places too; return how many there are."""
    programs = [
        _take_program(path, room / folder)
        for folder in PROGRAM_FOLDERS
        for path in _programs(build / folder)
    ]
    _take_program(build / CLOCK, (room / CLOCK).parent)
    for folder in PROGRAM_FOLDERS:
        for path in _programs(build / folder / PLACED):
            _take_program(path, room / folder / PLACED)
    return len(programs)


def placed(setup: Setup) -> list[str]:
    """Return the names of our programs that are timed: their code lies at several places."""
    timed = (*setup.training, *setup.verifying)
    programs = {one.program for one in timed if isinstance(one, Program)}
    played = {REPLAY} if setup.traces else set()
    return sorted(name.rpartition("/")[2] for name in programs | played)


def _programs(folder: Path) -> list[Path]:
    """Return the executables that CMake has put directly into ``folder``."""
    return sorted(
        p
        for p in folder.glob("*")
        if p.is_file() and p.stat().st_mode & 0o111 and p.suffix != ".so"
    )


def _take_program(path: Path, folder: Path) -> Path:
    target = folder / path.name
    target.parent.mkdir(exist_ok=True)
    return Path(shutil.move(path, target))
