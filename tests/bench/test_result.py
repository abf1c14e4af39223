"""bench/result: tables of docs/results stand in their pages as their files have them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.harness import judged, result, saved
from bench.harness.arguments import Missing
from bench.harness.report import as_json
from bench.harness.results import Comparison, RunResult
from bench.harness.runner import Sample
from bench.harness.tables import listed, page, recipe, standing, trials
from bench.harness.tables.figures import FIGURES, of_comparison, of_judgements, of_memory, of_places
from pipeline.core.errors import UsageError

NAMES = recipe.names()
LINE = "echo seconds=1 cpu_seconds=$1 ops=1000000000 peak_rss_kib=1024 allocator=libc.so.6"
RECIPE = """\
title = "A table"
corner = "row"
columns."one, ns" = ["one", "ns"]
columns."two, ns" = ["two", "ns"]
rows.quick = "quick ones"
[[run]]
command = ["PROGRAM"]
repetitions = 3
rows.quick = []
columns.one = ["1.5"]
columns.two = ["4"]
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_tables_of_its_files(name: str) -> None:
    wanted = recipe.load(name)
    text = (saved.RESULTS / wanted.page).read_text(encoding="utf-8")
    assert page.update(wanted) == text, "bench/result --pages mends it"
    assert {figure for _, figure in wanted.wanted([""])} <= set(FIGURES)


def test_the_page_of_allocators_has_the_newest_comparisons() -> None:
    text = (saved.RESULTS / standing.PAGE).read_text(encoding="utf-8")
    assert standing.update() == text, "bench/result --pages mends it"


@pytest.mark.parametrize("file", sorted(page.DATA.iterdir()), ids=lambda file: file.stem)
def test_a_file_belongs_to_a_table_and_its_medians_are_those_of_its_samples(file: Path) -> None:
    found = page.read(file)
    assert found["table"] in NAMES
    for row, by_who in (found["samples"] or {}).items():
        for who, figures in by_who.items():
            for figure, values in figures.items():
                assert found["medians"][row][who][figure] == FIGURES[figure].whole(values)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder like docs/results, with the recipe `table` and its page."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{LINE}\n", encoding="utf-8")
    program.chmod(0o755)
    text = RECIPE.replace("PROGRAM", str(program))
    (tmp_path / "table.toml").write_text(text, encoding="utf-8")
    marks = "before\n<!-- bench/result table -->\nold\n<!-- end -->\nafter\n"
    (tmp_path / "table.md").write_text(marks, encoding="utf-8")
    monkeypatch.setattr(recipe, "RECIPES", tmp_path)
    monkeypatch.setattr(saved, "RESULTS", tmp_path)
    monkeypatch.setattr(page, "DATA", tmp_path / "data")
    return tmp_path


def test_it_measures_and_puts_the_table_between_the_marks(results: Path) -> None:
    done = CliRunner().invoke(result.main, ["table"])
    assert done.exit_code == 0, done.output
    (file,) = (results / "data").iterdir()
    quick = page.read(file)["samples"]["quick"]
    assert quick == {"one": {"ns": [1.5] * 3}, "two": {"ns": [4] * 3}}
    text = (results / "table.md").read_text(encoding="utf-8")
    assert "| row | one, ns | two, ns |\n| --- | ---: | ---: |\n| quick ones | 1.5 | 4.0 |" in text
    assert text.startswith("before\n") and text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
    assert "medians of 3" in " ".join(text.split())


def test_it_says_what_the_new_figures_replace_and_how_busy_both_were(results: Path) -> None:
    first = CliRunner().invoke(result.main, ["table"])
    assert "replaces" not in first.output
    (file,) = (results / "data").iterdir()
    quiet = page.read(file)
    quiet["environment"] |= {"date": "2026-01-02T03:04:05", "load before": 0.25}
    file.write_text(json.dumps(quiet), encoding="utf-8")
    again = CliRunner().invoke(result.main, ["table"])
    assert "replaces what was there of 2026-01-02, at a load of 0.2: `git checkout " in again.output


def test_it_leaves_the_file_of_another_processor(results: Path) -> None:
    assert CliRunner().invoke(result.main, ["table"]).exit_code == 0
    (file,) = (results / "data").iterdir()
    other = page.read(file)
    other["environment"]["processor"] = "Another (family 1, model 2)"
    file.write_text(json.dumps(other), encoding="utf-8")
    done = CliRunner().invoke(result.main, ["table"])
    assert done.exit_code == 2
    assert "is of Another (family 1, model 2)" in done.output
    assert page.read(file) == other


