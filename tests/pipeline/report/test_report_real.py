"""Reports of a real build, and the commands that show and compare them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from conftest import Sandbox
from report_support import bad, good
from test_report_html import check_page
from test_report_json import validator

from pipeline.cli import cli
from pipeline.core.exit_codes import ExitCode
from pipeline.release.contents import write_sums
from pipeline.report.compared_model import Comparison
from pipeline.report.files import FILES, JSON, read_report, render_json

ROOT = Path(__file__).resolve().parents[3]
WORKFLOW = ROOT / ".github" / "workflows" / "judge.yml"


def report(built: Sandbox, *arguments: str) -> tuple[int, str]:
    return built.run(*arguments, "--profile", "tiny")


def version(built: Sandbox) -> Path:
    return built.current.resolve()


def edited(built: Sandbox, folder: Path, factor: float) -> Path:
    """Return a copy of the published version's report with other counts, of another library."""
    shutil.copytree(version(built), folder, symlinks=True)
    content = json.loads((folder / JSON).read_text(encoding="utf-8"))
    for one in content["verify"]["counting"]["workloads"]:
        count = one["tuned"]["instructions"]
        one["tuned"]["instructions"] = {name: count[name] * factor for name in count}
    content["verify"]["tuned"]["sha256"] = "0" * 64
    (folder / JSON).write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_version_has_all_forms_and_they_are_listed(built: Sandbox) -> None:
    listed = (version(built) / "SHA256SUMS").read_text(encoding="utf-8")
    for name in FILES:
        assert (version(built) / name).stat().st_size > 1000
        assert f"  {name}\n" in listed


def test_published_page_is_whole_and_alone(built: Sandbox) -> None:
    html = (version(built) / "report.html").read_text(encoding="utf-8")
    page = check_page(html)
    assert not re.search(r"https?:", html)
    assert "hak_malloc" in page.said


def test_published_json_keeps_to_the_schema(built: Sandbox) -> None:
    content = (version(built) / JSON).read_text(encoding="utf-8")
    validator().validate(json.loads(content))
    assert render_json(read_report(version(built))) == content


def test_maps_show_both_libraries_with_their_heat(built: Sandbox) -> None:
    model = read_report(version(built))
    assert model.code is not None
    for code in model.code:
        hot = {one.name: one for one in code.functions}["hak_malloc"]
        assert hot.count
        assert hot.size < 200
        assert any(one.count == 0 for one in code.functions)
    assert model.code[0].hot_end is None
    assert model.code[1].hot_end is not None
    assert any(one.part == "cold" for one in model.code[1].functions)


def test_rows_say_where_a_function_went_and_why(built: Sandbox) -> None:
    rows = {row.name: row for row in read_report(version(built)).functions}
    malloc = rows["hak_malloc"]
    assert malloc.before is not None
    assert malloc.after is not None
    assert malloc.before.address != malloc.after.address
    assert re.match(r"hot.txt, place \d+ of \d\d", malloc.why)
    assert all(row.why for row in rows.values())


def test_receipt_of_the_training(built: Sandbox) -> None:
    training = read_report(version(built)).training
    assert training is not None
    assert {row.name for row in training.workloads} == {"mixed-sizes", "shell"}
    assert training.functions_ran and training.functions
    assert 0 < training.functions_ran < training.functions


def test_report_in_each_form(built: Sandbox, tmp_path: Path) -> None:
    for form, words in (("term", "instructions per op"), ("md", "## The keys")):
        code, said = report(built, "report", "--format", form)
        assert code == 0, said
        assert words in said
    last = built.root / "build" / "pipeline" / "tiny" / "reports" / "last"
    for form in ("html", "json"):
        target = tmp_path / form
        code, said = report(built, "report", "last", "--format", form, "-o", str(target))
        assert (code, said) == (0, f"wrote {target}\n")
        assert target.read_text("utf-8") == (last / f"report.{form}").read_text("utf-8")


def test_diff_tells_a_regression_by_its_exit_code(built: Sandbox, tmp_path: Path) -> None:
    heavier = edited(built, tmp_path / "heavier", 1.05)
    code, said = report(built, "diff", str(version(built)), str(heavier))
    assert code == ExitCode.REGRESSION, said
    assert re.search(r"instructions per op .* \+5\.00 % +worse", said)
    code, said = report(built, "diff", str(heavier), "--format", "md")
    assert code == 0, said
    assert "no regression was shown" in said


