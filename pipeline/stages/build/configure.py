"""configure: read and check everything a build depends on, before anything is built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.architecture import HERE
from pipeline.core.errors import ProfileError, SpaceError
from pipeline.core.processor import ANY, machine, nearest
from pipeline.core.spelling import did_you_mean
from pipeline.geometry.known_files import unread_folders
from pipeline.geometry.load import kinds_of, load_geometry
from pipeline.geometry.model import Geometry
from pipeline.profile.load import profile_names
from pipeline.profile.workload import Command, Program, Trace
from pipeline.stages.build.check_names import check_names
from pipeline.stages.build.compile import source_digests
from pipeline.stages.build.doubts import learnt
from pipeline.stages.build.given import note_geometry, note_given
from pipeline.stages.build.programs import (
    differing_programs,
    find_needed,
    find_program,
    starts_others,
)
from pipeline.stages.build.workshop import Workshop
from pipeline.toolchain.symbols import SymbolLists, read_lists

FIRST_MADE = "baseline"
"""Who has an artifact of this stage has been told how this machine differs from builds."""


@dataclass(frozen=True)
class Setup:
    """The checked inputs of a build. ``traces`` become programs in the stage record.

    ``geometry`` is how the library is cut; None where that is the default. ``skipped`` are the
    workloads that cannot run here, each with what it lacks.
    """

    sources: str
    programs: str
    lists: SymbolLists
    geometry: Geometry | None
    training: tuple[Program | Command, ...]
    verifying: tuple[Program | Command, ...]
    traces: tuple[Trace, ...]
    skipped: dict[str, tuple[str, ...]]

    @property
    def geometry_digest(self) -> str | None:
        """What a stage's key knows of the geometry: its values, not the words about them.

        And the kind of processor, if it is for one, as the library tells it of itself.
        """
        if self.geometry is None or self.geometry.processor == ANY:
            return self.geometry.digest if self.geometry else None
        return f"{self.geometry.digest} for {self.geometry.processor}"


def configure(shop: Workshop) -> Setup:
    """Return the checked inputs.

    Raises ProfileError for unusable symbol lists or geometry, and for traces that are not there.
    """
    with shop.console.stage("configure") as line:
        _check_place(shop.tree.root)
        setup = _read(shop)
        check_names(shop.tree, shop.profile, setup.lists)
        require_level(setup.geometry)
        for trace in setup.traces:
            if trace.trace is not None:
                trace_file(shop.tree.root, trace)
        used = len(setup.training) + len(setup.verifying) + len(setup.traces)
        line.done(f"{shop.tools.versions['clang']}; {used} workloads")
    for name, lacking in setup.skipped.items():
        gone = ", ".join(lacking)
        shop.console.notice(f'workload "{name}" is skipped: not on this machine: {gone}')
    _tell_paths(shop, setup)
    _tell_alone(shop, setup)
    _tell_trained(shop, setup)
    _tell_processor(shop)
    _tell_geometry(shop, setup)
    return setup


def _tell_geometry(shop: Workshop, setup: Setup) -> None:
    """Say where no geometry applies, and where one lies that no build reads."""
    for folder in unread_folders(shop.tree):
        hint = did_you_mean(folder.name, profile_names(shop.tree), "", " did you mean {}?")
        shop.console.notice(f"{folder}: no profile has this name, so no build reads it;{hint}")
    if setup.geometry is None:
        others = kinds_of(shop.tree, shop.profile.name)
        also = f" (files for one kind of processor: {', '.join(others)})" if others else ""
        shop.console.say(f"geometry of profile {shop.profile.name}: as the default{also}")


def _tell_paths(shop: Workshop, setup: Setup) -> None:
    """Say once which program runs where the user's PATH has another one first."""
    if shop.store.latest(FIRST_MADE):
        return
    commands = [w.argv for w in (*setup.training, *setup.verifying) if isinstance(w, Command)]
    commands += [trace.record for trace in setup.traces if trace.record]
    for line in dict.fromkeys(line for argv in commands for line in differing_programs(argv)):
        shop.console.notice(line)


