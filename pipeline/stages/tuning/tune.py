"""tune: the geometry of the allocator chosen for the training workloads, by measuring.

What is found is for the kind of processor that measured. Not part of a build without --tune-budget:
that takes the files of layouts/<profile>/ as they are.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.closure import closure_digest
from pipeline.core.console import Say
from pipeline.core.digest import digest_file, digest_value
from pipeline.core.files import replace_text
from pipeline.core.processor import ANY
from pipeline.geometry.load import common_geometry, kind_for, load_geometry
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_default, write_toml
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.compile import LIBRARY, build_plain
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.programs import command_path, require_program
from pipeline.stages.build.workloads import command_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.tuning.traces import training_traces
from pipeline.toolchain.flags import ALIGNED, COMPILE, LINK, spelled

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry
    from pipeline.judge.request import BenchCommand
    from pipeline.tune.ground import Block
    from pipeline.tune.measure import File
    from pipeline.tune.trial import Ground
    from pipeline.tune.tuning import Outcome

STAGE = "tune"
MEASURING = "pipeline.tune.trial"
"""The module that judges candidates: what it uses of the judge decides results."""
BLOCK, REPORT = "block.json", "report.md"
# What a block of pairs may take: shorter ones say nothing, longer ones leave no room to choose.
LEAST_BLOCK_S, MOST_BLOCK_S = 3.0, 30.0
# A block's share of the budget: a race of 20 moves, combinations and the confirmation are some 60
# blocks, and compiling takes time as well.
BLOCK_SHARE = 1 / 70


def tune(
    shop: Workshop, setup: Setup, plain: Baseline, budget_s: float, scheduler: str | None = None
) -> tuple[Outcome, str]:
    """Search for about ``budget_s`` seconds, write the geometry; return what came of both.

    ``setup`` is as the stage record leaves it. ``scheduler`` says who measures, as
    :func:`~pipeline.tune.engine.engine_for` has it. Measurements of earlier runs are taken over.
    """
    started = time.monotonic()
    traces = training_traces(shop, setup, plain)
    with shop.console.stage(STAGE) as line:
        say = line.step
        say("loading the models")
        from pipeline.tune.engine import engine_for
        from pipeline.tune.evidence import gather
        from pipeline.tune.moves import proposals
        from pipeline.tune.report import markdown
        from pipeline.tune.search import Measurer
        from pipeline.tune.state import Journal
        from pipeline.tune.tuning import Tuner

        folder, base = _folder(shop), _base(shop)
        with engine_for(scheduler, shop.console.say) as engine:
            evidence = gather(list(traces.values()), base, shop.profile.tune.unseen_waste)
            moves = proposals(evidence, base)
            say(f"{len(moves)} changes to try")
            threads = {name: trace.process.threads for name, (trace, _) in traces.items()}
            builder = CandidateBuilder(shop, setup, say)
            benches = _benches(shop, setup, plain, threads)
            context = context_of(shop, setup, plain, benches)
            ground = _ground(shop, plain, benches, builder(base), context, budget_s)
            measurer = Measurer(ground, engine, Journal(folder / "results.jsonl"), say)
            tuner = Tuner(base, moves, builder, measurer)
            outcome = tuner.run(budget_s - (time.monotonic() - started))
        earlier = f" ({n} blocks by earlier runs)" if (n := measurer.taken_over) else ""
        replace_text(folder / REPORT, markdown(outcome, shop.profile.name))
        line.done(f"{outcome.why}; {n + measurer.made} blocks of pairs{earlier}")
    return outcome, _write(shop, outcome, base)


def _base(shop: Workshop) -> Geometry:
    """Return what a search starts from: what holds for all, when it is for one kind."""
    if shop.options.processor == ANY:
        return default_geometry(shop.tree)
    return common_geometry(shop.tree, shop.profile.name)


def _write(shop: Workshop, outcome: Outcome, base: Geometry) -> str:
    """Write the geometry that was found, or that none was, and return that in words.

    A search that found nothing better than the default says nothing against a file that an earlier
    one has written, or a person.
    """
    from pipeline.tune.report import worths

    processor, profile = shop.options.processor, shop.profile.name
    path = shop.tree.geometry(profile, None if processor == ANY else processor)
    if outcome.geometry is not None:
        write_toml(outcome.geometry.for_processor(processor), base, path)
        return f"written: {path}; `{shop.command}` reads it on {_where(processor)}"
    if _is_cut(shop, base):
        kept = shop.tree.geometry(profile, kind_for(shop.tree, profile, processor))
        return f"{kept} stays as it was: `{shop.command}` goes on as before"
    if not outcome.nothing_pays:
        return f"no geometry was written: `{shop.command}` goes on as before"
    write_default(outcome.why, worths(outcome), path, processor)
    return f"written: {path}, which says so; the library stays as it was without it"


def _where(processor: str) -> str:
    return "every machine" if processor == ANY else f"machines with {processor}"


def _is_cut(shop: Workshop, base: Geometry) -> bool:
    """Return whether there is a geometry beside ``base``, which the search started from."""
    found = load_geometry(shop.tree, shop.profile.name, shop.options.processor)
    return (found or default_geometry(shop.tree)).digest != base.digest


def _folder(shop: Workshop) -> Path:
    return shop.tree.artifacts(shop.line) / STAGE


class CandidateBuilder:
    """Compiles candidates as the baseline, each geometry once for these sources.

    Functions start on cache lines, as in the tuned library: their alignment is one of the moves.
    """

    def __init__(self, shop: Workshop, setup: Setup, say: Say) -> None:
        self._shop = shop
        self._say = say
        made_by = [setup.sources, spelled(COMPILE, ALIGNED, LINK), shop.tool_keys]
        libraries = _folder(shop) / "libraries"
        self._folder = libraries / digest_value(made_by)[:16]
        for stale in libraries.glob("*"):
            if stale != self._folder:
                shutil.rmtree(stale, ignore_errors=True)

    def __call__(self, geometry: Geometry) -> File:
        """Return the library of a geometry. BuildError if the compiler refuses it."""
        from pipeline.tune.measure import File

        place = self._folder / geometry.digest[:16]
        if not place.exists():
            self._say(f"compiling candidate {len(list(self._folder.glob('[!.]*'))) + 1}")
            room = place.with_name(f".{place.name}.{os.getpid()}")
            shutil.rmtree(room, ignore_errors=True)
            room.mkdir(parents=True)
            build_plain(self._shop, STAGE, room, geometry, further=ALIGNED)
            room.rename(place)
        library = place / LIBRARY
        return File(library, digest_file(library))


def context_of(
    shop: Workshop, setup: Setup, plain: Baseline, benches: tuple[BenchCommand, ...]
) -> str:
    """Return a digest of what decides results beside the libraries."""
    return digest_value(
        {
            "programs": plain.artifact.receipt.outputs,
            "workloads": [[bench.name, *bench.argv, str(bench.weight)] for bench in benches],
            "environment": [sorted(bench.env.items()) for bench in benches],
            "commands": command_keys(shop, setup.training),
            "judge": closure_digest(MEASURING),
            "tools": shop.tool_keys,
        }
    )


def _ground(
    shop: Workshop,
    plain: Baseline,
    benches: tuple[BenchCommand, ...],
    default: File,
    context: str,
    budget_s: float,
) -> Ground:
    """Return what is measured, and against what: the training workloads, the library as it is.

    A ``context`` has a block of its own, and results that no other takes over.
    """
    from pipeline.judge.request import JudgeRequest, Margins
    from pipeline.tune.ground import remembered_block
    from pipeline.tune.trial import Ground

    gate = shop.profile.gate
    block = remembered_block(
        _folder(shop) / BLOCK, context, lambda: _block(shop, benches, plain, budget_s)
    )
    if block.left_out:
        shop.console.notice(
            f"too long to be run again and again: {', '.join(block.left_out)}; "
            f"a larger --tune-budget takes them in, once {_folder(shop) / BLOCK} is removed"
        )
    request = JudgeRequest(
        baseline=default.path,
        tuned=default.path,
        benches=tuple(bench for bench in benches if bench.name in block.pairs),
        logs=shop.log(STAGE, "").parent,
        margins=Margins(
            throughput=gate.throughput_margin,
            workload=gate.workload_allowance,
            rss=gate.rss_margin,
        ),
        seed=gate.seed,
    )
    processor = shop.options.processor
    return Ground(default, request.benches, block.pairs, block.seconds, request, context, processor)


def _benches(
    shop: Workshop, setup: Setup, plain: Baseline, threads: Mapping[str, int]
) -> tuple[BenchCommand, ...]:
    from pipeline.tune.ground import Places, commands

    places = Places(plain.program, require_program, shop.tree.root, command_path())
    return commands(setup.training, places, threads)


def _block(
    shop: Workshop, benches: tuple[BenchCommand, ...], plain: Baseline, budget_s: float
) -> Block:
    """Run each workload twice, for its cost, and share out the time of a block by that."""
    from pipeline.judge.bench import timed_run
    from pipeline.tune.ground import block_of

    costs = {}
    for bench in benches:
        log = shop.log(STAGE, f"cost-{bench.name}")
        timed_run(bench, plain.library.path, 0, log)
        before = time.monotonic()
        timed_run(bench, plain.library.path, 0, log)
        costs[bench.name] = 2 * (time.monotonic() - before)
    seconds = min(MOST_BLOCK_S, max(LEAST_BLOCK_S, budget_s * BLOCK_SHARE))
    return block_of(benches, costs, seconds)