@pytest.mark.slow
def test_versions_can_be_judged_against_each_other(built: Sandbox) -> None:
    here = str(version(built))
    code, said = report(built, "diff", here, here, "--measure", "--quick", "--format", "json")
    assert code in (ExitCode.OK, ExitCode.REGRESSION), said
    assert "diff: done in" in said
    comparison = Comparison.model_validate_json(said[said.index("{") :])
    rows = {row.name: row for row in comparison.rows}
    assert comparison.measured
    assert rows["throughput"].why.startswith("judged directly: ")
    assert rows["instructions per op"].ratio == pytest.approx(1)


def test_report_against_another_version(built: Sandbox, tmp_path: Path) -> None:
    lighter = edited(built, tmp_path / "lighter", 0.9)
    code, said = report(built, "report", "--against", str(lighter), "--format", "md")
    assert code == 0
    assert "instructions per op is worse than in" in said
    code, said = report(built, "report", "--against", "baseline", "--format", "md")
    assert (code, "only the baseline was asked for" in said) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["report", "9.9"], ExitCode.VERSION, "no published version 9.9"),
        (["report", "--against", "9.9"], ExitCode.VERSION, "no published version 9.9"),
        (["report", "--format", "pdf"], ExitCode.USAGE, "'pdf' is not one of"),
        (["diff", "current", "--quick"], ExitCode.USAGE, "none was asked for: add --measure"),
        (["diff"], ExitCode.USAGE, "Missing argument 'OLDER'"),
        (["diff", "9.9", "last"], ExitCode.VERSION, "no published version 9.9"),
    ],
)
def test_bad_wishes(built: Sandbox, arguments: list[str], code: int, words: str) -> None:
    found, said = report(built, *arguments)
    assert found == code, said
    assert words in said


def test_last_without_any_build(fresh: Sandbox) -> None:
    code, said = fresh.run("report", "last", "--profile", "tiny")
    assert code == ExitCode.VERSION
    assert "no build of profile 'tiny' was judged" in said


def test_a_report_of_another_schema_is_refused(built: Sandbox, tmp_path: Path) -> None:
    folder = edited(built, tmp_path / "old", 1)
    content = (folder / JSON).read_text(encoding="utf-8")
    (folder / JSON).write_text(content.replace('"schema_version": 3', '"schema_version": 1', 1))
    (folder / "manifest.json").unlink(missing_ok=True)  # else it is a damaged version
    code, said = report(built, "report", str(folder))
    assert code == ExitCode.ARTIFACT
    assert "is no report of schema 3" in said


def test_check_fails_on_what_is_refused(built: Sandbox, tmp_path: Path) -> None:
    for model, code in ((good(), ExitCode.OK), (bad(), ExitCode.GATE)):
        folder = tmp_path / model.version
        shutil.copytree(version(built), folder, symlinks=True)
        (folder / JSON).write_text(render_json(model), encoding="utf-8")
        (folder / "SHA256SUMS").unlink()
        write_sums(folder)
        assert report(built, "report", str(folder), "--check")[0] == code


def test_list_shows_what_a_reader_wants(built: Sandbox) -> None:
    code, said = built.run("list", "--profile", "tiny")
    assert code == 0
    head, *rows = said.splitlines()
    assert re.fullmatch(
        r" +profile +version +published +throughput +I-cache +mode +library +folder", head
    )
    current = [row for row in rows if row.startswith("*")]
    assert len(current) == 1
    assert version(built).name in current[0]
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC .* default +\d.* KiB +\d", current[0])


def test_completion_knows_versions(built: Sandbox) -> None:
    words = f"pipeline report --profile tiny {version(built).name[:7]}"
    _, said = built.run(_PIPELINE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="4")
    assert f"plain,{version(built).name}" in said.splitlines()
    words = "pipeline report --profile tiny --against "
    _, said = built.run(_PIPELINE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="5")
    assert {"plain,baseline", "plain,last"} <= set(said.splitlines())


def bootstrapped(file: str) -> list[str]:
    (found,) = re.findall(r"^.*\./bootstrap (.+)$", (ROOT / file).read_text("utf-8"), re.M)
    return [found]


def test_workflow_uses_commands_that_exist() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    lines = re.findall(r"(?:\.venv/bin/pipeline|\./bootstrap) ([^>|\n]+)", text)
    assert len(lines) >= 5
    for line in [*lines, *bootstrapped(".github/workflows/full.yml"), *bootstrapped(".ci/run")]:
        name, *arguments = shlex.split(line.replace("$PROFILE", "mixed"))
        cli.commands[name].make_context(name, arguments)
    assert "GITHUB_STEP_SUMMARY" in text
    assert "upload-artifact" in text


def test_last_names_the_profile_whose_build_was_judged(built: Sandbox) -> None:
    code, said = built.run("report", "last", "--profile", "mixed")
    assert code == ExitCode.VERSION
    assert "report last -p tiny" in said
