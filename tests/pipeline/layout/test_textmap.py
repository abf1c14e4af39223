"""The text map of a library, read from real ones: whole, split, stripped, and spoilt."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import ArtifactError, DataError
from pipeline.core.process import run
from pipeline.layout.heat import callers, read_heat
from pipeline.toolchain.text_map import find_debug_file, read_text_map
from pipeline.toolchain.text_model import Heat, TextMap

SOURCE = """
__attribute__((section(".text.cold"), used, noinline))
static int half(int n) __asm__("hak_malloc.cold.0");
static int half(int n) { return n / 3; }
int hak_malloc(int n) { return n > 9 ? half(n) : n; }
int malloc(int n) __attribute__((alias("hak_malloc")));
int hak_free(int n) { return n + 1; }
"""
FDATA = """\
0 [unknown] 0 1 hak_malloc 0 0 100
1 hak_malloc 4 1 hak_malloc 8 0 90
1 hak_malloc 8 1 helper/1 0 3 10
1 helper/1 4 1 hak_malloc 0 0 7
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    source, output = tmp_path / "tiny.c", tmp_path / "tiny.so"
    source.write_text(SOURCE, encoding="utf-8")
    flags = ("-O1", "-fno-builtin", "-shared", "-fPIC", "-Wl,--build-id=sha1")
    run(["gcc", *flags, source, "-o", output])
    return output


@pytest.fixture
def fdata(tmp_path: Path) -> Path:
    path = tmp_path / "bolt.fdata"
    path.write_text(FDATA, encoding="utf-8")
    return path


def split(library: Path, debug: Path) -> None:
    """Move the symbols of a library to a debug file."""
    debug.parent.mkdir(parents=True, exist_ok=True)
    run(["objcopy", "--only-keep-debug", library, debug])
    run(["strip", "--strip-unneeded", library])


def test_functions_come_with_aliases_and_halves(library: Path) -> None:
    text = read_text_map(library)
    assert [f.address for f in text.functions] == sorted(f.address for f in text.functions)
    malloc = text.find("malloc")
    assert malloc is not None and malloc == text.find("hak_malloc")
    assert (malloc.name, malloc.aliases, malloc.part) == ("hak_malloc", ("malloc",), "hot")
    halves = [f for f in text.functions if f.parent == "hak_malloc"]
    assert [(f.name, f.part) for f in halves] == [("hak_malloc.cold.0", "cold")]
    free = text.find("hak_free")
    assert free is not None and (free.part, free.heat) == ("whole", None)
    assert text.find("hak_malloc.cold.0") is None
    assert len(text.build_id) == 40


def test_map_survives_json(library: Path) -> None:
    text = read_text_map(library)
    assert TextMap.model_validate_json(text.model_dump_json()) == text


def test_stripped_library_is_read_by_its_debug_file(library: Path) -> None:
    whole = read_text_map(library)
    split(library, library.with_name("tiny.so.debug"))
    assert read_text_map(library) == whole


def test_debug_file_is_found_by_build_id(library: Path) -> None:
    whole = read_text_map(library)
    below = f".build-id/{whole.build_id[:2]}/{whole.build_id[2:]}.debug"
    split(library, library.parent / "debug" / below)
    assert find_debug_file(library) == library.parent / "debug" / below
    assert read_text_map(library) == whole


def test_missing_debug_file_is_named(library: Path) -> None:
    run(["strip", "--strip-unneeded", library])
    with pytest.raises(ArtifactError, match="is stripped and has no debug file") as error:
        read_text_map(library)
    assert str(library.with_name("tiny.so.debug")) in error.value.hint


def test_debug_file_of_another_build_is_refused(library: Path) -> None:
    other = library.with_name("tiny.so.debug")
    run(["gcc", "-shared", "-fPIC", "-Wl,--build-id=0x1234", "-x", "c", "/dev/null", "-o", other])
    run(["strip", "--strip-unneeded", library])
    with pytest.raises(ArtifactError, match="of another build"):
        read_text_map(library)


def test_heat_is_entries_and_blocks(fdata: Path) -> None:
    heat = read_heat(fdata)
    assert heat == {
        "hak_malloc": Heat(entries=107, blocks=197),
        "helper": Heat(entries=10, blocks=10),
    }
    assert callers(fdata)["hak_malloc"] == {"[unknown]": 100, "helper": 7}


def test_functions_carry_their_heat(library: Path, fdata: Path) -> None:
    text = read_text_map(library, read_heat(fdata))
    heat = {f.name: f.heat for f in text.functions}
    assert heat["hak_malloc"] == Heat(entries=107, blocks=197)
    assert heat["hak_free"] == Heat(entries=0, blocks=0)
    assert heat["hak_malloc.cold.0"] is None


@pytest.mark.parametrize("content", ["", "no profile\n", "1 a 0 1 b 0 0\n"])
def test_bad_profile_is_refused(content: str, fdata: Path) -> None:
    fdata.write_text(content, encoding="utf-8")
    for reader in (read_heat, callers):
        with pytest.raises(DataError, match="is not a profile"):
            reader(fdata)