def _tell_trained(shop: Workshop, setup: Setup) -> None:
    """Say which recording judges by what the library is trained with: a report says it again."""
    for what, why, *_ in learnt((*setup.training, *setup.traces)):
        shop.console.notice(f"{what}: {why}")


def _tell_alone(shop: Workshop, setup: Setup) -> None:
    """Say where a shell is all that is counted of a command."""
    for one in setup.verifying:
        if isinstance(one, Command) and one.counted is True and starts_others(one.argv[0]):
            shop.console.notice(
                f'workload "{one.name}": counted = true counts {one.argv[0]} itself, '
                'not the programs that it starts: counted = "NAME" counts one of those'
            )


def _tell_processor(shop: Workshop) -> None:
    """Say when what is built is for another kind of processor than the one that judges it."""
    wanted, here = shop.options.processor, machine().name
    if wanted not in (ANY, *nearest(here)):
        shop.console.notice(
            f"built for {wanted}, but trained and judged on {here}: "
            f"the verdict says nothing about {wanted}"
        )


def require_level(geometry: Geometry | None) -> None:
    """Raise ProfileError for code that this machine cannot run: it must be trained and judged."""
    level = geometry.setting("march").value if geometry else HERE.least
    missing = machine().missing(level)
    if missing:
        raise ProfileError(
            f"the geometry asks for {level}, and this machine ({machine().name}) has no "
            f"{', '.join(missing)}: no library for it can be trained or judged here",
            hint="build on a machine that has it, or build for all processors with `--cpu any`",
        )


def read_geometry(shop: Workshop, setup: Setup) -> Setup:
    """Return the setup with geometry.toml as it stands now, when a stage may have written it."""
    note_geometry(shop)
    return replace(setup, geometry=_geometry(shop))


def _geometry(shop: Workshop) -> Geometry | None:
    return load_geometry(shop.tree, shop.profile.name, shop.options.processor)


def trace_file(root: Path, trace: Trace) -> Path:
    """Return the user's file, seen from the root of the tree; ProfileError if there is none."""
    path = root / str(trace.trace)
    if not path.is_file():
        raise ProfileError(
            f'workload "{trace.name}", trace: there is no file {path}',
            hint="`.venv/bin/pipeline record -o FILE -- COMMAND` makes one",
        )
    return path


def _check_place(root: Path) -> None:
    """Refuse a folder whose libraries could not be preloaded: ld.so splits LD_PRELOAD there."""
    if any(character in str(root) for character in " :;\t\n"):
        raise SpaceError(
            f"the path {root} contains a space, colon or semicolon, which LD_PRELOAD cannot take",
            hint="clone the repository to another place",
        )


def _read(shop: Workshop) -> Setup:
    skipped = {w.name: gone for w in shop.profile.workload if (gone := lacking(w))}
    present = [w for w in shop.profile.workload if w.name not in skipped]
    shop.hashed.update(source_digests(shop))
    note_given(shop)
    plain = [w for w in present if not isinstance(w, Trace)]
    return Setup(
        sources=shop.hashed["sources"],
        programs=shop.hashed["programs"],
        lists=read_lists(shop.tree.layout(shop.profile.layout.name)),
        geometry=_geometry(shop),
        training=tuple(w for w in plain if w.role == "train"),
        verifying=tuple(w for w in plain if w.role == "verify"),
        traces=tuple(w for w in present if isinstance(w, Trace)),
        skipped=dict(sorted(skipped.items())),
    )


def lacking(workload: Program | Command | Trace) -> tuple[str, ...]:
    """Return what a workload needs and this machine does not have."""
    program, others = needed_by(workload)[:1], needed_by(workload)[1:]
    gone = [name for name in program if find_program(name) is None]
    return (*gone, *(name for name in others if find_needed(name) is None))


def needed_by(workload: Program | Command | Trace) -> tuple[str, ...]:
    """Return the program of the machine that a workload runs, then what else it needs."""
    if isinstance(workload, Command):
        return (workload.argv[0], *workload.needs)
    if isinstance(workload, Trace) and workload.record is not None:
        return (workload.record[0], *workload.needs)
    return ()
