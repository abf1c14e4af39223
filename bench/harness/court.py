"""Real judgements whose answer is known, on this machine: runs by the hundred for each of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from bench.harness.dosed import at_length, dose_of, dosed, quiet, runner_of
from bench.harness.judged import LONG, ONE_DOSE, SAME, SHUFFLED, SLOWED, Judged, judged
from bench.harness.shuffle import SECTIONS, build_archive, link_listed, link_shuffled
from pipeline.core.console import open_console
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.judge import selfcheck
from pipeline.judge.counting.told import Told, as_program, joined
from pipeline.judge.counting.whole import whole_counter
from pipeline.judge.counts import RealProgram
from pipeline.judge.icache import icache_key
from pipeline.judge.keys import throughput_key
from pipeline.judge.known import SelfJudgement
from pipeline.judge.request import JudgeRequest
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.profile.load import load_profile
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.slowdown import slowdown
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.proof.request import judge_request
from pipeline.toolchain.find import find_toolchain

Answer = tuple[Verdict, Interval | None, int | None]

TIMES_AS_LONG = 5
"""What is measured at length takes so many budgets of a judgement, and of its fewest pairs."""


@dataclass(frozen=True)
class Court:
    """What is judged: the request of a full build, a listed layout, an archive to be shuffled.

    ``known_rounds`` is the one dose of all workloads, where an earlier run has calibrated it.
    """

    shop: Workshop
    request: JudgeRequest
    listed: Path
    archive: Path
    known_rounds: int | None = None

    def judge(self, kind: str, seed: int, room: Path) -> Judged:
        """Make the judgement of ``kind`` with this seed; scratch files go into ``room``."""
        started = time.monotonic()
        judges: dict[str, Callable[[JudgeRequest], Answer]] = {
            SAME: _same,
            SLOWED: _slowed,
            SHUFFLED: self._shuffled,
            ONE_DOSE: self._one_dose,
            LONG: self._at_length,
        }
        rounds = self.rounds if kind in (ONE_DOSE, LONG) else None
        answer = judges[kind](replace(self.request, seed=seed, logs=room))
        seconds, load = time.monotonic() - started, os.getloadavg()[0]
        return judged(kind, seed, answer, seconds=seconds, load=load, rounds=rounds)

    @cached_property
    def rounds(self) -> int:
        """How many rounds in every workload make all together lose 2 %."""
        if self.known_rounds is not None:
            return self.known_rounds
        library, logs = _slowed_library(self.request), self.request.logs / "dose"
        return dose_of(self.request.benches, runner_of(library, logs))

    def _one_dose(self, request: JudgeRequest) -> Answer:
        asked = replace(dosed(request, self.rounds), time_budget_s=request.self_check_s)
        runner = runner_of(_slowed_library(request), request.logs)
        return _answer(selfcheck.judgement("known slowdown", asked, runner, quiet))

    def _at_length(self, request: JudgeRequest) -> Answer:
        budget_s = TIMES_AS_LONG * request.self_check_s
        asked = replace(dosed(request, self.rounds), time_budget_s=budget_s)
        runner = runner_of(_slowed_library(request), request.logs)
        found = at_length(asked, runner, TIMES_AS_LONG)
        return throughput_key(found, asked.margins).verdict, found.overall, found.pairs

    def _shuffled(self, request: JudgeRequest) -> Answer:
        output = request.logs / "shuffled.so"
        link_shuffled(self.shop, self.archive, request.seed, output)
        key = icache_key(self._programs(request, output), request.margins)
        return key.verdict, key.ratio, None

    def _programs(self, request: JudgeRequest, shuffled: Path) -> tuple[RealProgram, ...]:
        """Return the counts of both layouts; of the listed one as they were counted first."""
        told = whole_counter(request).count({"tuned": shuffled}, request.tasks)
        return tuple(map(as_program, joined(self._listed_counts, told)))

    @cached_property
    def _listed_counts(self) -> tuple[Told, ...]:
        counter = whole_counter(self.request, "listed")
        return counter.count({"baseline": self.listed}, self.request.tasks)


def _same(request: JudgeRequest) -> Answer:
    return _answer(selfcheck.same_build(request, quiet))


def _slowed(request: JudgeRequest) -> Answer:
    return _answer(selfcheck.known_slowdown(request, _slowed_library(request), quiet))


def _slowed_library(request: JudgeRequest) -> Path:
    if request.slowed is None:
        raise ValueError("there is no library that can be slowed down")
    return request.slowed


def _answer(judged: SelfJudgement) -> Answer:
    return judged.verdict, judged.throughput.overall, judged.throughput.pairs


def open_court(name: str, seconds: float, room: Path, rounds: int | None = None) -> Court:
    """Build what is judged, by the stages of the pipeline, for the profile ``name``."""
    tree = Tree.here()
    store = Store(tree.artifacts(name))
    profile, tools = load_profile(tree, name), find_toolchain()
    shop = Workshop(tree, profile, tools, store, open_console(False), Options())
    setup = configure(shop)
    plain = baseline(shop, setup)
    request = judge_request(shop, setup, plain, plain.library, slowdown(shop, setup))
    archive = build_archive(shop, room / "shuffled", SECTIONS)
    asked = replace(request, self_check_s=seconds, logs=room)
    return Court(shop, asked, link_listed(shop, room), archive, rounds)
