"""`pipeline history`: versions over time, from the reports that are kept."""

from __future__ import annotations

import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import report_support
from click.testing import CliRunner
from rich.console import Console

from pipeline.cli import cli
from pipeline.core.errors import ProfileError, VersionError
from pipeline.core.paths import Tree
from pipeline.release.contents import write_sums
from pipeline.release.marking import reject
from pipeline.release.marks import MARKS
from pipeline.release.version import Version
from pipeline.report import terminal, text
from pipeline.report.files import write_reports
from pipeline.report.history import _after_another, read_history
from pipeline.report.history_html import _moments, _short, render_history_html, render_history_svg
from pipeline.report.history_model import OTHER, QUANTITIES, SAME, UNSURE, History, Point
from pipeline.report.history_text import notes, render_history, sparkline
from pipeline.report.model import ReportModel
from pipeline.report.svg.series import Dot, series_chart

FIRST, SECOND, THIRD = "0.1.0-aa", "0.1.0-bb", "0.1.0-cc"


def keep(folder: Path, model: ReportModel, created: str, library: str = "") -> None:
    """Keep a report of a library that is the version's own, or the one that is named."""
    tuned = model.verify.tuned.model_copy(update={"sha256": library or folder.name})
    verify = model.verify.model_copy(update={"created": created, "tuned": tuned})
    write_reports(folder, model.model_copy(update={"version": folder.name, "verify": verify}))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A tree with two published versions, and one that was judged and not published."""
    tree = Tree(tmp_path)
    for number, (name, model) in enumerate(
        ((FIRST, report_support.older()), (SECOND, report_support.good()))
    ):
        for folder in (tree.dist("p") / name, tree.reports("p") / name):
            keep(folder, model, f"2026-01-0{number + 1}T00:00:00+00:00")
        (tree.dist("p") / name / "manifest.json").write_text("{}", encoding="utf-8")
        write_sums(tree.dist("p") / name)
    keep(tree.reports("p") / THIRD, report_support.bad(), "2026-01-03T00:00:00+00:00")
    (tree.reports("p") / "last").symlink_to(THIRD)
    (tree.dist("p") / "current").symlink_to(SECOND)
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    return tree


def test_each_version_is_there_once_oldest_first(tree: Tree) -> None:
    points = read_history(tree, "p").points
    assert [one.version for one in points] == [FIRST, SECOND, THIRD]
    assert [one.published for one in points] == [True, True, False]
    assert [one.current for one in points] == [False, True, False]


def test_the_order_is_the_same_in_each_form(tree: Tree) -> None:
    history = read_history(tree, "p")
    page = render_history_html(history)
    for shown in (page[page.index("<tbody>") :], render_history(history)):
        places = [shown.index(name) for name in (FIRST, SECOND, THIRD)]
        assert places == sorted(places)
    assert "The newest is last" in page


def test_what_was_published_and_pruned_is_not_told_as_never_published(tree: Tree) -> None:
    shutil.rmtree(tree.dist("p") / FIRST)
    rows = render_history(read_history(tree, "p")).splitlines()
    assert f"{FIRST}: removed" in rows
    assert any(row.startswith(f"{THIRD}: not published") for row in rows)


def test_what_was_rejected_or_rolled_back_is_marked(tree: Tree) -> None:
    mark = {"library": None, "inputs": None, "since": "2026-01-04"}
    marks = {"rejected": [{"version": FIRST, "reason": "slow", **mark}],
             "aside": [{"version": SECOND, **mark}]}  # fmt: skip
    (tree.dist("p") / MARKS).write_text(json.dumps(marks), encoding="utf-8")
    points = read_history(tree, "p").points
    assert [one.mark for one in points] == ["REJECTED: slow", "set aside", None]
    assert [one.rejected for one in points] == [True, False, False]
    rows = render_history(read_history(tree, "p")).splitlines()
    assert f"{FIRST}: REJECTED: slow" in rows
    assert "✕ is rejected" in render_history_html(read_history(tree, "p"))


def test_the_sign_of_a_rejected_version_is_explained_only_where_it_stands(tree: Tree) -> None:
    assert "✕" not in render_history_html(read_history(tree, "p"))


def test_the_same_library_under_another_name_is_marked_as_rejected(tree: Tree) -> None:
    for name in (FIRST, SECOND):
        manifest = tree.dist("p") / name / "manifest.json"
        manifest.write_text('{"files": {"lib/libhakmem.so": "d1"}}', encoding="utf-8")
    reject(Version(tree.dist("p") / FIRST), "slow")
    points = read_history(tree, "p").points
    marks = ["REJECTED: slow", f"REJECTED as {FIRST}: slow", None]
    assert [one.mark for one in points] == marks


def test_a_long_reason_cuts_neither_names_nor_the_mark_of_the_current(tree: Tree) -> None:
    reason = "the shop's cart needs 8 % more memory with it, " * 4
    marks = {"rejected": [{"version": FIRST, "reason": reason, "library": None, "inputs": None,
                           "since": "2026-01-04"}], "aside": []}  # fmt: skip
    (tree.dist("p") / MARKS).write_text(json.dumps(marks), encoding="utf-8")
    rows = render_history(read_history(tree, "p")).splitlines()
    assert {word for row in rows for word in row.split()[:2]} >= {FIRST, "*", THIRD}
    assert any(row.startswith("* ") and SECOND in row for row in rows)


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_a_narrow_terminal_leaves_columns_out_and_cuts_no_figure(
    width: int, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 characters a throughput was cut to "+1...", and the mark of the current was gone."""
    monkeypatch.setattr(terminal, "_console", lambda: Console(file=io.StringIO(), width=width))
    said = render_history(read_history(tree, "p"))
    rows = said.splitlines()
    assert "…" not in said
    assert any(row.startswith("* ") and SECOND in row for row in rows)
    assert ("too narrow" in " ".join(said.split())) is (width < 80)
    assert "%" in rows[2]  # below a heading of two lines


