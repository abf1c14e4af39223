"""programs: the library's share of instructions and misses inside real programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_tree
from pipeline.core.errors import ChildError
from pipeline.core.process import run
from pipeline.core.store import Notes
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import find_program
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.verify import COUNT_ENV

if TYPE_CHECKING:
    from pipeline.evidence.model import ProgramShare

STAGE = "programs"
RESULT = "programs.json"
# gcc itself is a driver that only starts others; this is the compiler behind it.
COMPILER = "cc1"
ASK_LIMIT_S = 20.0


def programs(shop: Workshop, plain: Baseline, tuned: Library) -> tuple[ProgramShare, ...]:
    """Count real programs with both libraries; one that is not installed is named as skipped."""
    from pipeline.evidence.programs import PROGRAMS

    found = {one.program: _find(one.program) for one in PROGRAMS}
    parts = {
        "baseline": plain.library.digest,
        "tuned": tuned.digest,
        "programs": {name: str(path) for name, path in found.items()},
        "tools": shop.tool_keys,
        "evidence": digest_tree(shop.tree.root, ["pipeline/evidence", "pipeline/judge/counting"]),
    }

    def work(room: Path, line: StageLine) -> Notes:
        from pipeline.evidence.programs import Survey
        from pipeline.judge.geometry import machine_l1i

        survey = Survey(
            valgrind=shop.tools.path("valgrind"),
            libraries={"baseline": plain.library.path, "tuned": tuned.path},
            geometry=machine_l1i()[0],
            env=COUNT_ENV,
            logs=shop.log(STAGE, "").parent,
        )
        shares = []
        for one in PROGRAMS:
            line.step(one.name)
            shares.append(survey.of(one, found[one.program]).model_dump(mode="json"))
        (room / RESULT).write_text(json.dumps(shares, indent=1), encoding="utf-8")
        return {"status": {row["name"]: row["status"] for row in shares}}

    made = shop.do(STAGE, parts, work, summary=_summary)
    return _read(made.path(RESULT))


def _find(name: str) -> Path | None:
    if name != COMPILER:
        return find_program(name)
    driver = find_program("gcc")
    if driver is None:
        return None
    try:
        said = run([driver, f"-print-prog-name={COMPILER}"], timeout_s=ASK_LIMIT_S).stdout.strip()
    except ChildError:
        return None
    return Path(said) if Path(said).is_absolute() else None


def _read(path: Path) -> tuple[ProgramShare, ...]:
    from pipeline.evidence.model import ProgramShare

    rows = json.loads(path.read_text(encoding="utf-8"))
    return tuple(ProgramShare.model_validate(row) for row in rows)


def _summary(notes: Notes) -> str:
    return ", ".join(f"{name} {status}" for name, status in notes["status"].items())
