"""Report models for tests: one that has everything, and one that is bad and lacks most."""

from __future__ import annotations

from typing import Any

from judge_support import (
    counting_of,
    counts,
    health_of,
    pairs,
    result_of,
    throughput_of,
    workload_counts,
)

from pipeline.core.receipt import Receipt
from pipeline.evidence.model import (
    Ablation,
    AblationStep,
    CurvePoint,
    Evidence,
    FunctionShare,
    LayoutNull,
    PerOperation,
    ProgramShare,
    SelfTime,
    SelfTimes,
    StaticText,
)
from pipeline.geometry.model import Difference
from pipeline.judge.counts import Counting
from pipeline.judge.known import Bloat, CountedJudgement, Dose, SelfCheck, SelfJudgement
from pipeline.judge.left_out import LeftOut, Subject
from pipeline.judge.model import VerifyResult
from pipeline.judge.request import CacheGeometry
from pipeline.judge.samples import Throughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.layout.check import Finding
from pipeline.report.build import Inputs, report_model
from pipeline.report.code import code_map
from pipeline.report.facts import BY_EDGES, BY_PROFILE, Facts
from pipeline.report.made_model import Overlap
from pipeline.report.model import ReportModel, Source
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_model import Function, Section, TextMap

LISTS = SymbolLists(hot=("hak_malloc", "hak_free", "pop"), cold=("hak_fatal",))


GEOMETRY = (
    Difference(
        what="small_depth",
        before="16",
        after="32",
        why="few threads, many sizes | each often",
        worth="+1.2 % [0.4, 2.0] throughput",
    ),
    Difference(
        what="class 432",
        before="",
        after="pages 1, depth 151, ULTRA",
        why="nodes",
        worth="RSS -3 %",
    ),
)


def receipt(key: str, seconds: float, notes: dict[str, Any] | None = None) -> Receipt:
    """Return how a stage was made, as far as a report looks at it."""
    return Receipt("any", key, {}, {}, seconds, notes or {})


RECEIPTS = {
    "train": receipt(
        "aaaaaaaaaaaaaaaa",
        12.25,
        {
            "workloads": {
                "server": {"weight": 2.0, "seconds": 1.5, "processes": 3},
                "git": {"weight": 1.0, "seconds": 0.5, "processes": 12},
            },
            "skipped": ["perl"],
        },
    ),
    "merge": receipt("bbbb", 0.5, {"functions": 120, "ran": 80, "corrupt": ["x.profraw"]}),
    "bolt-train": receipt(
        "cccc",
        9.0,
        {
            "workloads": {"server": {"processes": 3, "lost": 1, "corrupt": 0}},
            "branches": 1234,
        },
    ),
    "bolt": receipt(
        "dddd",
        2.0,
        {
            "order": {"placed": 40, "vanished_hot": ["pop"], "vanished_cold": []},
            "quality": "function CFG discontinuity 0.00%",
            "dyno_stats": {"taken branches": [1000, 600]},
            "bytes": 65536,
        },
    ),
}


def mixed() -> Throughput:
    return throughput_of(tiny=pairs(1.08), mixed=pairs(1.03), larson=pairs(0.985))


def mixed_counts() -> Counting:
    return counting_of(
        workload_counts("tiny", counts(0.001), counts(0.0005)),
        workload_counts("mixed", counts(4.0), counts(3.0)),
    )


def good() -> ReportModel:
    """Faster, fewer misses, and everything was measured."""
    return report_model(
        profile="mixed",
        version="0.1.0-abc",
        result=judged(),
        allow_neutral=False,
        allow_regression=("larson",),
        inputs=Inputs(
            receipts=RECEIPTS,
            evidence=evidence(),
            facts=facts(),
            previous=older(),
            geometry=GEOMETRY,
            source=Source(
                commit="0123abcd",
                clean=True,
                command="./bootstrap build --profile mixed --allow-regression larson",
            ),
        ),
    )


