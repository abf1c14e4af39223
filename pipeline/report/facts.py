"""What a report reads from files when a version is published: text maps, counts, drift."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.errors import ChildError, PipelineError
from pipeline.core.process import run
from pipeline.layout.check import Finding
from pipeline.layout.heat import read_heat
from pipeline.layout.inlined import inlined_into
from pipeline.report.code import code_map
from pipeline.report.code_model import CodeMap
from pipeline.report.made_model import Overlap
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_map import read_text_map

LIMIT_S = 60.0
BY_PROFILE = "executions of the hottest block, from the merged profile"
BY_EDGES = "entries, from BOLT's edge counts"
UNCOUNTED = "not counted: this build has no profile"


@dataclass(frozen=True)
class Build:
    """One library and what it was compiled by; a profile that it lacks is None."""

    library: Path
    counts: Mapping[str, int] | None = None
    edges: Path | None = None


@dataclass(frozen=True)
class Facts:
    """What was read. ``code`` is None where it could not be; ``reason`` then says why.

    ``inlined`` says of functions without code of their own where they have gone.
    """

    code: tuple[CodeMap, CodeMap] | None
    reason: str
    overlap: Overlap
    inlined: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contract: tuple[Finding, ...] | None = None


def read_code(
    baseline: Build, tuned: Build, lists: SymbolLists
) -> tuple[tuple[CodeMap, CodeMap] | None, str]:
    """Return both maps, or None and why they could not be read."""
    try:
        return (_map("baseline", baseline, lists), _map("tuned", tuned, lists)), ""
    except PipelineError as error:
        return None, error.message


def read_inlined(code: tuple[CodeMap, CodeMap], unstripped: Path) -> dict[str, list[str]]:
    """Return where the functions of the baseline went that the other library lacks."""
    before, after = ({one.name for one in side.functions} for side in code)
    return inlined_into(unstripped, before - after)


def read_overlap(
    profdata: Path, older: Path | None, version: str | None, tool: Path, log: Path
) -> Overlap:
    """Return how much this profile agrees with an older one, by llvm-profdata."""
    if older is None or version is None:
        return Overlap(version=version, edges=None, reason="no version before this one")
    if not older.is_file():
        return Overlap(version=version, edges=None, reason=f"{version} has kept no profile")
    try:
        said = run([tool, "overlap", older, profdata], log=log, timeout_s=LIMIT_S).stdout
    except ChildError as error:
        return Overlap(version=version, edges=None, reason=error.message)
    found = re.search(r"Edge profile overlap: ([0-9.]+)%", said)
    if found is None:
        return Overlap(version=version, edges=None, reason="llvm-profdata named no overlap")
    return Overlap(version=version, edges=float(found[1]), reason="llvm-profdata overlap")


def _map(build: str, made: Build, lists: SymbolLists) -> CodeMap:
    text = read_text_map(made.library)
    if made.edges is not None:
        entries = {name: heat.entries for name, heat in read_heat(made.edges).items()}
        return code_map(build, text, entries, BY_EDGES, lists)
    counted_by = UNCOUNTED if made.counts is None else BY_PROFILE
    return code_map(build, text, made.counts, counted_by, lists)
