"""bench/result builds: a build's report becomes a column of docs/results/builds.md."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from report_support import bad
from report_support import good as made_anew

from bench.harness import result, saved
from bench.harness.tables import builds, page, recipe
from pipeline.core.exit_codes import ExitCode
from pipeline.report.files import JSON, render_json
from pipeline.report.model import ReportModel, Source

REPORT = Path("reports/last") / JSON
RECIPE = """\
title = "Builds"
corner = "build"
columns = {{}}
report = "{report}"
[[run]]
command = ["{program}"]
"""
good = cache(made_anew)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder like docs/results, with a recipe whose build ends as a file says."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nexit $(cat {tmp_path}/code)\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "code").write_text("0", encoding="utf-8")
    text = RECIPE.format(report=tmp_path / REPORT, program=program)
    (tmp_path / "builds.toml").write_text(text, encoding="utf-8")
    (tmp_path / "builds.md").write_text("<!-- bench/result builds -->\n<!-- end -->\n", "utf-8")
    monkeypatch.setattr(recipe, "RECIPES", tmp_path)
    monkeypatch.setattr(saved, "RESULTS", tmp_path)
    monkeypatch.setattr(page, "DATA", tmp_path / "data")
    return tmp_path


def write(model: ReportModel, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(render_json(model), encoding="utf-8")
    return place


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(result.main, ["builds", *map(str, arguments)])


def cells(made: str) -> dict[str, list[str]]:
    """Return the cells of each row by its first one."""
    lines = [line.strip("| ").split(" | ") for line in made.splitlines() if line.startswith("| ")]
    return {line[0]: line[1:] for line in lines}


def found_in(results: Path) -> dict[str, Any]:
    (file,) = (results / "data").iterdir()
    return page.read(file)


def test_a_report_becomes_a_column_and_its_file_has_profile_and_processor(results: Path) -> None:
    done = call("--from", write(good(), results / "elsewhere" / JSON))
    assert done.exit_code == 0, done.output
    kind = good().verify.environment.kind
    assert (results / f"data/builds-mixed-{kind}.json").exists()
    made = cells((results / "builds.md").read_text(encoding="utf-8"))
    assert made["outcome"] == ["Published"]
    assert made["commit"] == ["0123abcd"]
    assert made["throughput"][0].endswith(f", {good().verify.keys.throughput.verdict}")
    assert made["taken branches, by BOLT"] == ["-40.00 %"]
    assert made["all, one after another"] == [f"{sum(one.seconds for one in good().stages):.0f}"]
    assert made["baseline: what baseline adds"][3].count("%") == 3


def test_what_a_report_does_not_know_is_unknown_and_never_zero() -> None:
    lacking = bad().model_copy(update={"stages": (), "layout": None})
    (_, verdict, _, stages) = builds.tables([builds.kept(lacking)])
    made = {**cells(verdict), **cells(stages)}
    named = (
        "commit",
        "chosen step",
        "instructions per op",
        "taken branches, by BOLT",
        "all, one after another",
    )
    assert {name: made[name] for name in named} == {key: ["unknown"] for key in named}
    assert not [cell for row in made.values() for cell in row if cell in ("0", "0.0", "")]


def test_a_figure_that_only_another_build_has_is_unknown() -> None:
    whole = builds.kept(good())
    lacking = {**whole, "mode": "quick", "summary": [], "misses": {}}
    (_, verdict, *_) = builds.tables([lacking, whole])
    made = cells(verdict)
    assert made["throughput"][1] == "unknown"
    assert "unknown" not in made["throughput"][0]
    programs = [row for name, row in made.items() if name.startswith("misses in")]
    assert programs and all(row[1] == "unknown" for row in programs)


@pytest.mark.parametrize(
    ("clean", "said"), [(True, "0123abcd"), (False, "0123abcd with changes"), (None, "0123abcd")]
)
def test_the_commit_has_changes_only_where_they_are_known(clean: bool | None, said: str) -> None:
    source = Source(commit="0123abcdef", clean=clean, command=None)
    found = builds.kept(good().model_copy(update={"source": source}))
    assert found["environment"]["commit"] == said


def test_a_build_that_was_not_published_says_so(results: Path) -> None:
    (results / "code").write_text(str(int(ExitCode.GATE)), encoding="utf-8")
    write(bad(), results / REPORT)
    assert call().exit_code == 0
    text = (results / "builds.md").read_text(encoding="utf-8")
    assert cells(text)["outcome"][0].startswith("Not published")
    assert found_in(results)["mode"] == "quick"


def test_a_build_that_fails_leaves_all_as_it_was(results: Path) -> None:
    """The report that lies there is that of an earlier build."""
    (results / "code").write_text("5", encoding="utf-8")
    write(good(), results / REPORT)
    before = (results / "builds.md").read_text(encoding="utf-8")
    assert call().exit_code == 5
    assert not (results / "data").exists()
    assert (results / "builds.md").read_text(encoding="utf-8") == before


def test_of_each_profile_and_kind_the_last_report_stays(results: Path) -> None:
    place = results / "elsewhere" / JSON
    for profile, outcome in (("mixed", False), ("server", True), ("mixed", True)):
        model = good().model_copy(update={"profile": profile, "published": outcome})
        assert call("--from", write(model, place)).exit_code == 0
    assert len(list((results / "data").iterdir())) == 2
    text = (results / "builds.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Builds of mixed", "## Builds of server"]
    assert "Not published" not in text


def test_a_file_that_is_no_report_is_refused(results: Path) -> None:
    other = write(good(), results / "verdict.json")
    assert call("--from", other).exit_code == 2
    damaged = results / "elsewhere" / JSON
    damaged.parent.mkdir()
    damaged.write_text(json.dumps({"schema_version": 3}), encoding="utf-8")
    done = call("--from", damaged)
    assert done.exit_code == ExitCode.ARTIFACT
    assert "is no report" in done.output
    assert not (results / "data").exists()


def test_a_report_is_for_a_table_of_builds_alone(tmp_path: Path) -> None:
    place = write(good(), tmp_path / JSON)
    done = CliRunner().invoke(result.main, ["options", "--from", str(place)])
    assert done.exit_code == 2
    assert "--from is for a table of builds" in done.output
