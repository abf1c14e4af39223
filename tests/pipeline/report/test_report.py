"""Reports against golden files, and against the ways in which a report could mislead.

After a wanted change of wording, then read the diff:
UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/pipeline/report
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from judge_support import pairs, program_of, result_of, throughput_of
from report_support import bad, good, mixed, mixed_counts, receipt
from rich.console import Console

from pipeline.cli import cli
from pipeline.core.exit_codes import ExitCode
from pipeline.judge.samples import Throughput
from pipeline.judge.topic import Topic
from pipeline.release.contents import write_sums
from pipeline.report import text as wording
from pipeline.report.build import Inputs, report_model
from pipeline.report.files import write_reports
from pipeline.report.html import render_html
from pipeline.report.in_tree import example_lines
from pipeline.report.markdown import render_markdown
from pipeline.report.model import Decision, Finding, ReportModel, Source
from pipeline.report.repeat import commands
from pipeline.report.rows import slowest_first
from pipeline.report.summary import summary_rows
from pipeline.report.terminal import as_text, render_terminal
from pipeline.report.untold import untold
from pipeline.report.what_next import harmless
from pipeline.stages.build.workshop import Options

GOLDEN = Path(__file__).parent / "golden"


def terminal(model: ReportModel, width: int = 100, *, is_terminal: bool = False) -> str:
    stream = io.StringIO()
    plain = Console(file=stream, width=width, force_terminal=is_terminal, color_system=None)
    render_terminal(model, plain)
    return stream.getvalue()


def timed_by(found: Throughput) -> ReportModel:
    return report_model(
        profile="mixed",
        version="1",
        result=result_of(found),
        allow_neutral=False,
        inputs=Inputs(receipts={}),
    )


def check_golden(name: str, found: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "make"), [("good", good), ("bad", bad)])
def test_golden(name: str, make: Any) -> None:
    check_golden(f"{name}.md", render_markdown(make()))
    check_golden(f"{name}.txt", terminal(make()))


def test_a_doubt_whose_figures_a_key_gives_is_not_told_twice() -> None:
    model = good()
    why = model.verify.keys.throughput.reason
    doubt = Finding.doubt("throughput is INCONCLUSIVE", why, "keys", Topic.THROUGHPUT)
    said = render_markdown(model.model_copy(update={"findings": (doubt,), "reason": "so"}))
    assert said.count(why) == 1
    assert "- throughput is INCONCLUSIVE (why: The keys)" in said


def test_the_chain_says_what_its_speeds_are_compared_with() -> None:
    model = good()
    assert model.evidence is not None
    assert model.evidence.ablation is not None
    chain = model.evidence.ablation
    said = render_markdown(model)
    assert f"| speed against {chain.steps[-1].name} |" in said
    assert "against the last" not in said


def test_a_rank_among_random_layouts_stands_once() -> None:
    said = render_markdown(good())
    (line,) = (one for one in said.splitlines() if one.startswith("Random layouts of"))
    assert line.count("rank ") == 1


def test_the_terminal_has_a_row_for_every_workload() -> None:
    model = good()
    first = [line.split()[0] for line in terminal(model).splitlines() if line.strip()]
    names = [one.name for one in slowest_first(model)]
    assert first[3 : 3 + len(names)] == names


def test_in_a_pipe_a_line_below_the_report_is_whole_and_its_brackets_are_no_markup() -> None:
    reason = "the version before, v[a], cannot be read: " + "word " * 40
    model = bad().model_copy(update={"previous_reason": reason.strip()})
    assert f"not compared with an older version: {reason.strip()}" in as_text(model).splitlines()


def test_the_model_survives_json() -> None:
    for model in (good(), bad()):
        assert ReportModel.model_validate_json(model.model_dump_json()) == model


def test_the_first_sentence_is_the_verdict_and_why() -> None:
    first = render_markdown(good()).split("\n\n")[1]
    assert first.startswith("**Published:** throughput is GO: +")
    first = render_markdown(bad()).split("\n\n")[1]
    assert first.startswith("**Not published:** python failed; throughput is NO-GO: -3")


def test_regressions_come_first() -> None:
    lines = render_markdown(good()).splitlines()
    start = lines.index("## Workloads: real programs, then loops and replays")
    names = [line.split("|")[1].strip() for line in lines[start:] if line.startswith("| ")][1:4]
    assert names == ["larson", "mixed", "tiny"]
    assert any("larson" in line and "**slower**" in line for line in lines)


def test_nobody_is_told_to_reject_what_was_not_published() -> None:
    """`pipeline reject` takes published versions alone."""
    published = good()
    assert "reject the version" in harmless(published)
    withheld = published.model_copy(update={"published": False, "withheld": True})
    assert "reject" not in harmless(withheld) and "do not publish it" in harmless(withheld)


def test_unknown_is_a_word_and_never_a_zero() -> None:
    rows = {row.name: row for row in bad().summary}
    assert rows["instructions per op"].baseline is None
    assert rows["I-cache misses in a real program"].ratio is None
    table = terminal(bad())
    assert "unknown" in table
    assert not re.search(r"(?<!\d)0\.00", table)


def test_a_report_without_receipts_leaves_their_sections_out() -> None:
    report = render_markdown(bad())
    assert "## Training" not in report
    assert "## Layout" not in report
    assert "## Environment" in report


def test_holes_in_the_notes_are_shown_as_unknown() -> None:
    receipts = {"train": receipt("k", 1.0), "bolt": receipt("k", 1.0)}
    report = render_markdown(
        report_model(
            profile="mixed",
            version="1",
            result=result_of(mixed(), mixed_counts()),
            allow_neutral=False,
            inputs=Inputs(receipts=receipts),
        )
    )
    assert "unknown of unknown functions ran" in report
    assert "unknown listed functions lie where the lists say" in report


def test_every_table_row_has_as_many_cells_as_its_heading() -> None:
    for model in (good(), bad()):
        width = 0
        for line in render_markdown(model).splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            cells = line.replace("\\|", "").count("|")
            width = width or cells
            assert cells == width, line


def test_the_icache_row_shows_what_the_key_was_judged_by() -> None:
    judged = result_of(mixed(), programs=[program_of("a", 4.0, 2.0), program_of("b", 9.0, 9.0)])
    row = {row.name: row for row in summary_rows(judged)}["I-cache misses in a real program"]
    assert row.baseline == pytest.approx(6000)
    assert row.ratio == pytest.approx(0.5**0.5)
    assert row.verdict is judged.keys.icache.verdict


def test_real_programs_stand_first_with_their_intervals() -> None:
    found = throughput_of(("git",), loop=pairs(0.97), git=pairs(1.03))
    model = timed_by(found)
    lines = terminal(model).splitlines()
    assert lines[0].startswith("Not published (loop -3.0 %): program git faster (+3.0 %), loops ")
    assert lines[1] == "mode: default; the self-check was not done"
    assert lines[3].startswith("program, then loop or replay")
    assert lines[4].split()[0] == "git"
    assert "+3.00 %" in lines[4] and "faster" in lines[4] and "as lean" in lines[4]
    rows = {row.name: row for row in model.summary}
    assert rows["speed of real programs"].ratio == pytest.approx(1.03)
    assert rows["speed of loops and replays"].ratio == pytest.approx(0.97)
    assert [one.name for one in slowest_first(model)] == ["git", "loop"]


def test_a_workload_takes_one_line_of_a_terminal_with_80_columns() -> None:
    wide = {"random-mixed-8-128": pairs(0.8846), "cmake-script": pairs(1.1264)}
    model = timed_by(throughput_of(("cmake-script",), **wide))
    lines = terminal(model, 80).splitlines()
    for name, change in (("cmake-script", "+12.64 %"), ("random-mixed-8-128", "-11.54 %")):
        (line,) = [line for line in lines if line.startswith(name)]
        assert change in line and " %, " in line and line.endswith("as lean"), line


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_name_is_broken_behind_a_hyphen_or_not_at_all(is_terminal: bool) -> None:
    name = "random-mixed-16-1024-large-set"
    model = timed_by(throughput_of(**{name: pairs(0.8846)}))
    lines = terminal(model, 70, is_terminal=is_terminal).splitlines()
    assert any(line.startswith(f"{name} ") for line in lines) is not is_terminal
    assert (
        any(line.strip() in ("1024-large-set", "large-set", "set") for line in lines) is is_terminal
    )
    assert any(len(line) > 70 for line in lines) is not is_terminal


@pytest.mark.parametrize(("width", "in_one_line"), [(70, False), (160, True)])
def test_what_is_said_of_a_workload_stands_in_one_line_where_there_is_room(
    width: int, in_one_line: bool
) -> None:
    model = timed_by(throughput_of(a=pairs(1.0), tiny=pairs(1.012, noise=1.0)))
    lines = terminal(model, width, is_terminal=True).splitlines()
    (line,) = [line for line in lines if line.startswith("tiny ")]
    assert ("faster (by " in line and " %)" in line) is in_one_line


@pytest.mark.parametrize(("width", "has_rate"), [(80, False), (160, True)])
def test_a_name_has_more_room_than_its_rate(width: int, has_rate: bool) -> None:
    """In 80 columns "random-mixed-16-1024-large-set" took four lines."""
    name = "random-mixed-16-1024-large-set"
    model = timed_by(throughput_of(**{name: pairs(0.8846)}))
    lines = terminal(model, width, is_terminal=True).splitlines()
    (line,) = [line for line in lines if line.startswith(f"{name} ")]
    assert "-11.54 %" in line and ("M/s" in line) is has_rate


def test_a_rejected_version_is_called_so_in_all_formats() -> None:
    """The terminal still said what it had been published for."""
    said = Decision(what="rejected", since="2026-01-02", reason="slow", said="rejected: slow")
    model = good().model_copy(update={"decided": said})
    assert terminal(model).startswith("Published, then rejected: ")
    assert "Published, then rejected" in render_html(model)
    assert render_markdown(model).partition("\n")[0].endswith(": published, then rejected")


def test_the_first_line_is_a_short_verdict() -> None:
    first = [terminal(one).splitlines()[0] for one in (good(), bad())]
    alone = "no whole program timed"
    assert first == [
        "Published for speed and fewer I-cache misses (accepted: larson -1.5 %), "
        "but worse than 0.1.0-old (instructions per op): "
        f"loops and replays faster (+3.1 %), {alone}; as lean as the plain build (+0.0 %); "
        "I-cache misses -25 %",
        "Not published: health check failed: python; "
        f"loops and replays slower (-3.0 %), {alone}; "
        "fatter than the plain build (+50.0 %); I-cache misses unknown",
    ]


def test_a_pipe_in_a_name_does_not_break_a_table() -> None:
    assert wording.cell("a|b\nc") == "a\\|b c"


def test_numbers() -> None:
    assert wording.number(None) == wording.ratio(None) == wording.change(None) == "unknown"
    assert wording.number(1234.5) == "1,234.50"
    assert wording.change(0.97) == "-3.00 %"
    assert wording.measured(None) == "unknown"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3004.012, "3,004"),
        (211747.4, "211,747"),
        (227.484, "227.5"),
        (16.0513, "16.05"),
        (9.99996, "10.00"),
        (1.0236, "1.024"),
        (0.31256, "0.313"),
        (0.0019012, "0.00190"),
        (-4.39612, "-4.396"),
        (0.0, "0"),
        (None, "unknown"),
    ],
)
def test_a_measured_figure_has_no_more_digits_than_count(value: float | None, shown: str) -> None:
    assert wording.figure(value) == shown


def test_the_speed_of_programs_goes_the_same_way_as_its_ratio() -> None:
    found = throughput_of(("git",), loop=pairs(0.97), git=pairs(1.03))
    for row in summary_rows(result_of(found)):
        if row.name.startswith("speed") and row.baseline and row.tuned and row.ratio:
            assert row.tuned / row.baseline == pytest.approx(row.ratio), row.name


def as_version(folder: Path, model: ReportModel) -> Path:
    write_reports(folder, model)
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    write_sums(folder)
    return folder


@pytest.mark.parametrize(
    ("make", "published", "code"),
    [(good, True, ExitCode.OK), (good, False, ExitCode.GATE), (bad, True, ExitCode.GATE)],
)
def test_check_fails_on_what_was_not_published_or_is_refused(
    make: Any, published: bool, code: ExitCode, tmp_path: Path
) -> None:
    folder = as_version(tmp_path / "v", make().model_copy(update={"published": published}))
    done = CliRunner().invoke(cli, ["report", str(folder), "--check"], standalone_mode=False)
    assert done.return_value == code
    outcome = "published" if published else "not published"
    assert (f"check failed: {outcome}: " in done.stderr) == bool(code)
    assert CliRunner().invoke(cli, ["report", str(folder)], standalone_mode=False).return_value == 0


def test_the_run_to_repeat_is_of_the_build_that_was_judged() -> None:
    """It took the newest build that there was, and named the tree that it was made in."""
    model = good()
    argv = ("/home/her/build/pipeline/mixed/baseline/01ab/bench/larson", "--ops", "5")
    workload = model.verify.throughput.workloads[0].model_copy(update={"argv": argv})
    throughput = model.verify.throughput.model_copy(update={"workloads": (workload,)})
    library = "/home/her/build/pipeline/mixed/finish/23cd/libhakmem.so"
    tuned = model.verify.tuned.model_copy(update={"path": library})
    verify = model.verify.model_copy(update={"throughput": throughput, "tuned": tuned})
    lines = example_lines(model.model_copy(update={"verify": verify}))
    assert lines == [
        "LD_PRELOAD=build/pipeline/mixed/finish/23cd/libhakmem.so \\",
        "  build/pipeline/mixed/baseline/01ab/bench/larson --ops 5",
    ]


def test_a_clone_is_told_the_commit_and_what_is_in_none() -> None:
    model = good()
    assert commands(model)[0] == "git checkout 0123abcd"
    files = tuple(f"new{number}" for number in range(8))
    for names, says in ((files[:1], ": new0"), (files, ", new5 and 2 more"), ((), "committed")):
        changed = Source(commit="0123abcd", clean=False, command=None, changed=names)
        (line,) = commands(model.model_copy(update={"source": changed}))
        assert line.startswith("git checkout 0123abcd   # and what was not committed")
        assert line.endswith(says)


def test_the_command_of_a_build_asks_for_the_same() -> None:
    assert Options().words == ()
    options = Options(
        quick=True, allow_neutral=True, allow_regression=("a b",), verify_s=90.0, cpu="amd-zen3"
    )
    words = ["build", *options.words]
    assert words[1:] == [
        *("--quick", "--allow-neutral", "--allow-regression", "a b"),
        *("--verify-time", "90s", "--cpu", "amd-zen3"),
    ]
    context = cli.commands["build"].make_context("build", words[1:])
    assert context.params["verify_s"] == 90.0


def test_the_terminal_tells_nothing_twice() -> None:
    """Below the tables stood what they say, and the reason of the last line as a regression."""
    said = terminal(bad())
    for once in ("the memory limit is broken", "throughput is NO-GO", "no whole program"):
        assert said.count(once) == 1
    assert "mixed is slower" not in said
    assert terminal(good()).count("accept") == 2  # the first line, and the reason


def test_what_the_terminal_leaves_out_stands_in_the_page() -> None:
    told = [one.what for one in untold(bad())]
    assert told == ["python fails with the library"]
    page = render_markdown(bad())
    assert all(one.what in page for one in bad().findings)


def test_a_finding_without_details_is_told() -> None:
    bare = Finding.doubt("something odd", "", "keys")
    assert [*untold(bad().model_copy(update={"findings": (bare,)}))] == [bare]


def test_a_build_that_names_the_command_below_its_report_does_not_name_it_twice() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, color_system=None)
    render_terminal(good(), console, libc=False, why=False)
    assert "pipeline versus" not in stream.getvalue()
    assert "why: " not in stream.getvalue()