def older() -> ReportModel:
    """The version before: as fast over its baseline, and with fewer instructions."""
    fewer = workload_counts("mixed", counts(4.0), counts(3.5))
    instructions = fewer.tuned.instructions
    assert instructions is not None
    less = instructions.model_copy(update={"value": 25.0, "low": 25.0, "high": 25.0})
    tuned = fewer.tuned.model_copy(update={"instructions": less})
    result = result_of(mixed(), counting_of(fewer.model_copy(update={"tuned": tuned})))
    other = result.tuned.model_copy(update={"sha256": "f" * 64})
    return report_model(
        profile="mixed",
        version="0.1.0-old",
        result=result.model_copy(update={"tuned": other}),
        allow_neutral=False,
        allow_regression=("larson",),
        inputs=Inputs(receipts={}, facts=facts(shift=128)),
    )


def bad() -> ReportModel:
    """Slower, uncounted, unhealthy, and with no receipts: everything unknown is said."""
    result = result_of(
        throughput_of(mixed=pairs(0.97, rss=(40_000, 60_000))),
        Counting(source="static", why="valgrind is not installed", scope="sizes only"),
        health_of("failed"),
        programs=(),
    )
    return report_model(
        profile="mixed",
        version="0.1.0-bad",
        result=result.model_copy(
            update={"mode": "quick", "left_out": (LeftOut(Subject.SELF_CHECK, "at all"),)}
        ),
        allow_neutral=True,
        inputs=Inputs(receipts={}),
    )


def judged() -> VerifyResult:
    """Return a judgement with the judge's check of itself."""
    slow = throughput_of(tiny=pairs(0.98))
    check = SelfCheck(
        same_build=_judgement("same build", Verdict.NEUTRAL, throughput_of(tiny=pairs(1.0))),
        slowdown=_judgement("known slowdown", Verdict.NO_GO, slow),
        bloat=CountedJudgement(
            name="known bloat, I-cache",
            verdict=Verdict.NO_GO,
            expected=(Verdict.NO_GO,),
            alarming=(Verdict.GO, Verdict.NEUTRAL),
            reason="I1 misses +10 %",
            ratio=Interval(value=1.1, low=1.1, high=1.1, confidence=1.0),
            doses=(Bloat(task="gcc", lines=26, rise=0.1, probe_lines=256, probe_rise=1.0),),
        ),
    )
    return result_of(mixed(), mixed_counts()).model_copy(update={"self_check": check})


def _judgement(name: Any, verdict: Verdict, throughput: Throughput) -> SelfJudgement:
    dose = Dose(workload="tiny", rounds=9, loss=0.02, probe_rounds=90, probe_loss=0.2)
    slow = name == "known slowdown"
    return SelfJudgement(
        name=name,
        verdict=verdict,
        expected=(Verdict.NO_GO,) if slow else (Verdict.NEUTRAL, Verdict.INCONCLUSIVE),
        alarming=(Verdict.GO,) if slow else (Verdict.GO, Verdict.NO_GO),
        reason="as it should be",
        throughput=throughput,
        doses=(dose,) if slow else (),
    )


def facts(shift: int = 0) -> Facts:
    """Return text maps of two small libraries; ``shift`` moves the second one."""
    before = text(
        function("hak_free", 0x1000, 90),
        function("hak_fatal", 0x1060, 200),
        function("hak_malloc", 0x1140, 65, "malloc"),
        function("pop", 0x1190, 40),
        function("gone", 0x11B8, 4),
        function("stays", 0x11C0, 24),
    )
    at = 0x8000 + shift
    after = text(
        function("hak_malloc", at, 63, "malloc", part="hot"),
        function("hak_free", at + 64, 89),
        function("stays", at + 192, 24),
        function("hak_fatal", at + 256, 210),
        function("hak_malloc.cold.0", at + 0x3000, 70, part="cold", parent="hak_malloc"),
    )
    ran = {"hak_malloc": 9_000_000, "hak_free": 8_000_000, "pop": 5, "stays": 120}
    return Facts(
        code=(
            code_map("baseline", before, ran, BY_PROFILE, LISTS),
            code_map("tuned", after, ran, BY_EDGES, LISTS),
        ),
        reason="",
        overlap=Overlap(version="0.1.0-old", edges=97.7, reason="llvm-profdata overlap"),
        inlined={"pop": ["hak_malloc"]},
        contract=(
            Finding(rule="line", symbol="hak_free", text="starts inside a line", broken=True),
        ),
    )