def test_who_keeps_a_log_sets_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.terminal_width() == 160
    monkeypatch.setenv("COLUMNS", "80")
    assert terminal.terminal_width() == 80


@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_of_80_columns_has_dates_and_instructions_of_each_version(
    width: int, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_console", lambda: Console(file=io.StringIO(), width=width))
    history = read_history(tree, "p")
    rows = [row.split() for row in render_history(history).splitlines()]
    for one in history.points:
        words = {word for row in rows if one.version in row for word in row}
        assert {one.created[:10], text.figure(one.instructions), text.figure(one.misses)} <= words
    assert sum(row.count("instructions") for row in rows if "per" not in row) == 1


def test_80_columns_have_room_for_all_with_names_as_long_as_they_are(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_console", lambda: Console(file=io.StringIO(), width=80))
    history = read_history(tree, "p")
    named = [
        one.model_copy(update={"version": f"0.2.0-{number:012}"})
        for number, one in enumerate(history.points)
    ]
    said = render_history(history.model_copy(update={"points": tuple(named)}))
    assert "too narrow" not in said and "bytes" in said and "…" not in said


def test_a_small_swing_is_no_full_height() -> None:
    assert sparkline([1000.0, 1003.0, 1000.0]) == "▁▁▁"
    assert sparkline([1.0, 2.0]) == "▁█"


def test_figures_are_those_of_the_report(tree: Tree) -> None:
    point, model = read_history(tree, "p").points[1], report_support.good()
    by_name = {row.name: row.tuned for row in model.summary}
    assert point.gain == model.verify.throughput.overall.value
    measure = "I-cache misses in a real program"
    assert point.misses == by_name[measure] is not None
    assert point.misses_of == measure
    assert point.instructions == by_name["instructions per op"] is not None
    assert point.memory_mib == by_name["peak memory"] is not None
    assert point.text_bytes == model.verify.tuned.text_bytes


def test_a_report_of_another_schema_is_read_as_far_as_it_goes(tree: Tree) -> None:
    old = {"schema_version": 1, "verify": {"created": "2025-01-01T00:00:00+00:00"}}
    for name, written in (("0.0.1-old", json.dumps(old)), ("0.0.2-bad", "{")):
        (tree.reports("p") / name).mkdir()
        (tree.reports("p") / name / "report.json").write_text(written, encoding="utf-8")
    history = read_history(tree, "p")
    assert (history.points[0].version, history.points[0].gain) == ("0.0.1-old", None)
    assert [Path(file).parent.name for file in history.unreadable] == ["0.0.2-bad"]
    assert "unknown" in render_history(history)
    assert "0.0.2-bad" in render_history(history)


@pytest.mark.parametrize(
    "verify",
    [
        '"tuned": {"text_bytes": 1%s}' % ("0" * 400),
        '"throughput": {"overall": {"value": NaN}}',
        '"throughput": {"overall": {"value": "fast"}}',
        '"mode": []',
    ],
    ids=range(4),
)
def test_a_report_whose_figures_are_none_cannot_be_read(tree: Tree, verify: str) -> None:
    (tree.reports("p") / "0.0.2-bad").mkdir()
    text = f'{{"verify": {{{verify}}}}}'
    (tree.reports("p") / "0.0.2-bad" / "report.json").write_text(text, encoding="utf-8")
    history = read_history(tree, "p")
    assert [Path(file).parent.name for file in history.unreadable] == ["0.0.2-bad"]
    assert "0.0.2-bad" in render_history(history)


def test_a_table_that_is_none_tells_nothing(tree: Tree) -> None:
    (tree.reports("p") / "0.0.1-old").mkdir()
    text = json.dumps({"summary": True, "verify": {}})
    (tree.reports("p") / "0.0.1-old" / "report.json").write_text(text, encoding="utf-8")
    assert read_history(tree, "p").points[0].misses is None


@pytest.mark.usefixtures("tree")
def test_the_table_names_versions_and_what_cannot_be_compared() -> None:
    said = CliRunner().invoke(cli, ["history", "-p", "p"]).output
    lines = {
        name: next(row for row in said.splitlines() if name in row) for name in (FIRST, SECOND)
    }
    assert lines[SECOND].startswith("*") and not lines[FIRST].startswith("*")
    assert re.search(rf"{THIRD}.*not published", said)
    assert "I-cache misses of the library" in said and "less is better" in said


def test_json_is_the_model(tree: Tree) -> None:
    said = CliRunner().invoke(cli, ["history", "-p", "p", "--json"]).output
    assert History.model_validate_json(said) == read_history(tree, "p")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("option", ["--html", "--svg"])
def test_no_page_goes_into_a_folder_that_is_not_there(option: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["history", "-p", "p", option, str(tmp_path / "typo" / "a")])
    assert "there is no folder" in str(done.exception) and not (tmp_path / "typo").exists()


@pytest.mark.usefixtures("tree")
def test_pages_open_offline_and_have_a_dot_for_each_version(tmp_path: Path) -> None:
    page, drawing = tmp_path / "h.html", tmp_path / "h.svg"
    done = CliRunner().invoke(
        cli, ["history", "-p", "p", "--html", str(page), "--svg", str(drawing)]
    )
    assert done.exit_code == 0, done.output
    html = page.read_text(encoding="utf-8")
    assert html.count('role="img"') == 5
    assert not re.search(r'(src|href)="http', html)
    root = ET.fromstring(drawing.read_text(encoding="utf-8"))
    gain = next(one for one in root.iter() if one.get("id") == "plot-gain")
    dots = [one for one in gain.iter() if one.tag.endswith("circle")]
    assert len(dots) == 3
    assert (dots[0][0].text or "").startswith(f"{FIRST}, judged 2026-01-01 00:00 UTC: +")
    said = [one.text or "" for one in gain.iter() if one.tag.endswith("text")]
    assert {"2026-01-01", "aa", "2026-01-03", "cc"} < set(said)
    assert any("not at 0" in one for one in said)


def test_a_small_swing_fills_no_chart() -> None:
    dots = [Dot(str(value), value, "") for value in (18.278, 18.285)]
    chart = ET.fromstring(series_chart("plot", "", dots, [("day", "a"), ("day", "b")]))
    heights = [float(one.get("cy", 0)) for one in chart.iter() if one.tag.endswith("circle")]
    assert 0 < abs(heights[0] - heights[1]) < 5


def test_of_many_versions_the_newest_and_so_many_as_fit_are_labelled() -> None:
    dots = [Dot(str(number), number, "") for number in range(40)]
    labels = [("2026-01-01", str(number)) for number in range(40)]
    chart = ET.fromstring(series_chart("plot", "", dots, labels))
    days = [one for one in chart.iter() if one.text == "2026-01-01"]
    assert 3 <= len(days) <= 6
    assert any(one.text == "39" for one in chart.iter())


def test_without_a_report_it_says_what_to_do(tree: Tree) -> None:
    tree.reports("nobody").mkdir(parents=True)
    done = CliRunner().invoke(cli, ["history", "-p", "nobody"])
    assert isinstance(done.exception, VersionError)
    assert "there is no report" in done.exception.message
    keep(tree.reports("shop") / "0.1.0-aa", report_support.good(), "2026-01-01T00:00:00+00:00")
    bare = CliRunner().invoke(cli, ["history", "-p", "nobody"])
    assert isinstance(bare.exception, VersionError)
    assert "read another: `.venv/bin/pipeline history -p shop`" in bare.exception.hint
    assert re.search(r"profiles with one: .*\bshop\b", bare.exception.message)
    unknown = CliRunner().invoke(cli, ["history", "-p", "nobodi"])
    assert isinstance(unknown.exception, ProfileError)


def test_bars_stand_between_the_least_and_the_largest() -> None:
    assert sparkline([1.0, None, 2.0, 1.5]) == "▁·█▅"
    assert sparkline([3.0, 3.0]) == "▁▁"
    assert sparkline([None]) == "·"


def test_misses_that_were_measured_in_another_way_are_not_drawn(tree: Tree) -> None:
    history = read_history(tree, "p")
    known = [one for one in history.points if one.misses is not None]
    old = known[0].model_copy(update={"misses": 5.0, "misses_of": "I-cache misses per op"})
    mixed = history.model_copy(update={"points": (old, known[1])})
    assert mixed.series("misses") == [None, known[1].misses]
    assert "misses were measured in several ways" in render_history(mixed)
    assert "5.000" in render_history(mixed)


def without(model: ReportModel, name: str) -> ReportModel:
    """Return a report that was judged without one of the workloads."""
    timed = model.verify.throughput
    kept = tuple(one for one in timed.workloads if one.name != name)
    throughput = timed.model_copy(update={"workloads": kept})
    verify = model.verify.model_copy(update={"throughput": throughput})
    return model.model_copy(update={"verify": verify})


@pytest.fixture
def dropped(tmp_path: Path) -> History:
    """Three versions of which the second and third were judged without "larson"."""
    tree, fewer = Tree(tmp_path), without(report_support.good(), "larson")
    for day, (name, model) in enumerate(
        ((FIRST, report_support.good()), (SECOND, fewer), (THIRD, fewer)), 1
    ):
        keep(tree.reports("q") / name, model, f"2026-01-0{day}T00:00:00+00:00")
    return read_history(tree, "q")


def drawn(history: History, field: str) -> ET.Element:
    root = ET.fromstring(render_history_svg(history))
    return next(one for one in root.iter() if one.get("id") == f"plot-{field}")


def curves(chart: ET.Element) -> list[int]:
    """Return how many dots each line of a chart connects."""
    paths = [one for one in chart.iter() if one.get("class") == "curve after"]
    return [one.get("d", "").count(",") for one in paths]


def signs(chart: ET.Element) -> list[str]:
    texts = [one.text or "" for one in chart.iter() if one.tag.endswith("text")]
    return [one for one in texts if one in (SAME, OTHER, UNSURE)]


def test_a_version_judged_by_other_workloads_is_marked_and_no_line_leads_there(
    dropped: History,
) -> None:
    first, second, third = dropped.points
    assert (first.dropped, second.dropped, third.dropped) == ((), ("larson",), ())
    table = render_history(dropped)
    row = next(line for line in table.splitlines() if SECOND in line)
    assert row.startswith(OTHER)
    assert f"{SECOND}: removed; other workloads than the version before: without larson" in table
    assert f"note: {OTHER}: judged by other workloads" in table
    memory = next(line for line in table.splitlines() if line.startswith("peak memory"))
    assert memory.count(OTHER) == 1
    assert History.model_validate_json(dropped.model_dump_json()).points[1].dropped == ("larson",)
    assert (curves(drawn(dropped, "memory_mib")), signs(drawn(dropped, "memory_mib"))) == (
        [2],
        [OTHER],
    )
    said = ET.tostring(drawn(dropped, "gain"), encoding="unicode")
    assert "without larson" in said and f"; {OTHER} other workloads<" in said
    assert "other workloads<" not in ET.tostring(drawn(dropped, "text_bytes"), encoding="unicode")


def test_misses_of_other_programs_and_other_recordings_lead_no_line(dropped: History) -> None:
    """A mean over five programs, then over four, looked like a quarter fewer misses."""
    first, second, third = (
        one.model_copy(update={"workloads": ("shop",), "recordings": ("shop a1/x.trace",)})
        for one in dropped.points
    )
    fewer = second.model_copy(update={"counted": ("gcc",)})
    anew = third.model_copy(update={"counted": ("gcc",), "recordings": ("shop b2/x.trace",)})
    more = first.model_copy(update={"counted": ("gcc", "kv")})
    history = dropped.model_copy(update={"points": tuple(_after_another([more, fewer, anew]))})
    assert history.breaks("misses") == ["", OTHER, ""]
    assert history.breaks("memory_mib") == ["", "", OTHER]
    table = render_history(history)
    assert "misses of other programs: without kv" in table
    assert "recordings made anew" in table


def test_misses_of_a_program_that_was_built_anew_lead_no_line(dropped: History) -> None:
    """The library stayed, the server under it changed: its misses are another program's."""
    both, server, again = (
        one.model_copy(update={"counted": ("gcc", "kv (own)"), "files": files})
        for one, files in zip(
            dropped.points,
            [("gcc a1", "kv (own) b1"), ("gcc a1", "kv (own) b2"), ("gcc a1", "kv (own) b2")],
            strict=True,
        )
    )
    history = dropped.model_copy(update={"points": tuple(_after_another([both, server, again]))})
    assert history.breaks("misses") == ["", OTHER, ""]
    assert history.points[1].replaced == ("kv (own)",)
    assert "another program than before: kv (own)" in render_history(history)
    old = history.points[0].model_copy(update={"files": None})
    unknown = history.model_copy(update={"points": (old, *history.points[1:])})
    assert unknown.breaks("misses") == ["", UNSURE, ""]


def test_the_size_of_code_is_compared_whatever_workloads_there_were(dropped: History) -> None:
    assert (curves(drawn(dropped, "text_bytes")), signs(drawn(dropped, "text_bytes"))) == ([3], [])


def test_workloads_that_a_report_does_not_tell_are_unknown_not_others(dropped: History) -> None:
    first, second, third = dropped.points
    old = first.model_copy(update={"workloads": None})
    history = dropped.model_copy(
        update={"points": (old, second.model_copy(update={"dropped": ()}), third)}
    )
    assert history.breaks("gain") == ["", UNSURE, ""]
    assert f"note: {UNSURE}: unknown" in render_history(history)


def test_one_library_judged_twice_is_no_trend(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    for day, (name, library) in enumerate(((FIRST, "a"), (SECOND, "a"), (THIRD, "b")), 1):
        model, created = report_support.good(), f"2026-01-0{day}T00:00:00+00:00"
        keep(tree.reports("q") / name, model, created, library)
    history = read_history(tree, "q")
    assert [one.same_library for one in history.points] == [False, True, False]
    table = render_history(history)
    assert f"{SECOND}: removed; same library as the version before" in table
    assert next(line for line in table.splitlines() if SECOND in line).startswith(SAME)
    for quantity in QUANTITIES:
        chart = drawn(history, quantity.field)
        assert (curves(chart), signs(chart)) == ([2], [SAME])
    assert "same library as the version before" in render_history_html(history)


def test_no_line_leads_over_a_version_without_a_value() -> None:
    dots = [Dot("a", 1.0, ""), Dot("b", 2.0, ""), None, Dot("c", 2.0, "")]
    chart = ET.fromstring(series_chart("plot", "", dots, [("day", "")] * 4))
    assert len(curves(chart)) == 1


def test_a_break_holds_for_a_version_without_a_value() -> None:
    dots = [Dot("a", 1.0, ""), None, Dot("b", 2.0, "")]
    chart = ET.fromstring(series_chart("plot", "", dots, [("day", "")] * 3, ["", OTHER, ""]))
    assert curves(chart) == []


def test_signs_stand_in_front_of_the_bar_that_does_not_continue() -> None:
    assert sparkline([1.0, 2.0, 1.0], ["", OTHER, SAME]) == "▁≠█=▁"


def test_the_command_of_a_note_runs_as_it_stands_with_two_versions(tree: Tree) -> None:
    history = read_history(tree, "p")
    other = history.points[0].model_copy(update={"baseline": "another"})
    apart = history.model_copy(update={"points": (other, *history.points[1:])})
    (said,) = (one for one in notes(apart) if "same baseline" in one)
    words = said.partition("`.venv/bin/pipeline ")[2].partition("`")[0].split()
    assert cli.commands[words[0]].make_context("diff", words[1:]).params["newer"] == "NEWER"


@pytest.mark.parametrize(
    ("moments", "said"),
    [
        (("2026-01-01T10:20:00", "2026-01-02T10:20:00"), ["2026-01-01", "2026-01-02"]),
        (("2026-01-01T10:20:00", "2026-01-01T11:20:00"), ["01-01 10:20", "01-01 11:20"]),
    ],
)
def test_dots_of_one_day_are_told_apart_by_the_time(
    moments: tuple[str, ...], said: list[str]
) -> None:
    points = [Point.model_construct(created=moment) for moment in moments]
    assert _moments(points) == said


def test_the_charts_mark_what_is_current_and_what_is_rejected() -> None:
    kinds = ((True, False), (False, True), (False, False))
    made = [Point.model_construct(version="1-aa", current=now, rejected=no) for now, no in kinds]
    assert list(map(_short, made)) == ["* aa", "✕ aa", "aa"]
