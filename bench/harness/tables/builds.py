"""Whole builds: which figures of a build's report are kept, and the tables of builds.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.harness.allocators import REPOSITORY
from bench.harness.report import markdown_table
from bench.harness.tables.measure import Failed
from bench.harness.tables.recipe import Recipe
from pipeline.core.errors import GateError, UsageError
from pipeline.core.process import run_visible
from pipeline.core.variant import PRODUCTION
from pipeline.evidence.model import AblationStep
from pipeline.judge.icache import misses_ratio
from pipeline.judge.model import VerifyResult
from pipeline.report import text
from pipeline.report.contents import last_step
from pipeline.report.files import JSON, read_report
from pipeline.report.model import ReportModel, Source, SummaryRow

Found = dict[str, Any]
"""What is kept of a build."""


def figures_of(recipe: Recipe, source: Path | None) -> Found:
    """Build by the recipe, or read the report at ``source``; return what is kept of it.

    Raises Failed where the build has no verdict: its report would be that of another build.
    """
    if source is None:
        code = run_visible(recipe.run[0].command, cwd=REPOSITORY)
        if code not in (0, GateError.exit_code):
            raise Failed(code)
        source = REPOSITORY / str(recipe.report)
    elif source.is_file() and source.name != JSON:
        raise UsageError(f"{source} is not called {JSON}", hint=f"name the {JSON} of a build")
    return kept(read_report(source if source.is_dir() else source.parent))


def kept(model: ReportModel) -> Found:
    """Return the figures of a report that builds.md shows; None for each that it does not know."""
    verify, chain = model.verify, model.evidence.ablation if model.evidence else None
    return {
        "environment": _environment(verify) | {"commit": _commit(model.source)},
        "profile": model.profile,
        "variant": model.variant,
        "mode": verify.mode,
        "outcome": f"{model.outcome}{model.refused_for}",
        "step": last_step(model),
        "summary": [row.model_dump(mode="json") for row in model.summary],
        "misses": {one.name: misses_ratio(one) for one in verify.programs},
        "taken branches": _taken_branches(model),
        "steps": [step.model_dump(mode="json") for step in chain.steps] if chain else [],
        "stages": {row.stage: row.seconds for row in model.stages},
    }


def _environment(verify: VerifyResult) -> Found:
    where = verify.environment
    return {
        "date": verify.created,
        "processor": where.kind,
        **where.model_dump(include={"cpu", "cores", "kernel", "libc"}),
        "load": [where.load_before, where.load_after],
    }


def _commit(source: Source | None) -> str | None:
    if source is None or source.commit is None:
        return None
    return source.commit[:8] + (" with changes" if source.clean is False else "")


def _taken_branches(model: ReportModel) -> float | None:
    """Return what is left of them in the training, as BOLT estimates its own step."""
    stats = model.layout.dyno_stats if model.layout else ()
    of_all = (one.after / one.before for one in stats if one.name == "taken branches")
    return next(of_all, None)


def name_of(found: Found) -> str:
    """Return what tells builds apart in the names of files: profile, kind and processor."""
    return "-".join([found["profile"], *_kind(found), found["environment"]["processor"]])


def _kind(found: Found) -> list[str]:
    """Return variant and mode, as far as they are not those of a plain `pipeline build`."""
    plain = (PRODUCTION, "default")
    return [one for one in (found["variant"], found["mode"]) if one not in plain]


def tables(builds: Sequence[Found]) -> list[str]:
    """Return headings and tables, for each profile: a column is a build."""
    parts: list[str] = []
    for profile in sorted({one["profile"] for one in builds}):
        of_it = sorted((one for one in builds if one["profile"] == profile), key=_heading)
        parts += [f"## Builds of {profile}", _table("", of_it, _verdict_rows(of_it))]
        for one in filter(lambda one: one["steps"], of_it):
            parts += [f"### What each step adds to {profile}: {_heading(one)}", _steps(one)]
        parts += [
            f"### How long builds of {profile} take",
            _table("stage, seconds", of_it, _stages(of_it)),
        ]
    return parts


def _heading(found: Found) -> str:
    return ", ".join([found["environment"]["processor"], *_kind(found)])


def _table(corner: str, builds: Sequence[Found], rows: Iterator[list[str]]) -> str:
    return "\n".join(markdown_table([[corner, *map(_heading, builds)], *rows]))


def _verdict_rows(builds: Sequence[Found]) -> Iterator[list[str]]:
    """Yield when, where and what came of each build, then its figures as the report has them."""
    where = [one["environment"] for one in builds]
    yield ["date", *(str(one["date"])[:10] for one in where)]
    yield ["commit", *(one["commit"] or text.UNKNOWN for one in where)]
    yield ["load while it was judged", *("{:.1f} to {:.1f}".format(*one["load"]) for one in where)]
    yield ["outcome", *(one["outcome"] for one in builds)]
    yield ["chosen step", *(one["step"] or text.UNKNOWN for one in builds)]
    rows = [
        {_label(row): row for row in map(SummaryRow.model_validate, one["summary"])}
        for one in builds
    ]
    for label in _all_of(rows):
        yield [label, *(_figure(one.get(label)) for one in rows)]
    for name in _all_of([one["misses"] for one in builds]):
        yield [f"misses in {name}", *(text.change(one["misses"].get(name)) for one in builds)]
    yield ["taken branches, by BOLT", *(text.change(one.get("taken branches")) for one in builds)]


def _all_of(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Return the keys of all, each once, in the order in which they first come."""
    return list(dict.fromkeys(key for part in parts for key in part))


def _label(row: SummaryRow) -> str:
    return f"{row.name}, {row.unit}" if row.unit else row.name


def _figure(row: SummaryRow | None) -> str:
    """Return a change with its interval and verdict; both sides, too, where they are no speeds."""
    if row is None or row.ratio is None:
        return text.UNKNOWN
    is_speed = row.interval is not None and not row.unit
    sides = "" if is_speed else f"{text.figure(row.baseline)} → {text.figure(row.tuned)}, "
    ends = f" {text.ends(row.interval)}" if row.interval else ""
    verdict = f", {row.verdict}" if row.verdict else ""
    return f"{sides}{text.change(row.ratio)}{ends}{verdict}"


def _steps(found: Found) -> str:
    steps = [AblationStep.model_validate(one) for one in found["steps"]]
    last = steps[-1].name
    head = ["step", "instructions", "misses", "against the step before", f"speed against {last}"]
    rows = [_step(*pair) for pair in zip([None, *steps], steps, strict=False)]
    return "\n".join(markdown_table([head, *rows]))


def _step(before: AblationStep | None, step: AblationStep) -> list[str]:
    speed = step.speed
    return [
        f"{step.name}: {step.adds}",
        text.figure(step.instructions),
        text.figure(step.i1_misses),
        _less(before, step) if before else "",
        f"{text.change(speed.value)} {text.ends(speed)}" if speed else "",
    ]


def _less(before: AblationStep, step: AblationStep) -> str:
    if not before.i1_misses or step.i1_misses is None:
        return text.UNKNOWN
    return text.change(step.i1_misses / before.i1_misses)


def _stages(builds: Sequence[Found]) -> Iterator[list[str]]:
    """Yield the seconds of each stage, and of all; "" where a build has no such stage."""
    seconds = [one["stages"] for one in builds]
    for stage in _all_of(seconds):
        yield [stage, *(f"{one[stage]:.1f}" if stage in one else "" for one in seconds)]
    yield [
        "all, one after another",
        *(f"{sum(one.values()):.0f}" if one else text.UNKNOWN for one in seconds),
    ]
