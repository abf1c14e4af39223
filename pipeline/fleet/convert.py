"""perf.data becomes a source of the profile: by perf2bolt and llvm-profgen, or by symbols alone."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.digest import digest_file
from pipeline.core.errors import ChildError, DataError
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.fleet.aggregated import (
    aggregated_samples,
    aggregated_stacks,
    known_addresses,
    moved_stacks,
    unsymbolized,
)
from pipeline.fleet.branches import Stacks, read_stacks
from pipeline.fleet.merging import Given
from pipeline.fleet.sampled import Sampled, find_sampled, given_to_bolt, sampled_build
from pipeline.fleet.samples import (
    BETWEEN,
    LIMIT_S,
    UNMAPPED,
    Samples,
    by_function,
    event_of,
    read_samples,
)
from pipeline.fleet.sources import Source
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.text_map import read_text_map

FEWEST, FEWEST_OF_FUNCTION = 1000, 10
"""Samples below which a file is refused, and a function not called hot by them. A function with one
per cent of the library's time has 10 of 1000 samples, and 10 are known to within a third (their
root is 3). One sample is an accident: the first try made a function hot by one of 2,069."""
# How BOLT calls a static function after LTO: the file is the linker's temporary one for all.
_LTO_FILE = "/ld-temp.o/"


@dataclass(frozen=True)
class Tools:
    """The programs that read and convert samples."""

    perf: Path
    llvm: Path

    @property
    def perf2bolt(self) -> Path:
        """LLVM's reader of samples for BOLT."""
        return self.llvm / "perf2bolt"

    @property
    def profgen(self) -> Path:
        """LLVM's reader of samples for the compiler."""
        return self.llvm / "llvm-profgen"


@dataclass(frozen=True)
class Converted:
    """A source; its samples by source line, as LLVM's text, empty where the tools cannot tell."""

    source: Source
    for_pgo: str = ""


def convert(tree: Tree, tools: Tools, profile: str, given: Given) -> Converted:
    """Return what ``given`` says of the library. DataError if it says too little to be used."""
    samples = read_samples(tools.perf, given.path)
    known = samples.inside - samples.offsets[UNMAPPED]
    if samples.library is None or known < FEWEST:
        raise DataError(
            f"{given.path} has {known:,} samples in the library, and a build takes {FEWEST:,} or "
            "more",
            hint="sample a process that is busy with libhakmem for longer: "
            "`.venv/bin/pipeline sample --pid PID --seconds 60`",
        )
    sampled = find_sampled(tree, profile, sampled_build(tools.perf, given.path, samples.library))
    source = Source(
        file=given.path.name,
        sha256=digest_file(given.path),
        weight=given.weight,
        event=event_of(tools.perf, given.path),
        samples=known,
        build_id=sampled.build_id,
        functions=_by_symbols(samples, sampled),
    )
    stacks = read_stacks(tools.perf, given.path)
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        room = Path(folder)
        source = _by_perf2bolt(tools, room, source, sampled, samples, stacks)
        lines = _by_profgen(tools, room, sampled, samples, stacks)
        return Converted(source, well_seen(lines, source.functions))


def well_seen(lines: str, functions: Mapping[str, int]) -> str:
    """Return those functions of LLVM's text of samples that have FEWEST_OF_FUNCTION at least.

    A function begins at the left edge; what is inside it and inlined there stands further right.
    """
    kept, good = [], False
    for line in lines.splitlines(keepends=True):
        if not line.startswith(" "):
            good = functions.get(line.split(":")[0], 0) >= FEWEST_OF_FUNCTION
        kept.append(line if good else "")
    return "".join(kept)


def _by_symbols(samples: Samples, sampled: Sampled) -> dict[str, int]:
    """Return samples by function; what was split off a function counts for it."""
    text = read_text_map(sampled.unstripped or sampled.library)
    parents = {one.name: one.parent for one in text.functions if one.parent}
    counts: Counter[str] = Counter()
    for name, count in by_function(samples, sampled.library, text).items():
        counts[parents.get(name) or name] += count
    return {name: count for name, count in sorted(counts.items()) if name != BETWEEN}


def _by_perf2bolt(
    tools: Tools,
    room: Path,
    source: Source,
    sampled: Sampled,
    samples: Samples,
    stacks: Stacks | None,
) -> Source:
    """Return ``source`` with what perf2bolt says; as it is where perf2bolt cannot be asked."""
    input_id = given_to_bolt(sampled)
    if sampled.unstripped is None or input_id is None or not tools.perf2bolt.is_file():
        return source
    lines = (
        aggregated_stacks(moved_stacks(stacks, sampled.library))
        if stacks
        else aggregated_samples(known_addresses(samples, sampled.library))
    )
    added, output = room / "aggregated", room / "bolt.fdata"
    added.write_text(f"E {source.event}\n" + "".join(lines), encoding="utf-8")
    flags = () if stacks else ("--basic-events",)
    argv = [tools.perf2bolt, sampled.unstripped, "--pa", *flags, "-p", added, "-o", output]
    try:
        run(argv, timeout_s=LIMIT_S)
        text = output.read_text(encoding="utf-8").replace(_LTO_FILE, "/")
    except (ChildError, OSError):  # LLVM 19 reads no such samples: symbols tell functions, too
        return source
    if stacks:
        return replace(source, edges=edge_lines(text), edges_of=input_id)
    return replace(source, functions=sampled_functions(text) or source.functions)


def edge_lines(text: str) -> tuple[str, ...]:
    """Return the lines of BOLT's profile without its heads, which say how it was collected."""
    rows = sorted(line for line in text.splitlines() if line[:1].isdigit())
    edges = Edges()
    return tuple(rows) if edges.add_lines(rows, 1) and edges.taken.total() else ()


def sampled_functions(text: str) -> dict[str, int]:
    """Return samples by function from what perf2bolt writes for samples without branch stacks."""
    counts: Counter[str] = Counter()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[0] == "1":
            counts[fields[1].split("/")[0]] += int(fields[3])
    return dict(sorted(counts.items()))


def _by_profgen(
    tools: Tools, room: Path, sampled: Sampled, samples: Samples, stacks: Stacks | None
) -> str:
    """Return the samples by source line, as LLVM's text; empty where llvm-profgen cannot tell."""
    if sampled.unstripped is None or not tools.profgen.is_file():
        return ""
    given, output = room / "unsymbolized", room / "samples.prof"
    given.write_text(unsymbolized(sampled.library, samples, stacks), encoding="utf-8")
    files = (f"--binary={sampled.unstripped}", f"--unsymbolized-profile={given}")
    try:
        run([tools.profgen, *files, "--format=text", "-o", output], timeout_s=LIMIT_S)
        return output.read_text(encoding="utf-8")
    except (ChildError, OSError):
        return ""
