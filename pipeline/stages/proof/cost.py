"""cost: what a hardened build costs against production's published library. It decides nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_file
from pipeline.core.receipt import Notes
from pipeline.core.variant import PRODUCTION
from pipeline.release.current import current
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.pair import pair_parts, pair_request
from pipeline.stages.proof.request import budget_s

if TYPE_CHECKING:
    from pipeline.judge.cost import Cost

STAGE, FILE = "cost", "cost.json"


def cost(shop: Workshop, setup: Setup, plain: Baseline, tuned: Library) -> Cost | None:
    """Measure ``tuned`` against production's current version; None where there is none."""
    if shop.options.variant == PRODUCTION:
        return None
    production = current(shop.tree.dist(shop.profile.name))
    if production is None or not production.library.is_file():
        shop.console.notice("production is not published, so what this costs is not measured")
        return None
    parts = {
        **pair_parts(shop, setup, tuned),
        "production": digest_file(production.library),
        "version": production.name,
        "seconds": budget_s(shop),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("loading the judge")
        from pipeline.judge.cost import cost as measured

        request = pair_request(shop, setup, plain, tuned, production.library, STAGE)
        found = measured(request, production.name, line.step)
        (room / FILE).write_text(found.model_dump_json(indent=1), encoding="utf-8")
        return {"said": found.sentence}

    made = shop.do(STAGE, parts, work, summary=lambda notes: str(notes["said"]))
    from pipeline.judge.cost import Cost

    return Cost.model_validate_json(made.path(FILE).read_text(encoding="utf-8"))
