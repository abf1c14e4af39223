"""``pipeline layout`` on a library that was built and published."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.exit_codes import ExitCode
from pipeline.release.contents import write_sums
from pipeline.release.version import SUMS

TINY = ("--profile", "tiny")


def publish_so(version: Path) -> None:
    """Make a changed folder one that was published so: it is not damaged."""
    (version / SUMS).unlink()
    write_sums(version)


def test_published_library_keeps_the_contract(built: Sandbox) -> None:
    code, output = built.run("layout", "check", "--verbose", *TINY)
    assert code == 0, output
    assert "✗" not in output
    assert "✓ hot functions lie in the order of hot.txt" in output
    # two workloads of a second do not run every function of a list that is another profile's
    assert "never ran in the training (the lists are those of the layout mixed)" in output
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


def test_a_file_that_no_build_reads_is_refused(built: Sandbox) -> None:
    stray = built.root / "layouts" / "tiny" / "geometry.tml"
    stray.parent.mkdir(exist_ok=True)
    stray.touch()
    try:
        code, output = built.run("layout", "check", *TINY)
    finally:
        stray.unlink()
    assert code == ExitCode.PROFILE
    assert f"{stray}: no build reads that name" in output
    assert "did you mean geometry.toml?" in output


def test_proposal_is_a_patch_and_can_be_written(built: Sandbox) -> None:
    hot = built.root / "layouts" / "mixed" / "hot.txt"
    cold = hot.with_name("cold.txt")
    before, cold_before = (file.read_text(encoding="utf-8") for file in (hot, cold))
    hot.write_text(before.replace("\nhak_free\n", "\n"), encoding="utf-8")
    try:
        code, diff = built.run("layout", "propose", *TINY)
        assert code == 0
        assert "--- a/layouts/mixed/hot.txt" in diff
        assert "\n+hak_free  # " in diff and " calls" in diff
        code, output = built.run("layout", "propose", "--write", *TINY)
        assert code == 0 and f"written: {hot}" in output
        assert "\nhak_free  # " in hot.read_text(encoding="utf-8")
        code, output = built.run("layout", "propose", *TINY)
        assert "the lists are as the profile suggests" in output
    finally:  # what ran in a training of a second differs from time to time: both lists may change
        hot.write_text(before, encoding="utf-8")
        cold.write_text(cold_before, encoding="utf-8")


@pytest.mark.slow
def test_each_change_is_linked_and_counted_before_it_is_proposed(built: Sandbox) -> None:
    hot = built.root / "layouts" / "mixed" / "hot.txt"
    before = hot.read_text(encoding="utf-8")
    hot.write_text(before.replace("\nhak_free\n", "\n"), encoding="utf-8")
    try:
        code, output = built.run("layout", "propose", "--measure", *TINY)
    finally:
        hot.write_text(before, encoding="utf-8")
    assert code == 0, output
    assert "# counted in whole python3" in output
    assert "#   hak_free into hot.txt, at the end: " in output
    assert re.search(r"#     [0-9,.]+ -> [0-9,.]+ misses, [+-]\d+\.\d\d % \(", output)
    assert not list((built.root / "build" / "pipeline" / "tiny").glob("layout*"))


@pytest.mark.slow
def test_an_interrupted_measurement_leaves_nothing(built: Sandbox) -> None:
    hot = built.root / "layouts" / "mixed" / "hot.txt"
    before = hot.read_text(encoding="utf-8")
    hot.write_text(before.replace("\nhak_free\n", "\n"), encoding="utf-8")
    rooms = built.root / "build" / "pipeline" / "tiny"
    try:
        child = built.start("layout", "propose", "--measure", "--write", *TINY)
        while not list(rooms.glob("layout/.tmp-*/build")):
            assert child.poll() is None
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate()
        assert hot.read_text(encoding="utf-8") == before.replace("\nhak_free\n", "\n")
    finally:
        hot.write_text(before, encoding="utf-8")
    assert child.returncode == ExitCode.INTERRUPTED, output
    assert "nothing of this judgement is kept" in output
    assert not list(rooms.glob("layout*"))


@pytest.mark.slow
def test_layouts_are_made_counted_and_ranked_and_an_interrupt_loses_none(built: Sandbox) -> None:
    hot = built.root / "layouts" / "mixed" / "hot.txt"
    before = hot.read_text(encoding="utf-8")
    rooms = built.root / "build" / "pipeline" / "tiny"
    try:
        child = built.start("layout", "search", "--write", *TINY)
        while not (rooms / "searched" / "counts.json").exists():
            assert child.poll() is None
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate()
        assert child.returncode == ExitCode.INTERRUPTED, output
        assert "#   as it is " in output and "none kept; interrupted" in output
        code, output = built.run("layout", "search", "--budget", "30s", *TINY)
    finally:
        shutil.rmtree(rooms / "searched", ignore_errors=True)
        changed = hot.read_text(encoding="utf-8") != before
        hot.write_text(before, encoding="utf-8")
    assert code == 0, output
    assert not changed
    assert re.search(r"#   order cdsort +[0-9,.]+ +\d\.\d{4}  [0-9.]+ KiB in [0-9.]+ pages", output)
    assert "\n# found: " in output
    assert not list(rooms.glob("layout*"))


def test_what_cannot_be_made_again_is_not_measured(built: Sandbox, tmp_path: Path) -> None:
    version = tmp_path / built.current.resolve().name
    shutil.copytree(built.current.resolve(), version, symlinks=True)
    manifest = version / "manifest.json"
    hot = built.root / "layouts" / "mixed" / "hot.txt"
    before = hot.read_text(encoding="utf-8")
    said = manifest.read_text(encoding="utf-8")
    sources = json.loads(said)["stages"]["baseline"]["inputs"]["sources"]
    hot.write_text(before.replace("\nhak_free\n", "\n"), encoding="utf-8")
    measure = ("layout", "propose", "--measure", *TINY)
    try:
        manifest.write_text(said.replace(sources, "0" * 64), encoding="utf-8")
        publish_so(version)
        changed = built.run(*measure, str(version))
        manifest.write_text(said.replace('"step": "bolt"', '"step": "tune"'), encoding="utf-8")
        publish_so(version)
        unlisted = built.run(*measure, str(version))
        edges = str(version / "profile" / "bolt.fdata")
        alone = built.run(*measure, "--data", edges, str(version / "lib" / "libhakmem.so"))
    finally:
        hot.write_text(before, encoding="utf-8")
    assert changed[0] == unlisted[0] == ExitCode.BUILD
    assert "the sources have changed since" in changed[1]
    assert "is linked without the lists" in unlisted[1]
    assert alone[0] == ExitCode.USAGE
    assert "--measure makes a published version again" in alone[1]
    library = str(built.current / "lib" / "libhakmem.so")
    code, output = built.run("layout", "search", *TINY, library)
    assert code == ExitCode.USAGE and "`layout search` makes a published version again" in output


def test_map_shows_functions_by_address_with_borders(built: Sandbox) -> None:
    code, output = built.run("layout", "show", *TINY)
    assert code == 0
    lines = output.splitlines()
    assert "── not listed (.text.never) ──" in lines[1]
    border = next(n for n, line in enumerate(lines) if "── hot.txt ──" in line)
    assert "hak_posix_memalign  = posix_memalign" in lines[border + 1]  # never trained here
    assert "hak_malloc  = malloc" in lines[border + 2] and "█" in lines[border + 2]
    assert "cold halves (.text.cold)" in output


def test_a_library_alone_has_no_profile(built: Sandbox, tmp_path: Path) -> None:
    for name in ("libhakmem.so", "libhakmem.so.debug"):
        shutil.copyfile(built.current / "lib" / name, tmp_path / name)
    library = str(tmp_path / "libhakmem.so")
    code, output = built.run("layout", "check", *TINY, library)
    assert code == 0
    assert "? not known: every hot function ran in the training" in output
    assert "unknown: no profile beside this library" in output
    code, output = built.run("layout", "propose", *TINY, library)
    assert code == ExitCode.DATA
    assert "--data" in output


def test_without_edge_counts_the_profile_of_the_compiler_tells_the_heat(
    built: Sandbox, tmp_path: Path
) -> None:
    """A version that was chosen without BOLT carries no edges."""
    version = tmp_path / built.current.resolve().name
    shutil.copytree(built.current.resolve(), version)
    (version / "profile" / "bolt.fdata").unlink()
    publish_so(version)
    code, output = built.run("layout", "check", "--verbose", *TINY, str(version))
    assert code == 0, output
    assert "✓ every hot function ran in the training" in output
    code, output = built.run("layout", "propose", *TINY, str(version))
    assert code == 0, output
    code, output = built.run("layout", "show", *TINY, str(version))
    assert code == 0 and "█" in output
    (version / "profile" / "hakmem.profdata").write_text("no profile\n", encoding="utf-8")
    publish_so(version)
    code, output = built.run("layout", "check", *TINY, str(version))
    assert code == ExitCode.DATA
    assert "is not a profile" in output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("check", "0.9-nope", *TINY), ExitCode.VERSION, "no published version 0.9-nope"),
        (("check", "--profile", "tinny"), ExitCode.PROFILE, "unknown profile 'tinny'"),
        (("search", "0.9-nope", *TINY), ExitCode.VERSION, "no published version 0.9-nope"),
        (("search", "--profile", "mixed"), ExitCode.VERSION, "nothing is published"),
        (("search", "--budget", "3s", *TINY), ExitCode.USAGE, "is not a time from 30s"),
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


def test_map_fits_a_narrow_terminal(built: Sandbox) -> None:
    code, output = built.run("layout", "show", *TINY, COLUMNS="80", FORCE_COLOR="1")
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    assert max(map(len, plain.splitlines())) <= 80
    assert "hak_malloc  = malloc" not in plain
