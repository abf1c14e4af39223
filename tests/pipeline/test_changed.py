"""``pipeline test --changed``: which tests a changed file asks for."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pipeline.commands.changed import (
    C_TESTS,
    PYTHON_TESTS,
    c_tests,
    changed_files,
    importers,
    needs,
    python_tests,
    readers,
    steps_for,
)
from pipeline.core.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


def test_a_source_of_the_allocator_asks_for_the_tests_of_its_folder() -> None:
    (pattern,) = c_tests(["allocator/slab/slab.c"]).values()
    assert re.search(pattern, "boxes.slab_slab") and re.search(pattern, "interface.errno")
    assert re.search(pattern, "boxes.reclaim_trim")  # whatever a slab does, its memory goes back
    assert not re.search(pattern, "boxes.pages_run_cache")
    assert "tests/pipeline/test_allocator_order.py" in python_tests(["allocator/slab/slab.c"], ROOT)


def test_ctest_takes_the_pattern_of_a_change_of_all_folders() -> None:
    sources = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("allocator/*/*.[ch]"))
    assert c_tests(sources)["clang"].count("(") <= 31


def test_what_a_test_needs_is_known_before_it_is_built(tmp_path: Path) -> None:
    """ctest names the program of a test only if it is there: all was built, for minutes."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\n"
        "file(WRITE ${CMAKE_BINARY_DIR}/one.c [[int main(void) { return 0; }]])\n"
        "add_executable(one ${CMAKE_BINARY_DIR}/one.c)\nadd_test(NAME unit.one COMMAND one)\n"
    )
    build = tmp_path / "build"
    subprocess.run(["cmake", "-S", tmp_path, "-B", build, "-G", "Ninja"], check=True)
    ctest = ("ctest", "--test-dir", build)
    assert needs(ctest, build) == ["one"]


def test_a_test_asks_for_itself_alone() -> None:
    assert c_tests(["tests/allocator/process/sleepers.c"]) == {"clang": "^process[.]sleepers$"}
    assert python_tests(["tests/pipeline/test_docs.py"], ROOT) == ["tests/pipeline/test_docs.py"]


def test_each_source_of_a_test_asks_for_tests_that_there_are() -> None:
    """A pattern that no test fits is an error of ctest."""
    folder = ROOT / "tests/allocator"
    listed = (folder / "CMakeLists.txt").read_text("utf-8")
    each = {*re.findall(r"^test_folder\((\w+)", listed, re.MULTILINE), "boxes", "memprof"}
    for path in (*folder.glob("*/*.c"), *folder.glob("*/*.cpp")):
        file = str(path.relative_to(ROOT))
        names = next(row[2] for row in C_TESTS if fnmatch(file, row[0]))
        assert (names == "^{folder}[.]{name}$") == (path.parent.name in each), file


def test_what_the_quick_loop_leaves_out_asks_for_nothing() -> None:
    assert c_tests(["tests/allocator/cuts/leads_away.c"]) == {}


def test_a_test_of_a_variant_asks_for_that_variant() -> None:
    assert c_tests(["tests/allocator/guard/library/holder.c"]) == {"guard": "^guard[.]"}
    assert c_tests(["tests/allocator/hardened/canaries.c"]) == {"hardened": "^hardened[.]"}
    assert c_tests(["tests/allocator/whole/out_of_memory.cpp"]) == {
        "clang": "^whole[.]out_of_memory[.]"
    }


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("docs/options.md", "docs.options"),
        ("docs/misuse.md", "docs.misuse"),
        ("allocator/policy/options.def", "docs.options"),
    ],
)
def test_a_page_that_ctest_compares_asks_for_that(path: str, test: str) -> None:
    assert (ROOT / path).exists() and re.search(c_tests([path])["clang"], test)


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("training/profiles/mixed.toml", "tests/pipeline/test_marks.py"),
        ("packaging/rust/build.rs", "tests/operate/test_recipes.py"),
        ("pipeline/run.py", "tests/pipeline/test_pipeline_order.py"),
    ],
)
def test_what_a_test_finds_by_a_pattern_asks_for_it(path: str, test: str) -> None:
    assert (ROOT / path).exists() and test in python_tests([path], ROOT)


