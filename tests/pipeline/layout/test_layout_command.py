"""``pipeline layout`` on a library that was built and published."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.errors import ExitCode

TINY = ("--profile", "tiny")


def broken_rules(output: str) -> set[str]:
    """Return the sentences of the rules that a check found broken."""
    return {line[2:] for line in output.splitlines() if line.startswith("✗ ")}


def test_published_library_keeps_the_contract_but_for_its_short_training(built: Sandbox) -> None:
    code, output = built.run("layout", "check", "--verbose", *TINY)
    assert code == ExitCode.ARTIFACT  # two workloads of a second do not run every hot function
    assert broken_rules(output) == {"every hot function ran in the training"}
    assert "✓ hot functions lie in the order of hot.txt" in output
    assert "hak_malloc: listed hot" not in output


def test_other_lists_than_it_was_built_by_are_noticed(built: Sandbox) -> None:
    hot = built.root / "layouts" / "mixed" / "hot.txt"
    text = hot.read_text(encoding="utf-8")
    hot.write_text("hak_free\nhak_malloc\nhak_mallock\n", encoding="utf-8")
    try:
        code, output = built.run("layout", "check", *TINY)
    finally:
        hot.write_text(text, encoding="utf-8")
    assert code == ExitCode.ARTIFACT
    assert "hak_malloc: lies before hak_free, against hot.txt" in output
    assert "hak_mallock: gone: in no function's code" in output


def test_proposal_is_a_patch_and_can_be_written(built: Sandbox) -> None:
    lists = built.root / "layouts" / "mixed"
    before = {p.name: p.read_text(encoding="utf-8") for p in lists.iterdir()}
    code, diff = built.run("layout", "propose", *TINY)
    assert code == 0
    assert "--- a/layouts/mixed/hot.txt" in diff
    assert ": the training never ran it" in diff
    try:
        code, output = built.run("layout", "propose", "--write", *TINY)
        assert code == 0 and f"written: {lists}/hot.txt" in output
        code, output = built.run("layout", "propose", *TINY)
        assert "the lists are as the profile suggests" in output
    finally:
        for name, content in before.items():
            (lists / name).write_text(content, encoding="utf-8")


def test_map_shows_functions_by_address_with_borders(built: Sandbox) -> None:
    code, output = built.run("layout", "show", *TINY)
    assert code == 0
    lines = output.splitlines()
    assert "── hot.txt ──" in lines[1]
    assert "hak_malloc  = malloc" in lines[2] and "█" in lines[2]
    assert "cold halves (.text.cold)" in output


def test_a_library_alone_has_no_profile(built: Sandbox, tmp_path: Path) -> None:
    for name in ("libhakmem.so", "libhakmem.so.debug"):
        shutil.copyfile(built.current / "lib" / name, tmp_path / name)
    library = str(tmp_path / "libhakmem.so")
    code, output = built.run("layout", "check", *TINY, library)
    assert code == 0
    assert "unknown: no profile beside this library" in output
    code, output = built.run("layout", "propose", *TINY, library)
    assert code == ExitCode.DATA
    assert "--data" in output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("check", "0.9-nope", *TINY), ExitCode.VERSION, "no published version 0.9-nope"),
        (("check", "--profile", "tinny"), ExitCode.PROFILE, "unknown profile 'tinny'"),
        (("show", "--profile", "mixed"), ExitCode.VERSION, "nothing is published"),
        (("propose", "--data", "/no/file", *TINY), ExitCode.USAGE, "/no/file"),
        (("check", *TINY, "VERSION"), ExitCode.ARTIFACT, "is not a readable ELF file"),
        (("check", *TINY, "dist/tiny/current/lib"), ExitCode.VERSION, "no published version"),
    ],
)
def test_bad_wishes(arguments: tuple[str, ...], code: ExitCode, words: str, built: Sandbox) -> None:
    got, output = built.run("layout", *arguments)
    assert got == code
    assert words in output


def test_profile_that_is_none_is_refused(built: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "x.fdata").write_text("not edges\n", encoding="utf-8")
    code, output = built.run("layout", "propose", "--data", str(tmp_path / "x.fdata"), *TINY)
    assert code == ExitCode.DATA
    assert "is not a profile" in output
