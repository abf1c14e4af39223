"""against-current: a new library directly against the one that `current` points to, briefly.

What makes the baseline slower as well, no verdict over that baseline shows.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_file
from pipeline.core.errors import WorkloadError
from pipeline.core.receipt import Notes
from pipeline.release.version import Version
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.pair import pair_parts, pair_request

if TYPE_CHECKING:
    from pipeline.judge.direct_speed import DirectSpeed

STAGE, FILE = "against-current", "against-current.json"


def against_current(
    shop: Workshop, setup: Setup, plain: Baseline, tuned: Library, now: Version
) -> DirectSpeed | None:
    """Judge the speed of ``tuned`` against that of ``now``; None where a run with it fails."""
    try:
        return _judged(_briefly(shop), setup, plain, tuned, now)
    except WorkloadError as error:
        shop.console.notice(f"not judged directly against {now.name}: {error.message}")
        return None


def _briefly(shop: Workshop) -> Workshop:
    """Return the surroundings with the short runs and the budget of --quick, whatever the mode."""
    options = replace(shop.options, quick=True, thorough=False, verify_s=None)
    return replace(shop, options=options)


def _judged(
    shop: Workshop, setup: Setup, plain: Baseline, tuned: Library, now: Version
) -> DirectSpeed:
    library = digest_file(now.library)

    def work(room: Path, line: StageLine) -> Notes:
        line.step("loading the judge")
        from pipeline.judge.direct_speed import direct_speed

        request = pair_request(shop, setup, plain, tuned, now.library, STAGE)
        found = direct_speed(request, now.name, library, line.step)
        (room / FILE).write_text(found.model_dump_json(indent=1), encoding="utf-8")
        return {"said": f"against {now.name}: {found.key.reason}"}

    parts = {**pair_parts(shop, setup, tuned), "current": library, "version": now.name}
    made = shop.do(STAGE, parts, work, summary=lambda notes: str(notes["said"]))
    from pipeline.judge.direct_speed import DirectSpeed

    return DirectSpeed.model_validate_json(made.path(FILE).read_text(encoding="utf-8"))
