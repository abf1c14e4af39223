"""Documents that must say what the code says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from pipeline.core.errors import ExitCode, exit_code_page
from pipeline.layout.marks import VARIANTS
from pipeline.profile import schema
from pipeline.stages import NAMES
from pipeline.toolchain import flags

ROOT = Path(__file__).resolve().parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_exit_codes_page_is_the_table() -> None:
    assert text("docs/exit-codes.md") == exit_code_page()


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
    [schema.Profile, schema.Layout, schema.Gate, schema.Program, schema.Command, schema.Trace],
)
def test_each_key_of_a_profile_is_documented(table: type[BaseModel]) -> None:
    page = text("docs/pipeline.md")
    for key in table.model_fields:
        assert f"`{key}`" in page, key