def test_the_same_model_under_another_name_is_the_same_processor(tmp_path: Path) -> None:
    there = tmp_path / "table-kind.json"
    there.write_text('{"environment": {"processor": "Intel Xeon (family 6, model 207)"}}')
    page.check_place(there, {"processor": "Intel(R) Xeon(R) Processor (family 6, model 207)"})


def test_a_program_that_fails_changes_nothing(results: Path) -> None:
    (results / "program").write_text("#!/bin/sh\necho no memory >&2\nexit 3\n", encoding="utf-8")
    before = (results / "table.md").read_text(encoding="utf-8")
    done = CliRunner().invoke(result.main, ["table"])
    assert done.exit_code == 1
    assert "no memory" in done.output
    assert not (results / "data").exists()
    assert (results / "table.md").read_text(encoding="utf-8") == before


def test_where_one_page_has_no_marks_none_is_changed(results: Path) -> None:
    (results / "unmarked.toml").write_text(RECIPE, encoding="utf-8")
    (results / "unmarked.md").write_text("no marks\n", encoding="utf-8")
    before = (results / "table.md").read_text(encoding="utf-8")
    done = CliRunner().invoke(result.main, ["--pages"])
    assert done.exit_code == 2
    assert "unmarked.md lacks the lines" in done.output
    assert (results / "table.md").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["none"], "there is no bench/results/none.toml"), ([], "one of NAME, --list and --pages")],
)
def test_wrong_use_is_refused(arguments: list[str], said: str, results: Path) -> None:
    assert results.is_dir()
    done = CliRunner().invoke(result.main, arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_what_is_not_built_is_named_with_the_way_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"(?s)GUARD is not built.*cmake --build --preset guard"):
        recipe.filled(("--peer", "guard=GUARD,HAKMEM_GUARD_QUARANTINE=0"), tmp_path)


def test_a_library_that_is_not_preloaded_fails_the_run(results: Path) -> None:
    recipe_file = results / "table.toml"
    text = recipe_file.read_text(encoding="utf-8")
    text = text.replace('command = ["', 'command = ["env", "LD_PRELOAD=libgone.so", "')
    recipe_file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(result.main, ["table"])
    assert done.exit_code == 1
    assert "malloc came from libc.so.6: libgone.so was not preloaded" in done.output


def found_by_compare(kib: float) -> dict[str, object]:
    row = RunResult("idle/1t", False, {"one": [Sample({"rss_kib": kib, "peak_rss_kib": kib})] * 2})
    row.calls["one"] = {"madvise": 7}
    return as_json(Comparison("one", ("one",), (row,), {}, "cpu"))


