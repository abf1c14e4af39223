"""The library knows the names of all variables that something reads, and tells of others."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "allocator/policy"
NAME = r"(HAKMEM_[A-Z][A-Z0-9_]*)"
READS = {
    ".c": re.compile(rf'(?:getenv|number|find)\((?:environment, )?"{NAME}"|NULL, "{NAME}"'),
    ".py": re.compile(rf'environ(?:\.get\(|\[)"{NAME}"'),
    ".sh": re.compile(rf"\$\{{?{NAME}"),
    ".rs": re.compile(rf'var(?:_os)?\("{NAME}"'),
}
"""What reading a variable of the environment looks like, by the kind of a file."""
FOLDERS = ("allocator", "bench", "operate", "packaging", "pipeline", "tests", "training")


SCRIPTS = (ROOT / "bootstrap", ROOT / ".ci/run", ROOT / ".ci/review")
"""Shell scripts without an ending."""


def kind(path: Path) -> str:
    return ".sh" if path in SCRIPTS else path.suffix


def read_in(path: Path) -> set[str]:
    """Return the names that a file reads."""
    found = READS[kind(path)].findall(path.read_text("utf-8"))
    return {one for names in found for one in ([names] if isinstance(names, str) else names) if one}


def read_in_tree() -> set[str]:
    """Return the names that any file of the tree reads."""
    files = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file()]
    return {name for path in (*files, *SCRIPTS) if kind(path) in READS for name in read_in(path)}


def listed(path: Path) -> set[str]:
    return set(re.findall(rf'"{NAME}"', path.read_text("utf-8")))


def test_every_name_that_something_reads_is_known() -> None:
    options = {name for path in POLICY.glob("options*.def") for name in listed(path)}
    assert read_in_tree() - options == listed(POLICY / "names_elsewhere.def")


@pytest.mark.parametrize("table", sorted(p.name for p in POLICY.glob("options*.def")))
def test_options_of_every_variant_are_known(table: str) -> None:
    assert f'#include "policy/{table}"' in (POLICY / "names.c").read_text("utf-8")


@pytest.mark.parametrize("table", sorted(p.name for p in POLICY.glob("options*.def")))
def test_each_option_of_a_table_is_read(table: str) -> None:
    fields = re.findall(r"^HAK_OPTION\(\s*(\w+)", (POLICY / table).read_text("utf-8"), re.MULTILINE)
    sources = "".join(p.read_text("utf-8") for p in (ROOT / "allocator").rglob("*.[ch]"))
    read = {*re.findall(r"(?:->|\.|\bHAK_OPTION_)(\w+)", sources)}
    unread = sorted({*fields} - read)
    assert not unread, f"{table} has options that no source of allocator/ reads: {unread}"
