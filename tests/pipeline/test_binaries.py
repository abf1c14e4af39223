"""What the pipeline insists on in a library: read from real ones, good and spoilt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.core.errors import ArtifactError, ProfileError
from pipeline.core.process import run
from pipeline.toolchain.elf import check_library, read_facts
from pipeline.toolchain.symbols import (
    Function,
    SymbolLists,
    check_order,
    functions,
    order_names,
    read_lists,
    read_spelling,
)

# Serves a few requests from a fixed place: enough for /bin/ls.
SOURCE = """
#include <stddef.h>
static char room[1 << 24];
static size_t used;
static __attribute__((noinline)) void *take(size_t n) {
    void *p = room + used;
    used += (n + 31) & ~15ul;
    return p;
}
void *MALLOC(size_t n) { return take(n); }
void *calloc(size_t n, size_t m) { return take(n * m); }
void free(void *p) { (void)p; }
void *realloc(void *p, size_t n) {
    char *q = take(n), *o = p;
    for (size_t i = 0; o && i < n; i++) q[i] = o[i];
    return q;
}
"""
GOOD_FLAGS = ("-Wl,-z,now", "-Wl,-z,relro")


Compiler = Callable[..., Path]


@pytest.fixture
def library(tmp_path: Path) -> Compiler:
    """Compile a small library with these flags; ``name`` is what it calls its malloc."""

    def compile_library(*flags: str, name: str = "malloc") -> Path:
        source, output = tmp_path / "tiny.c", tmp_path / "tiny.so"
        source.write_text(SOURCE, encoding="utf-8")
        common = ("-O1", "-fno-builtin", "-shared", "-fPIC", "-Wl,--build-id=sha1")
        run(["gcc", *common, f"-DMALLOC={name}", *flags, source, "-o", output])
        return output

    return compile_library


def test_good_library_passes(library: Compiler, tmp_path: Path) -> None:
    facts = check_library(library(*GOOD_FLAGS), tmp_path / "log")
    assert (facts.stack_executable, facts.relro, facts.bind_now) == (False, True, True)
    assert len(facts.build_id) == 40


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((*GOOD_FLAGS, "-Wl,-z,execstack"), "executable stack"),
        (("-Wl,-z,now", "-Wl,-z,norelro"), "no RELRO"),
        (("-Wl,-z,lazy", "-Wl,-z,relro"), "not bound at start"),
    ],
)
def test_unsafe_libraries_are_refused(
    flags: tuple[str, ...], message: str, library: Compiler, tmp_path: Path
) -> None:
    with pytest.raises(ArtifactError, match=message):
        check_library(library(*flags), tmp_path / "log")


def test_library_without_malloc_is_refused(library: Compiler, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="malloc is not taken from it"):
        check_library(library(*GOOD_FLAGS, name="other"), tmp_path / "log")


def test_library_that_cannot_be_loaded_is_refused(library: Compiler, tmp_path: Path) -> None:
    # The loader only warns, and the program runs on with libc's malloc.
    path = library(*GOOD_FLAGS)
    content = bytearray(path.read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # e_machine: AArch64
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"malloc is not taken from it|did not run"):
        check_library(path, tmp_path / "log")


def test_crashing_library_is_refused(tmp_path: Path) -> None:
    source, path = tmp_path / "crash.c", tmp_path / "crash.so"
    source.write_text(
        "void *malloc(unsigned long n) { return *(volatile char *)8 ? 0 : (void *)n; }",
        encoding="utf-8",
    )
    run(["gcc", "-shared", "-fPIC", *GOOD_FLAGS, source, "-o", path])
    with pytest.raises(ArtifactError, match=r"did not run: .*SIGSEGV"):
        check_library(path, tmp_path / "log")


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF"])
def test_what_is_no_library_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(content)
    with pytest.raises(ArtifactError):
        check_library(path, tmp_path / "log")
    if content:
        with pytest.raises(ArtifactError, match="not a readable ELF file"):
            read_facts(path)


def test_functions_come_by_address_with_bolts_spelling(library: Compiler, tmp_path: Path) -> None:
    path = library(*GOOD_FLAGS)
    present = functions(Path("nm"), path, tmp_path / "log")
    names = [function.name for function in present]
    assert {"malloc", "calloc", "free", "take"} <= set(names)
    assert [f.address for f in present] == sorted(f.address for f in present)
    spelling = read_spelling(Path("nm"), path, tmp_path / "log")
    assert (spelling["malloc"], spelling["take"]) == (["malloc"], ["take/1"])


def place(*names: str) -> list[Function]:
    return [Function(name, 64 * number, 10) for number, name in enumerate(names)]


HERE = Path("lib.so")


def test_order_is_accepted_and_vanished_names_reported() -> None:
    lists = SymbolLists(hot=("malloc", "inlined", "free"), cold=("fatal", "gone"))
    report = check_order(HERE, place("malloc", "free", "other", "fatal"), lists)
    assert report.placed == 3
    assert (report.vanished_hot, report.vanished_cold) == (("inlined",), ("gone",))


def test_two_names_of_one_function_are_in_order() -> None:
    same = [Function("malloc", 0, 10), Function("free", 0, 10)]
    assert check_order(HERE, same, SymbolLists(("malloc", "free"), ())).placed == 2


def test_wrong_order_is_refused() -> None:
    with pytest.raises(ArtifactError, match="free lies before malloc"):
        check_order(HERE, place("free", "malloc"), SymbolLists(("malloc", "free"), ()))


def test_wrong_order_of_cold_functions_is_refused() -> None:
    with pytest.raises(ArtifactError, match=r"fatal lies before attach, against cold\.txt"):
        check_order(HERE, place("malloc", "fatal", "attach"), SymbolLists((), ("attach", "fatal")))


def test_cold_between_hot_is_refused() -> None:
    with pytest.raises(ArtifactError, match="cold fatal lies between hot"):
        check_order(
            HERE, place("malloc", "fatal", "free"), SymbolLists(("malloc", "free"), ("fatal",))
        )


def test_cold_functions_may_lie_on_both_sides_of_hot_ones() -> None:
    lists = SymbolLists(("malloc", "free"), ("attach", "fatal", "report", "version"))
    both = place("fatal", "version", "malloc", "free", "attach", "report")
    assert check_order(HERE, both, lists).placed == 6
    swapped = place("version", "fatal", "malloc", "free", "attach", "report")
    with pytest.raises(ArtifactError, match=r"version lies before fatal, against cold\.txt"):
        check_order(HERE, swapped, lists)


def test_order_list_has_every_name_once() -> None:
    lists = SymbolLists(hot=("a", "b"), cold=("z",))
    assert order_names(lists, ["q", "a", "z", "q", "r"], []) == ["a", "b", "q", "r", "z"]


def test_aliases_of_listed_functions_stay_out_of_the_order() -> None:
    lists = SymbolLists(hot=("hak_malloc",), cold=("hak_malloc_info",))
    names = ["hak_malloc", "malloc", "hak_malloc_info", "malloc_info", "other"]
    present = [Function(name, 64 * (number // 2), 8) for number, name in enumerate(names)]
    assert order_names(lists, names, present) == ["hak_malloc", "other", "hak_malloc_info"]


@pytest.mark.parametrize(
    ("hot", "cold", "message"),
    [
        ("malloc\nmalloc\n", "", "hot.txt:2: malloc stands on line 1 already"),
        ("mal loc\n", "", "hot.txt:1: 'mal loc' is not a symbol name"),
        ("malloc\n", "# why\nmalloc\n", "both hot and cold: malloc"),
    ],
)
def test_bad_lists_are_refused(hot: str, cold: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "hot.txt").write_text(hot, encoding="utf-8")
    (tmp_path / "cold.txt").write_text(cold, encoding="utf-8")
    with pytest.raises(ProfileError, match=message):
        read_lists(tmp_path)


def test_a_list_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "hot.txt").write_bytes(b"hak_malloc\n\xff\n")
    with pytest.raises(ProfileError, match=r"hot\.txt: it is not UTF-8 text"):
        read_lists(tmp_path)


def test_missing_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"hot\.txt: No such file"):
        read_lists(tmp_path)