def test_what_bench_memory_wrote_has_a_row_for_each_setting(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    settings = {"always": found_by_compare(4096), "never": found_by_compare(2048)}
    file.write_text(json.dumps({"settings": settings}), encoding="utf-8")
    samples, ours = of_memory(file)
    assert ours == "one"
    ends = {
        row: [FIGURES["end MiB"].of(one, one) for one in by_who["one"]]
        for row, by_who in samples.items()
    }
    assert ends == {"idle/1t, always": [4.0, 4.0], "idle/1t, never": [2.0, 2.0]}


def test_system_calls_of_one_run_are_figures_too(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    file.write_text(json.dumps(found_by_compare(4096)), encoding="utf-8")
    samples, _ = of_comparison(file)
    assert [FIGURES["madvise"].of(one, one) for one in samples["idle/1t"]["one"]] == [7, 7]


def test_judgements_are_counted_and_their_changes_told_in_per_cent(tmp_path: Path) -> None:
    file = tmp_path / "found.jsonl"
    for seed, (verdict, ratio) in enumerate([("NO-GO", 0.98), ("NEUTRAL", 0.99), ("NO-GO", None)]):
        low, high = (ratio - 0.005, ratio + 0.005) if ratio else (None, None)
        right = verdict == "NO-GO"
        judged.keep(
            file,
            judged.Judged(judged.SLOWED, seed, verdict, right, ratio, low, high, 300, 9.0, 3.5),
        )
    samples, _ = of_judgements(file)
    ones = samples[judged.SLOWED]["judge"]

    def told(figure: str) -> float:
        values = [FIGURES[figure].of(one, one) for one in ones]
        return FIGURES[figure].whole([value for value in values if value is not None])

    counts = [told(name) for name in ("judgements", "right", "NO-GO", "GO", "truth missed")]
    assert counts == [3, 2, 2, 0, 1]
    assert told("least change") == pytest.approx(-2)
    assert told("most change") == pytest.approx(-1)
    assert told("half width") == pytest.approx(0.5)


def test_of_several_verdicts_the_newest_is_meant(tmp_path: Path) -> None:
    for number, key in enumerate(("b", "a")):
        verdict = tmp_path / f"build/pipeline/mixed/verify/{key}/verdict.json"
        verdict.parent.mkdir(parents=True)
        verdict.touch()
        os.utime(verdict, (number, number))
    assert recipe.filled(("VERDICT",), tmp_path) == (str(verdict),)


def test_placements_are_told_as_ratios_to_where_blocks_lie_today(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    today = {"l2": 4000, "tlb": 100, "l2_blocks": 3000}
    file.write_text(json.dumps({"today": today, "site": {**today, "l2": 1000}}), encoding="utf-8")
    samples, ours = of_places(file)
    (base,), (site,) = samples[""]["today"], samples[""]["site"]
    assert ours == "today"
    assert FIGURES["L2, ratio"].of(site, base) == 0.25
    assert FIGURES["L2, thousands"].of(base, base) == 4
    assert FIGURES["L2 in blocks, %"].of(base, base) == 75


def test_of_the_slowest_calls_a_table_has_the_least_of_all_runs() -> None:
    """Other work between two looks at the clock makes a call longer, and never shorter."""
    runs = [Sample({"malloc_max_ns": ns}) for ns in (3e6, 240e3, 9e6)]
    slowest = FIGURES["malloc slowest"]
    values = [slowest.of(one, one) for one in runs]
    assert slowest.whole([value for value in values if value is not None]) == 0.24


LISTED = """\
title = "A list"
corner = "library"
[listed]
time = "ratio"
peak = "peak ratio"
[[run]]
command = ["true"]
"""


def test_a_list_names_rows_whose_samples_all_lie_on_one_side_of_ours(results: Path) -> None:
    (results / "list.toml").write_text(LISTED, encoding="utf-8")
    shown = recipe.load("list")
    samples = {
        "tree/1t": {"other": {"ratio": [1.5, 1.2, 1.3], "peak ratio": [1.0, 1.01, 1.0]}},
        "spike-1G/1t": {"other": {"ratio": [2.0] * 3, "peak ratio": [0.8, 0.9, 0.7]}},
        "queue/1t": {"other": {"ratio": [1.5, 0.99, 1.3]}},
        "near/1t": {"other": {"ratio": [1.05, 1.01, 1.09]}},
    }
    head, line = listed.cells(shown, {"samples": samples})
    assert head == ["library", "more", "less"]
    more, less = "`tree/1t` time 1.30 [1.20, 1.50]", "`spike-1G/1t` peak 0.80 [0.70, 0.90]"
    assert line == ["other", more, less]


def test_a_list_names_a_few_and_counts_the_rest(results: Path) -> None:
    (results / "list.toml").write_text(LISTED, encoding="utf-8")
    samples = {f"row-{i}/1t": {"other": {"ratio": [1.0 + i]}} for i in range(1, 7)}
    _, (_, more, _) = listed.cells(recipe.load("list"), {"samples": samples})
    assert more.startswith("`row-6/1t` time 7.00") and more.endswith("; 2 more")


def test_a_list_keeps_the_figures_of_all_but_ours(results: Path) -> None:
    (results / "list.toml").write_text(LISTED, encoding="utf-8")
    assert recipe.load("list").wanted(["a"]) == [("a", "ratio"), ("a", "peak ratio")]


def test_trials_of_the_ledger_are_found_by_patterns() -> None:
    found = [one.name for one in trials.find("without-sh*,without-homes")]
    assert "without-homes" in found and "without-shed" in found and "without-stale" not in found
    with pytest.raises(UsageError, match="no trial of the ledger is called 'gone'"):
        trials.find("gone")


def test_a_word_for_trials_becomes_both_sides_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "words", lambda patterns: ("--ours", f"of {patterns}"))
    assert recipe.filled(("run", "TRIALS:a-*", "-n")) == ("run", "--ours", "of a-*", "-n")


def test_a_slow_run_of_ours_is_seen_in_no_line(results: Path) -> None:
    """Many libraries are held against their median: ours alone, once slow, showed in each line."""
    (results / "list.toml").write_text(LISTED, encoding="utf-8")
    row = {f"library-{i}": {"ratio": [0.5, 1.0, 0.5]} for i in range(listed.MANY)}
    row["slow"] = {"ratio": [1.0, 2.0, 1.0]}
    _, *lines = listed.cells(recipe.load("list"), {"samples": {"tree/1t": row}})
    assert [line[1:] for line in lines[:-1]] == [["", ""]] * listed.MANY
    assert lines[-1][1:] == ["`tree/1t` time 2.00 [2.00, 2.00]", ""]
