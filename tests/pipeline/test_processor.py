"""Processors have one name each: from vendor, family and model, and a fallback for the others."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.architecture import AARCH64, ALL, X86_64
from pipeline.core.errors import UsageError
from pipeline.core.processor import (
    ANY,
    NAMES,
    OTHER,
    TABLE,
    machine,
    name_of,
    nearest,
    require_known,
)

CPUINFO = """\
processor\t: 0
vendor_id\t: {vendor}
cpu family\t: {family}
model\t\t: {model}
model name\t: Some Processor @ 2.00GHz
flags\t\t: {flags}

processor\t: 1
vendor_id\t: Other
"""
ARM = """\
processor\t: 0
BogoMIPS\t: 243.75
Features\t: {flags}
CPU implementer\t: {vendor}
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: {part}
CPU revision\t: 1

processor\t: 1
CPU part\t: 0xd08
"""
V2 = "cx16 lahf_lm popcnt ssse3 sse4_1 sse4_2"
V3 = f"{V2} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"


@pytest.mark.parametrize(
    ("vendor", "family", "model", "name"),
    [
        ("GenuineIntel", 6, 0x6A, "intel-icelake"),
        ("GenuineIntel", 6, 0x8F, "intel-sapphirerapids"),
        ("GenuineIntel", 6, 207, "intel-emeraldrapids"),
        ("GenuineIntel", 6, 0x55, "intel-skylake-x"),
        ("GenuineIntel", 6, 250, "intel"),
        ("GenuineIntel", 19, 1, "intel"),
        ("AuthenticAMD", 0x17, 0x31, "amd-zen2"),
        ("AuthenticAMD", 25, 1, "amd-zen3"),
        ("AuthenticAMD", 25, 0x11, "amd-zen4"),
        ("AuthenticAMD", 0x1A, 2, "amd-zen5"),
        ("AuthenticAMD", 0x10, 2, "amd"),
        ("  Shanghai  ", 7, 1, "zhaoxin"),
        ("NobodyKnows", 6, 0x6A, OTHER),
    ],
)
def test_a_machine_has_the_name_that_the_table_says(
    vendor: str, family: int, model: int, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(CPUINFO.format(vendor=vendor, family=family, model=model, flags="fpu"))
    found = machine(path, X86_64)
    assert found.name == name
    assert found.described == f"Some Processor @ 2.00GHz (family {family}, model {model})"


@pytest.mark.parametrize(
    ("vendor", "part", "name"),
    [
        ("0x41", "0xd0c", "arm-neoverse-n1"),
        ("0x41", "0xd40", "arm-neoverse-v1"),
        ("0x41", "0xfff", "arm"),
        ("0xc0", "0xac3", "ampere-1"),
        ("0x61", "0x022", "apple"),
        ("0x99", "0xd0c", OTHER),
    ],
)
def test_processors_of_aarch64_have_names_by_their_parts(
    vendor: str, part: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(ARM.format(vendor=vendor, part=part, flags="fp asimd atomics crc32 asimdrdm"))
    found = machine(path, AARCH64)
    assert found.name == name
    assert found.described == f"{name} (implementer {vendor}, part {int(part, 0):#x})"
    assert found.missing("armv8.1-a") == ()
    assert found.missing("x86-64") == ("x86-64",)


def test_what_a_processor_of_aarch64_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(ARM.format(vendor="0x41", part="0xd08", flags="fp asimd crc32"))
    found = machine(path, AARCH64)
    assert found.missing("armv8-a") == ()
    assert found.missing("armv8.1-a") == ("asimdrdm", "atomics")
    assert nearest("arm-neoverse-n1") == ("arm-neoverse-n1", "arm")


@pytest.mark.parametrize("text", ["", "processor\t: 0\nvendor_id\t: GenuineIntel\n", "?\n\n:\n"])
def test_a_kernel_that_says_little_is_no_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    for architecture in ALL:
        assert machine(tmp_path / "cpuinfo", architecture).name in {OTHER, "intel"}
        assert machine(tmp_path / "none", architecture).name == OTHER


def test_this_machine_has_a_name() -> None:
    assert machine().name in NAMES


def test_no_model_has_two_names_and_no_name_is_given_twice() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for one, other in combinations(TABLE, 2):
        if one[:2] == other[:2]:
            for first, last in one[2]:
                assert all(last < low or high < first for low, high in other[2]), (one, other)
    assert all(name_of(of, family, ranges[0][0]) == name for of, family, ranges, name in TABLE)


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        (V3, {}),
        (
            V2,
            {"x86-64-v3": ("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave")},
        ),
        (
            V3.replace("popcnt ", "").replace("bmi2 ", ""),
            {"x86-64-v2": ("popcnt",), "x86-64-v3": ("bmi2", "popcnt")},
        ),
    ],
)
def test_what_a_level_of_instructions_needs_is_named(
    flags: str, missing: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(CPUINFO.format(vendor="AuthenticAMD", family=25, model=1, flags=flags))
    for level in ("x86-64", "x86-64-v2", "x86-64-v3"):
        assert machine(path, X86_64).missing(level) == missing.get(level, ())


def test_what_fits_a_processor_is_its_own_then_its_vendors() -> None:
    assert nearest("amd-zen3") == ("amd-zen3", "amd")
    assert nearest("intel") == ("intel",)
    assert nearest(ANY) == ()


def test_a_processor_that_nobody_knows_is_refused_with_the_nearest_names() -> None:
    assert require_known("amd-zen3") == "amd-zen3"
    assert require_known(ANY) == ANY
    ours = f"this machine has {machine().name}; docs/geometry.md lists all names"
    for wrong, close in (
        ("amd-zne3", "amd-zen3 or amd-zen5 or amd-zen4"),
        ("zen3", "amd-zen3"),
        ("lake", "intel-skylake or intel-skylake-x or intel-cannonlake"),
    ):
        with pytest.raises(UsageError, match=f"^there is no processor '{wrong}'$") as e:
            require_known(wrong)
        assert e.value.hint == f"did you mean {close}? {ours}"
    with pytest.raises(UsageError) as e:
        require_known("68000")
    assert e.value.hint == ours


def test_the_page_on_geometry_lists_the_names_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "geometry.md").read_text(encoding="utf-8")
    listed = page.split("## One kind of processor")[1].split("All names")[1].split("\n\n")[1]
    assert [*NAMES] == listed.split()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["build", "--cpu", "all", "--tune-budget", "10m"],
            "first, with `.venv/bin/pipeline tune --profile mixed --tune-budget 600s`",
        ),
        (["tune", "--cpu", "all", "--tune-budget", "10m"], "there is no processor 'all'"),
    ],
)
def test_all_kinds_are_built_and_not_tuned(words: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, words)
    told = getattr(result.exception, "message", "") + result.output
    assert said in told
    assert result.exit_code != 0


@pytest.mark.parametrize("words", [["build"], ["tune", "--tune-budget", "10m"]], ids=str)
def test_a_command_refuses_it_before_any_work(words: list[str]) -> None:
    result = CliRunner().invoke(cli, [*words, "--cpu", "amd-zne3"])
    assert isinstance(result.exception, UsageError), result.output