def test_variants_have_presets_of_their_own() -> None:
    assert set(c_tests(["allocator/guard/block.c", "allocator/slab/slab.c"])) == {"guard", "clang"}


def test_a_module_asks_for_the_tests_that_import_it() -> None:
    assert "tests/pipeline/test_changed.py" in importers("pipeline/commands/changed.py", ROOT)
    assert "tests/pipeline/test_docs.py" in importers("tests/pipeline/prose.py", ROOT)
    assert importers("pipeline/no_such_module.py", ROOT) == set()


def test_a_page_needs_no_build() -> None:
    assert list(steps_for(["docs/glossary.md"], ROOT)) == ["pytest"]


def test_a_page_asks_for_the_tests_that_read_it() -> None:
    assert "tests/pipeline/test_keys_table.py" in readers("docs/pipeline.md", ROOT)
    assert "tests/pipeline/report/test_report_real.py" in python_tests(
        [".github/workflows/judge.yml"], ROOT
    )
    assert "tests/pipeline/test_predictor.py" not in readers("docs/experiments" + ".md", ROOT)
    assert readers("docs/no-such" + "-page.md", ROOT) == set()


def test_an_entry_of_the_ledger_asks_for_the_tests_of_the_ledger_alone() -> None:
    folder = "docs/experiments"
    entry, page = f"{folder}/magazines/half-depth-64.toml", f"{folder}.md"
    ledger, pages = "tests/pipeline/test_ledger.py", ("test_docs.py", "test_jargon.py")
    assert python_tests([entry], ROOT) == [ledger]
    assert python_tests([page], ROOT) == sorted([ledger, *(f"tests/pipeline/{x}" for x in pages)])
    assert (ROOT / entry).exists() and (ROOT / page).exists()


def test_what_was_deleted_asks_for_the_tests_that_may_miss_it() -> None:
    assert list(steps_for(["docs/no-such" + "-page.md"], ROOT)) == ["pytest"]
    assert list(steps_for(["pipeline/no_such" + "_module.py"], ROOT)) == ["mypy", "pytest"]
    assert steps_for(["tests/pipeline/test_no_such.py"], ROOT).keys() == {"mypy"}
    assert steps_for(["tests/allocator/process/no_such" + ".c"], ROOT) == {}
    assert c_tests(["allocator/slab/no_such.c"]).keys() == {"clang"}


def test_nothing_changed_needs_nothing() -> None:
    assert steps_for([], ROOT) == {}


@pytest.mark.parametrize("tests", sorted({tests for _, tests in PYTHON_TESTS}))
def test_each_test_that_the_table_names_is_there(tests: str) -> None:
    assert (ROOT / tests).exists()


@pytest.mark.parametrize("pattern", [row[0] for row in C_TESTS if "/" in row[0]])
def test_each_row_of_the_table_fits_a_file(pattern: str) -> None:
    assert any(ROOT.glob(pattern.replace("allocator/*.", "allocator/*/*.").split("/*.c")[0]))


def test_changes_are_what_git_says(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(["git", "-C", tmp_path, *who, *words], check=True, capture_output=True)

    git("init")
    for name in ("same", "other", "gone"):
        (tmp_path / name).write_text("1\n")
    git("add", "-A")
    git("commit", "-m", "first")
    (tmp_path / "other").write_text("2\n")
    (tmp_path / "gone").unlink()
    (tmp_path / "früh").write_text("3\n")
    assert changed_files(tmp_path, "HEAD") == ["früh", "gone", "other"]
    with pytest.raises(
        UsageError, match="git cannot compare with 'nosuchrev': fatal: bad revision"
    ):
        changed_files(tmp_path, "nosuchrev")
