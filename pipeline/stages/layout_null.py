"""layout-null: random layouts of the same code, to show that the tuned one is not luck."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_tree
from pipeline.core.store import Notes
from pipeline.geometry.code import alignment
from pipeline.stages.baseline import Baseline
from pipeline.stages.bolt_instrument import bolt_run
from pipeline.stages.bolt_train import EdgeProfile
from pipeline.stages.configure import Setup
from pipeline.stages.verify import judge_request
from pipeline.stages.workloads import workload_keys
from pipeline.stages.workshop import Library, Workshop
from pipeline.toolchain.flags import BOLT_RANDOM, spelled, texts

if TYPE_CHECKING:
    from pipeline.evidence.model import LayoutNull

STAGE = "layout-null"
RESULT, NOTHING = "layout-null.json", "null"
LAYOUTS, THOROUGH_LAYOUTS = 16, 100


def layout_null(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    tuned: Library,
    linked: Library,
    edges: EdgeProfile,
) -> LayoutNull | None:
    """Count random layouts of ``linked``, the library that ``tuned`` is a layout of.

    None where no workload presses on the I-cache: then no layout has a miss to save.
    """
    seeds = range(1, 1 + (THOROUGH_LAYOUTS if shop.options.thorough else LAYOUTS))
    parts = {
        "baseline": plain.library.digest,
        "tuned": tuned.digest,
        "linked": linked.digest,
        "profile": edges.digest,
        "programs": setup.programs,
        "workloads": workload_keys(shop, setup.verifying),
        "tools": shop.tool_keys,
        "flags": spelled(BOLT_RANDOM),
        "judge": digest_tree(shop.tree.root, ["pipeline/judge", "pipeline/evidence"]),
        "layouts": len(seeds),
    }

    def work(room: Path, line: StageLine) -> Notes:
        from pipeline.evidence.null import judge_layout

        line.step(f"making {len(seeds)} random layouts")
        align = alignment(setup.geometry)
        libraries = {seed: _shuffle(shop, linked, edges, room, seed, align) for seed in seeds}
        request = judge_request(shop, setup, plain, tuned, brief=True)
        request = replace(request, logs=shop.log(STAGE, "").parent)
        result = judge_layout(request, libraries, line.step)
        shutil.rmtree(room / "random")
        text = result.model_dump_json(indent=1) if result else NOTHING
        (room / RESULT).write_text(text, encoding="utf-8")
        return {"reason": result.reason if result else "no workload presses on the I-cache"}

    made = shop.do(STAGE, parts, work, summary=lambda n: str(n["reason"]))
    return _read(made.path(RESULT))


def _shuffle(
    shop: Workshop, linked: Library, edges: EdgeProfile, room: Path, seed: int, align: int
) -> Path:
    """Make one random layout; each in a folder of its own, as the counter goes by file names."""
    output = room / "random" / str(seed) / linked.path.name
    output.parent.mkdir(parents=True)
    flags = texts(BOLT_RANDOM, seed=seed, align=align)
    bolt_run(shop, STAGE, f"seed-{seed}", [linked.path, "-o", output, "--data", edges.path, *flags])
    return output


def _read(path: Path) -> LayoutNull | None:
    from pipeline.evidence.model import LayoutNull

    text = path.read_text(encoding="utf-8")
    return None if text == NOTHING else LayoutNull.model_validate_json(text)
