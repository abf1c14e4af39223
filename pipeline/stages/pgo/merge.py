"""merge: one weighted profile from all raw ones, checked for the functions that must be hot.

The profile of a second pass is merged with the first one's: the file then has both levels, and the
compiler takes each where it belongs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_file
from pipeline.core.errors import ChildError, DataError
from pipeline.core.process import run
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.core.variant import PRODUCTION
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.train import Training
from pipeline.toolchain.profdata import PROFDATA, read_counts

STAGE, SECOND = "merge", "context-merge"
LIMIT_S = 120.0


@dataclass(frozen=True)
class ProfileData:
    """A merged, indexed profile for -fprofile-use."""

    path: Path
    digest: str
    artifact: Artifact


def merge(shop: Workshop, training: Training, first: ProfileData | None = None) -> ProfileData:
    """Merge the raw profiles by their factors. DataError if nothing usable is left.

    ``first`` is the profile of the first pass, when ``training`` is the second. Profiles and
    samples from elsewhere are part of the first, in production.
    """
    from pipeline.fleet.merging import read_origin

    stage = SECOND if first else STAGE
    imported, samples = _from_elsewhere(shop, first)
    parts = {
        "raw": dict(training.artifact.receipt.outputs),
        "factors": training.factors,
        "tools": shop.tool_keys,
        "must_be_hot": list(shop.profile.layout.must_be_hot),
        "imported": [digest_file(imported), read_origin(imported)] if imported else "",
        "samples": digest_file(samples) if samples else "",
        "first": first.digest if first else None,
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("merging the raw profiles")
        corrupt = _merge(shop, stage, training, first, room)
        taken_in = _take_in(shop, imported, room / PROFDATA) if imported else None
        made_hot = _supplement(shop, samples, room / PROFDATA) if samples else []
        counts = function_counts(shop, room / PROFDATA, second=first is not None)
        _require_hot(shop, counts)
        return {
            "functions": len(counts),
            "ran": sum(c > 0 for c in counts.values()),
            "corrupt": corrupt,
            "imported": taken_in,
            "made_hot": made_hot,
        }

    made = shop.do(stage, parts, work, summary=_summary)
    for name in made.receipt.notes["corrupt"]:
        shop.console.notice(f"the raw profile {name} is corrupt and was left out")
    return ProfileData(made.path(PROFDATA), made.digest(PROFDATA), made)


def _from_elsewhere(shop: Workshop, first: ProfileData | None) -> tuple[Path | None, Path | None]:
    """Return the imported profile and samples, where they are part of this pass.

    Counts from elsewhere are of production's code.
    """
    from pipeline.fleet.sources import FOR_PGO

    if first is not None or shop.options.variant != PRODUCTION:
        return None, None
    folder = shop.tree.imported(shop.profile.name)
    imported, samples = folder / PROFDATA, folder / FOR_PGO
    return imported if imported.exists() else None, samples if samples.exists() else None


def function_counts(shop: Workshop, profdata: Path, *, second: bool = False) -> dict[str, int]:
    """Return the highest block count of each function in an indexed profile, of one pass."""
    tool, log = shop.tools.path("llvm-profdata"), shop.log(STAGE, "show")
    return read_counts(tool, profdata, log, second=second)


def again(shop: Workshop) -> str:
    """Return the hint for counts that are of no use."""
    return f"train again: `{shop.command} --from train`"


def _merge(
    shop: Workshop, stage: str, training: Training, first: ProfileData | None, room: Path
) -> list[str]:
    """Merge into the room and return the names of the raw files that could not be read."""
    rows = [
        f"{factor},{raw}\n"
        for name, factor in training.factors.items()
        for raw in training.raw(name)
    ]
    inputs, output = room / "inputs.txt", room / PROFDATA
    inputs.write_text("".join([*rows, *([f"1,{first.path}\n"] if first else [])]), encoding="utf-8")
    argv: list[str | Path] = [
        shop.tools.path("llvm-profdata"),
        "merge",
        "--failure-mode=warn",
        f"--input-files={inputs}",
        "-o",
        output,
    ]
    try:
        done = run(argv, log=shop.log(stage, "merge"), timeout_s=LIMIT_S)
    except ChildError as error:
        raise DataError(
            f"no raw profile could be merged: {error.message}", hint=again(shop), log=error.log
        ) from error
    finally:
        inputs.unlink()
    return [
        f"{Path(path).parent.name}/{Path(path).name}"
        for path in re.findall(r"^warning: (/\S+?\.profraw):", done.stderr, re.M)
    ]


def _take_in(shop: Workshop, imported: Path, merged: Path) -> Notes:
    """Add the imported profile, as heavy as the training, to the merged one; say what it was."""
    from pipeline.fleet.merging import combine, read_origin

    training = merged.with_name("training.profdata")
    merged.rename(training)
    factors = combine(shop.tools.path("llvm-profdata"), training, imported, merged)
    training.unlink()
    return {
        "sha256": digest_file(imported),
        "factors": factors,
        "from": read_origin(imported),
    }


def _supplement(shop: Workshop, samples: Path, merged: Path) -> list[str]:
    """Make hot what the training finds cold and samples find hot; return those functions.

    LLVM does no more with samples beside counts. Where it finds nothing of the kind the profile
    stays as it is, to the byte: branch stacks fit none but the library that it makes.
    """
    before, supplemented = function_counts(shop, merged), merged.with_name("supplemented.profdata")
    argv: list[str | Path] = [
        shop.tools.path("llvm-profdata"),
        "merge",
        f"--supplement-instr-with-sample={samples}",
        merged,
        "-o",
        supplemented,
    ]
    try:
        run(argv, log=shop.log(STAGE, "samples"), timeout_s=LIMIT_S)
    except ChildError as error:
        raise DataError(
            f"the imported samples cannot be read: {error.message}",
            hint=f"remove {samples}, or import them again",
            log=error.log,
        ) from error
    after = function_counts(shop, supplemented)
    hotter = sorted(name for name, count in after.items() if count != before.get(name))
    if hotter:
        supplemented.replace(merged)
    else:
        supplemented.unlink()
    return hotter


def _require_hot(shop: Workshop, counts: dict[str, int]) -> None:
    if not counts:
        raise DataError(
            "the merged profile has no functions", hint=again(shop), log=shop.log(STAGE, "merge")
        )
    idle = [name for name in shop.profile.layout.must_be_hot if not counts.get(name)]
    if idle:
        raise DataError(
            f"the training never ran {', '.join(idle)}",
            log=shop.log(STAGE, "show"),
            hint="add a workload that does, or change layout.must_be_hot in the profile",
        )


def _summary(notes: Notes) -> str:
    imported = ", with an imported profile" if notes["imported"] else ""
    hotter = f", {len(notes['made_hot'])} made hot by samples" if notes["made_hot"] else ""
    return f"{notes['ran']} of {notes['functions']} functions ran{imported}{hotter}"
