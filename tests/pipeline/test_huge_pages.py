"""What the doctor says of the system's huge pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.commands.doctor import huge_page_findings
from pipeline.core.huge_pages import LARGE_KIB, SMALL_KIB, line_that_allows, setting, told


def system(folder: Path, top: str, **sizes: str) -> Path:
    """Write the files that a kernel with these settings has."""
    (folder / "enabled").write_text(top, encoding="ascii")
    for name, text in sizes.items():
        file = folder / f"hugepages-{name.removeprefix('of_')}kB" / "enabled"
        file.parent.mkdir()
        file.write_text(text, encoding="ascii")
    return folder


NEVER, INHERITED = "always inherit madvise [never]\n", "always [inherit] madvise never\n"


def test_a_size_may_inherit_what_is_set_for_all(tmp_path: Path) -> None:
    folder = system(tmp_path, "always [madvise] never\n", of_2048=INHERITED, of_64=NEVER)
    assert setting(LARGE_KIB, folder) == "madvise"
    assert setting(SMALL_KIB, folder) == "never"
    assert setting(128, folder) is None


def test_older_kernels_have_one_setting(tmp_path: Path) -> None:
    folder = system(tmp_path, "[always] madvise never\n")
    assert setting(LARGE_KIB, folder) == "always"
    assert setting(SMALL_KIB, folder) is None


def test_without_huge_pages_nothing_is_set(tmp_path: Path) -> None:
    assert setting(LARGE_KIB, tmp_path) is None
    large, small = huge_page_findings(tmp_path)
    assert "none" in large.state
    assert (large.cure, small.cure) == ("", "")


@pytest.mark.parametrize(
    ("of_large", "file"), [(INHERITED, "enabled"), (NEVER, "hugepages-2048kB/enabled")]
)
def test_the_line_changes_the_file_that_decides(tmp_path: Path, of_large: str, file: str) -> None:
    folder = system(tmp_path, "always madvise [never]\n", of_2048=of_large, of_64=NEVER)
    assert line_that_allows(LARGE_KIB, folder) == f"echo madvise > {tmp_path / file}"
    large, small = huge_page_findings(folder)
    assert large.cure == f"echo madvise > {tmp_path / file}"
    assert large.state == small.state == "no program gets them (never)"
    *words, forbid, allow = small.choice.splitlines()
    assert max(map(len, words)) <= 57  # beside what they are about, on a terminal of 80 columns
    assert forbid == f"echo never > {tmp_path / file}"
    assert allow == f"echo madvise > {tmp_path}/hugepages-64kB/enabled"
    assert small.cure == ""  # a choice: nothing is broken without them


def test_what_a_report_says_of_a_size_has_the_line_only_where_it_is_not_allowed(
    tmp_path: Path,
) -> None:
    assert told(SMALL_KIB, tmp_path) == "not in this kernel"
    folder = system(tmp_path, NEVER, of_64=NEVER)
    line = f"echo madvise > {tmp_path}/hugepages-64kB/enabled"
    assert told(SMALL_KIB, folder) == f"never (to allow them: {line})"
    (folder / "hugepages-64kB/enabled").write_text("always inherit [madvise] never\n")
    assert told(SMALL_KIB, folder) == "madvise"