def text(*functions: Function) -> TextMap:
    end = max(one.end for one in functions)
    start = functions[0].address
    section = Section(name=".text", address=start, size=end - start)
    return TextMap(build_id="ab" * 20, sections=(section,), functions=functions)


def function(name: str, address: int, size: int, *aliases: str, **more: Any) -> Function:
    return Function(name=name, aliases=aliases, address=address, size=size, section=".text", **more)


def evidence() -> Evidence:
    """Return everything that there can be, small."""
    sizes = (512, 1024, 4096, 16384, 65536)
    return Evidence(
        mode="default",
        left_out=(LeftOut(Subject.OTHER, "Nothing of the kernel is counted."),),
        per_operation=(
            PerOperation(build="baseline", pressure=True, workloads=("mixed",), instructions=30.0),
        ),
        curve=tuple(
            CurvePoint(
                geometry=CacheGeometry(size=size, ways=4),
                baseline=8.0 - number,
                tuned=None if number == 4 else 6.0 - number,
            )
            for number, size in enumerate(sizes)
        ),
        curve_workloads=("mixed",),
        static=(
            StaticText(build="baseline", text_bytes=20_000),
            StaticText(
                build="tuned",
                text_bytes=18_000,
                hot_bytes=4_000,
                cold_bytes=9_000,
                hot_lines=65,
                hot_pages=2,
            ),
        ),
        programs=(
            ProgramShare(
                name="python3",
                command="python3 -c pass",
                status="counted",
                detail="",
                baseline_instructions=0.05,
                tuned_instructions=0.045,
                baseline_i1_misses=0.02,
                tuned_i1_misses=0.01,
            ),
            ProgramShare(
                name="redis", command="redis-server", status="skipped", detail="not installed"
            ),
        ),
        self_times=SelfTimes(
            workloads=(
                SelfTime(
                    name="python-json",
                    samples=900,
                    inside=0.031,
                    functions=(
                        FunctionShare(name="hak_malloc", share=0.018),
                        FunctionShare(name="hak_free", share=0.012),
                    ),
                ),
                SelfTime(name="kv | mixed", reason="perf took no sample"),
            )
        ),
        layout_null=LayoutNull(
            source="valgrind",
            workloads=("mixed",),
            seeds=tuple(range(1, 11)),
            misses=tuple(3.5 + 0.1 * number for number in range(10)),
            tuned=3.0,
            baseline=4.0,
            percentile=0,
            rank=1,
            p_value=1 / 11,
            reason="fewer misses than all 10 random layouts",
        ),
        ablation=Ablation(
            steps=(
                _step("baseline", 0.95),
                _step("tune", 0.97),
                _step("pgo", 0.99),
                _step("bolt", None),
            ),
            chosen="bolt",
            reason="no simpler build is as good",
            icache_margin=0.05,
            throughput_margin=0.01,
        ),
    )


def _step(name: str, speed: float | None) -> AblationStep:
    known = speed is not None
    ratio = (
        Interval(value=speed, low=speed - 0.005, high=speed + 0.005, confidence=0.95)
        if speed
        else None
    )
    return AblationStep(
        name=name,
        adds=f"what {name} adds",
        instructions=30.0,
        i1_misses=4.0,
        hot_lines=20.0,
        text_bytes=20_000,
        speed=ratio,
        pairs=10 if known else None,
        as_few_misses=not known,
        as_fast=not known,
    )
