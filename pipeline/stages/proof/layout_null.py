"""layout-null: the chosen build with its functions in any order, to see whether the order is luck.

The code is the chosen build's own, blocks and all; nothing but the order of functions differs.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.errors import BuildError
from pipeline.core.receipt import Notes
from pipeline.geometry.code import alignment
from pipeline.stages.bolt.instrument import bolt_run
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.compile import LIBRARY
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.programs import find_program
from pipeline.stages.build.workloads import machine_key, task_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.optimize import FLAVOURS, ORDER, SCRIPT
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.relink import Placing, Relinker, functions_of, require_same
from pipeline.stages.proof.request import judge_request
from pipeline.toolchain.flags import BOLT, texts

if TYPE_CHECKING:
    from pipeline.evidence.model import LayoutNull
    from pipeline.judge.tasks import Task

STAGE = "layout-null"
RESULT, NOTHING = "layout-null.json", "null"
LAYOUTS = 100
RANKED = ("sqlite3", "gcc", "redis")
"""The first of these that is here ranks the layouts: sqlite3 counts the same each time."""


def layout_null(
    shop: Workshop, setup: Setup, plain: Baseline, chosen: Candidate, linked: Candidate
) -> LayoutNull | None:
    """Count random orders of the functions of ``chosen``, which was linked as ``linked``.

    None where none of the real programs is on this machine. BuildError where the functions of this
    step cannot be put in another order.
    """
    seeds = range(1, 1 + LAYOUTS)
    shuffler = _BoltShuffler if chosen.edges else _LinkShuffler
    parts = {
        "baseline": plain.library.digest,
        "tuned": chosen.library.digest,
        "linked": linked.library.digest,
        "profile": chosen.edges.digest if chosen.edges else None,
        "tasks": task_keys(shop, _tasks()),
        "tools": shop.tool_keys,
        "machine": machine_key(),
        "layouts": len(seeds),
    }

    def work(room: Path, line: StageLine) -> Notes:
        from pipeline.evidence.null import judge_layout

        line.step("making random layouts")
        shuffle = shuffler(shop, setup, room, chosen, linked)
        request = judge_request(shop, setup, plain, chosen.library, brief=True)
        request = replace(request, tasks=_tasks(), logs=shop.log(STAGE, "").parent)
        result = judge_layout(request, seeds, shuffle, line.step)
        for folder in ("random", "build"):
            shutil.rmtree(room / folder, ignore_errors=True)
        text = result.model_dump_json(indent=1) if result else NOTHING
        (room / RESULT).write_text(text, encoding="utf-8")
        return {"reason": result.reason if result else "no real program was counted"}

    made = shop.do(STAGE, parts, work, summary=lambda n: str(n["reason"]))
    return _read(made.path(RESULT))


def _tasks() -> tuple[Task, ...]:
    """Return the one task that is counted with each layout: there are many."""
    from pipeline.judge.tasks import JUDGED, found

    judged = {one.name: one for one in found(JUDGED, find_program) if one.path is not None}
    return tuple(judged[name] for name in RANKED if name in judged)[:1]


class _BoltShuffler:
    """Lets BOLT lay out the same code once more: the same blocks, the functions in any order."""

    def __init__(
        self, shop: Workshop, setup: Setup, room: Path, chosen: Candidate, linked: Candidate
    ) -> None:
        if chosen.edges is None:
            raise BuildError(f"the step {chosen.name} has no edges that BOLT could go by")
        self._shop, self._room = shop, room
        self._linked, self._edges = linked.library.path, chosen.edges.path
        self._align = alignment(setup.geometry)
        order = chosen.library.artifact.path(ORDER)
        self._names = order.read_text(encoding="utf-8").split()

    def __call__(self, seed: int) -> Path:
        output, order = _place(self._room, seed)
        write_order(order, shuffled(self._names, seed))
        flags = texts(BOLT, order=order, align=self._align)
        arguments: list[str | Path] = [self._linked, "-o", output, "--data", self._edges]
        bolt_run(self._shop, STAGE, f"seed-{seed}", [*arguments, *flags])
        return output


class _LinkShuffler:
    """Links the same code once more: compiled once, its functions in any order.

    Before any other order, its own has to give each function its place and size again. (Bytes may
    differ: the table by which libc is called has another order when the linker did not compile.)
    """

    def __init__(
        self, shop: Workshop, setup: Setup, room: Path, chosen: Candidate, linked: Candidate
    ) -> None:
        flavour = FLAVOURS.get(chosen.name)
        if flavour is None:
            raise BuildError(
                f"the step {chosen.name} is linked file by file: its functions have one order only"
            )
        made, profile = linked.library.artifact, chosen.profile.path if chosen.profile else None
        self._room, self._own = room, Placing(made.path(ORDER), made.path(SCRIPT))
        self._relinker = Relinker(shop, setup, STAGE, room / "build", flavour, profile, self._own)
        same, _ = _place(room, 0)
        self._relinker.link(self._own, same)
        found, known = (functions_of(shop, STAGE, one) for one in (same, linked.library.path))
        require_same(found, known, "the chosen build")
        self._names = self._own.order.read_text(encoding="utf-8").split()

    def __call__(self, seed: int) -> Path:
        output, order = _place(self._room, seed)
        write_order(order, shuffled(self._names, seed))
        self._relinker.link(replace(self._own, order=order), output)
        return output


def shuffled(names: Sequence[str], seed: int) -> list[str]:
    """Return names in a random order, the same one for the same seed on every machine."""
    return sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())


def write_order(path: Path, names: Sequence[str]) -> None:
    """Write a list of functions as linker and BOLT read it."""
    path.write_text("\n".join(names) + "\n", encoding="utf-8")


def _place(room: Path, seed: int) -> tuple[Path, Path]:
    """Return where a layout and its order go: a folder each, as the counter goes by file names."""
    folder = room / "random" / str(seed)
    folder.mkdir(parents=True)
    return folder / LIBRARY, folder / ORDER


def _read(path: Path) -> LayoutNull | None:
    from pipeline.evidence.model import LayoutNull

    text = path.read_text(encoding="utf-8")
    return None if text == NOTHING else LayoutNull.model_validate_json(text)
