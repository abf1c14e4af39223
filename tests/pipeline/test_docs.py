"""Documents that must say what the code says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from prose import faults
from pydantic import BaseModel
from test_allocator_order import ORDER
from test_allocator_order import VARIANTS as BUILDS

from pipeline.cli import cli
from pipeline.core.exit_codes import ExitCode, exit_code_page
from pipeline.layout.marks import VARIANTS
from pipeline.profile import schema, workload
from pipeline.stages import NAMES
from pipeline.toolchain import flags

ROOT = Path(__file__).resolve().parents[2]
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_exit_codes_page_is_the_table() -> None:
    assert text("docs/exit-codes.md") == exit_code_page()


def test_what_a_command_does_fits_its_line_of_help() -> None:
    # click cuts a longer sentence and puts "..." behind it
    said = CliRunner().invoke(cli, ["--help"], terminal_width=80).output
    listed = said.partition("Commands:")[2]
    assert len(listed.splitlines()) > 20
    assert "..." not in listed


def test_bootstrap_uses_codes_of_the_table() -> None:
    script = text("bootstrap")
    for code in (ExitCode.PACKAGES, ExitCode.PYTHON, ExitCode.SPACE):
        assert f"die {code.value} " in script


def test_versions_agree() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert project["version"] == text("VERSION").strip()


def test_lock_names_no_place_and_has_hashes() -> None:
    lock = text("requirements.lock")
    assert "://" not in lock
    packages = [line for line in lock.splitlines() if "==" in line and not line.startswith("#")]
    assert len(packages) > 10
    assert lock.count("--hash=sha256:") >= len(packages)


@pytest.mark.parametrize("table", [v for v in vars(flags).values() if isinstance(v, tuple)])
def test_each_flag_has_its_reason(table: flags.Flags) -> None:
    assert table
    for flag in table:
        assert len(flag.why) > 15, flag.text


def test_file_names_of_sources_are_unique() -> None:
    # -static-func-full-module-prefix=false tells static functions apart by them.
    sources = (ROOT / "allocator").rglob("*.c")
    names = [p.name for p in sources if p.parent.name not in VARIANTS]  # never trained
    assert len(names) == len(set(names)) > 10


def test_forbidden_flags_are_not_used() -> None:
    used = [f.text for v in vars(flags).values() if isinstance(v, tuple) for f in v]
    assert not {"--use-gnu-stack", "-fno-plt"} & set(used)


@pytest.mark.parametrize("stage", NAMES)
def test_each_stage_is_documented(stage: str) -> None:
    assert f"**{stage}**" in text("docs/pipeline.md")


@pytest.mark.parametrize(
    "table",
    [
        schema.Profile,
        schema.Layout,
        schema.Gate,
        workload.Program,
        workload.Command,
        workload.Trace,
    ],
)
def test_each_key_of_a_profile_is_documented(table: type[BaseModel]) -> None:
    page = text("docs/profiles.md")
    for key in table.model_fields:
        assert f"`{key}`" in page, key


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_each_command_is_documented(command: str) -> None:
    assert f"`pipeline {command}" in text("docs/commands.md")


def pictures() -> str:
    """Return what stands in the pictures of docs/architecture.md."""
    lines = text("docs/architecture.md").splitlines()
    return "\n".join(line for line in lines if line.startswith("    "))


def test_the_picture_has_each_stage_in_the_order_in_which_they_run() -> None:
    drawn = re.findall(r"\[([a-z-]+)\]", pictures())
    assert [stage for stage in drawn if stage in NAMES] == list(NAMES)
    assert set(drawn) == {*NAMES, "configure", "tune"}


def test_the_picture_has_each_folder_of_the_allocator_below_what_uses_it() -> None:
    drawn = re.findall(r"\b([a-z]+)/ ", pictures())
    beside = {*BUILDS, "include"}
    assert [folder for folder in drawn if folder not in beside] == list(reversed(ORDER))
    assert set(drawn) == {*ORDER, *beside}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_read(page: Path) -> None:
    assert not faults(page)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_a_command_in_a_guide_runs_as_it_stands(page: Path) -> None:
    """A clone has .venv/bin/pipeline, and none in the PATH. A line with [ shows a form."""
    bare = re.compile(r"^ {4}(?:pipeline|hakmem) (?!.*\[).*", re.M)
    assert bare.findall(page.read_text(encoding="utf-8")) == []


GOOD = "# Title\n\n**For readers.** Afterwards you can read.\n\n## A part\n\n[there](#a-part)\n"


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("", ""),
        ("so " * 30 + "`some code`.", "a sentence of 31 words"),
        ("so " * 29 + "`code`. Next.", ""),
        ("- " + "word\n  " * 31, "a sentence of 31 words"),
        ("| a |\n| - |\n| " + "word " * 26 + "|", "a cell of 26 words"),
        ("| a |\n| - |\n| " + "word " * 25 + "|", ""),
        ("wide-" * 27, "a line of 135 characters"),
        ("    " + "wide-" * 27, ""),
        ("<<<<<<< HEAD", "a conflict"),
        ("[there](gone.md)", "not there: gone.md"),
        ("[there](#b-part)", "not there: #b-part"),
    ],
)
def test_each_fault_of_a_page_is_found(more: str, fault: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(GOOD + "\n" + more + "\n", encoding="utf-8")
    found = faults(page)
    assert [fault in line for line in found] == ([True] if fault else [])


def test_a_page_that_does_not_say_for_whom_it_is_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nIt does things.\n", encoding="utf-8")
    assert "first paragraph" in faults(page)[0]
