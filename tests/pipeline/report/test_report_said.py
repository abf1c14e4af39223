"""What a report says of the whole: of what a gain is, at what level, and nothing against itself."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from judge_support import pair, pairs, program_of, request_of, result_of, throughput_of
from report_support import mixed
from rich.console import Console

from pipeline.core.console import BRIEF, BuildConsole
from pipeline.judge.health import summarise as summarise_health
from pipeline.judge.model import HealthCheck
from pipeline.judge.samples import Throughput
from pipeline.judge.summarise import summarise
from pipeline.judge.whole_command import command_in, whole_command
from pipeline.report import terminal
from pipeline.report import text as wording
from pipeline.report.build import Inputs, report_model
from pipeline.report.findings import findings
from pipeline.report.html import render_html
from pipeline.report.markdown import render_markdown
from pipeline.report.model import ReportModel
from pipeline.report.opening import legend, paired
from pipeline.report.summary import summary_rows
from pipeline.report.terminal import as_text


def report_of(found: Throughput) -> ReportModel:
    return report_model(
        profile="mixed",
        version="1",
        result=result_of(found),
        allow_neutral=False,
        inputs=Inputs(receipts={}),
    )


def uneven() -> Throughput:
    """Return pairs of a program whose medians of both sides say less than the pairs do."""
    rates = [(100.0, 101.0), (200.0, 206.0), (300.0, 290.0)] * 6
    git = [pair(n, *rate, (4096, 4096)) for n, rate in enumerate(rates)]
    return throughput_of(("git",), git=git, loop=pairs(1.1))


def test_the_short_table_does_not_contradict_itself() -> None:
    found = uneven()
    git = found.workloads[0]
    assert git.tuned_ops_per_sec / git.baseline_ops_per_sec != pytest.approx(git.ratio.value)
    rows = [row for row in summary_rows(result_of(found)) if row.interval is not None]
    names = ["speed of real programs", "the same by wall time", "speed of loops and replays"]
    assert [row.name for row in rows] == [*names, "throughput", "peak memory"]
    for row in rows[:-1]:
        assert row.baseline and row.tuned and row.interval
        assert row.tuned / row.baseline == row.ratio == row.interval.value


def test_the_mean_of_misses_is_weighed_as_the_key_is() -> None:
    heavy = program_of("gcc", 8.0, 4.0).model_copy(update={"weight": 3.0})
    uncounted = program_of("perl", 1.0, None)
    result = result_of(programs=[heavy, program_of("git", 1.0, 1.0), uncounted])
    (row,) = (row for row in summary_rows(result) if row.name.startswith("I-cache"))
    assert row.baseline and row.tuned
    assert row.tuned / row.baseline == pytest.approx(row.ratio)


def test_every_form_of_the_report_says_of_what_a_gain_is_and_its_interval() -> None:
    model = report_of(uneven())
    speed = next(row for row in model.summary if row.name == "speed of real programs")
    assert wording.ratio(speed.ratio, speed.interval) in as_text(model)
    assert wording.ratio(speed.ratio, speed.interval) in render_markdown(model)
    for said in (as_text(model), render_markdown(model), render_html(model)):
        assert "program git " in said and "loops and replays faster (+10." in said


@pytest.mark.parametrize(
    ("published", "command"),
    [
        (True, "`.venv/bin/pipeline versus libc mixed:1`"),
        (False, "`.venv/bin/pipeline versus -p mixed libc /build/tuned/libhakmem.so`"),
    ],
)
def test_the_comparison_with_libc_has_a_line_of_its_own(published: bool, command: str) -> None:
    """It stood inside a sentence of 270 characters."""
    model = report_of(uneven()).model_copy(update={"published": published})
    assert [*legend(model, libc=True)][2] == f"against your malloc: {command}"
    assert len([*legend(model, libc=False)]) == 2
    assert f": {command}; append `-- YOUR-PROGRAM` to do so in a program" in paired(model)


@pytest.mark.parametrize("folder", [None, Path("/there")])
@pytest.mark.parametrize("threads", [None, 2])
def test_the_command_of_a_timed_line_is_found_again(
    folder: Path | None, threads: int | None
) -> None:
    command = ("/bin/sh", "-c", "exit 0")
    line = whole_command(Path("/c"), command, folder=folder, threads=threads, time_of="sh")
    assert command_in(line) == command


@pytest.mark.parametrize(
    ("gone", "says"),
    [
        ([], ""),
        (["perl"], "1 of 2 health checks was skipped (perl: perl is not installed)\n"),
        (["perl", "git"], "2 of 3 health checks were skipped (perl: perl is not installed; git: "),
    ],
)
def test_the_terminal_says_which_checks_were_skipped(gone: list[str], says: str) -> None:
    model = report_of(uneven())
    skipped = [HealthCheck(name=one, status="skipped", detail=f"{one} is not installed")
               for one in gone]  # fmt: skip
    checks = (*model.verify.health.checks, *skipped)
    health = model.verify.health.model_copy(update={"checks": checks})
    verify = model.verify.model_copy(update={"health": health})
    said = as_text(model.model_copy(update={"verify": verify}))
    assert ("skipped" in said) is bool(gone)
    assert says in said


def test_a_build_of_a_review_says_the_headline_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model, said = report_of(uneven()), []
    for brief in (False, True):
        console = BuildConsole(Console(file=io.StringIO(), width=500))
        if brief:
            monkeypatch.setenv(BRIEF, "1")
        terminal.show_verdict(console, model)
        assert isinstance(console.rich.file, io.StringIO)
        said.append(console.rich.file.getvalue().strip().splitlines())
    assert len(said[1]) == 1 < len(said[0]) and said[0][0] == said[1][0]


def test_where_no_check_ran_the_reason_says_it_alone() -> None:
    one = HealthCheck(name="perl", status="skipped", detail="perl is not installed")
    assert summarise_health((one,)).left_out == ""


@pytest.mark.parametrize(
    ("share", "looks", "says"),
    [
        (1 / 8, 1, "looked once. All its looks together may err in 5 % of builds. So an interval "
         "over several workloads is at 99.4 %"),
        (1 / 2, 4, "looked 4 times. All its looks together may err in 5 % of builds. So an "
         "interval over several workloads is at 97.5 %"),
    ],
)  # fmt: skip
def test_the_level_of_intervals_is_explained_by_what_the_look_takes(
    share: float, looks: int, says: str
) -> None:
    samples = {"a": pairs(1.05, 40), "b": pairs(1.02, 40)}
    found = summarise(request_of(list(samples)), samples, share=share, looks=looks, seconds=1.0)
    for said in (render_markdown(report_of(found)), render_html(report_of(found))):
        plain = said.replace("\N{NO-BREAK SPACE}", " ")
        assert says in plain


def test_medians_that_change_by_what_the_pairs_exclude_are_explained() -> None:
    """A row said that medians hardly changed, and its pairs by 5 %; nothing said that these differ.

    The few pairs of middling speed are alone in not being faster, and the medians are theirs.
    """
    rates = [(1e7, 1.04), (1e7, 1.06)] * 9 + [(2e7, 1.01)] * 4 + [(3e7, 1.04), (3e7, 1.06)] * 9
    odd = [pair(n, rate, by * rate, (4096, 4096)) for n, (rate, by) in enumerate(rates)]
    result = result_of(throughput_of(a=odd, b=pairs(1.0)))
    (told,) = [one for one in findings(result, None, None) if "medians" in one.what]
    what = "the medians of a row say another change than its pairs"
    assert (told.kind, told.what) == ("note", what)
    counts = "the pairs count, as their two runs stood side by side"
    over = "+4.00 % [+4.00 %, +6.00 %] over the pairs"
    assert told.detail == f"a +1.00 % between the medians, {over}; {counts}"


@pytest.mark.parametrize("ratio", [1.0, 1.05, 0.97])
def test_medians_within_the_interval_need_no_word(ratio: float) -> None:
    """Where the machine gets slower meanwhile, all pairs change alike."""
    drift = [pair(n, 1e7 / (n + 1), ratio * 1e7 / (n + 1), (4096, 4096)) for n in range(40)]
    for found in (throughput_of(a=drift, b=pairs(1.0)), throughput_of(a=pairs(ratio))):
        assert not [one for one in findings(result_of(found), None, None) if "medians" in one.what]


@pytest.mark.parametrize(("size", "is_said"), [(238_411, True), (157_475, False)])
def test_much_larger_code_is_told_for_information(size: int, is_said: bool) -> None:
    result = result_of(mixed())
    larger = result.model_copy(
        update={
            "baseline": result.baseline.model_copy(update={"text_bytes": 125_980}),
            "tuned": result.tuned.model_copy(update={"text_bytes": size}),
        }
    )
    found = [one for one in findings(larger, None, None) if one.what.startswith("code is")]
    told = [(one.kind, one.what, one.detail) for one in found]
    detail = "125,980 → 238,411 bytes; size is not judged"
    assert told == ([("note", "code is 1.9 times as large", detail)] if is_said else [])
