"""``pipeline verify``: good versions pass, and each thing that can be wrong is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Sandbox

from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.release.check_version import check_version, require_good
from pipeline.release.contents import write_sums
from pipeline.release.elf_rules import check_elf, family_names, header_names
from pipeline.release.version import Version

TREE = Tree(ROOT)
GOOD = ("-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,shstk", "-Wl,-soname,libhakmem.so")
SOURCE = "int hak_malloc(int n) { return n + 1; }\n"


@pytest.fixture
def version(built: Sandbox, tmp_path: Path) -> Version:
    """A copy of the published version, to be spoilt."""
    target = tmp_path / built.current.resolve().name
    shutil.copytree(built.current.resolve(), target, symlinks=True)
    return Version(target)


def failed(version: Version) -> dict[str, str]:
    fresh = Version(version.folder)  # what was read before must not be remembered
    return {c.rule: c.found for c in check_version(TREE, fresh) if not c.holds}


def test_published_version_passes(built: Sandbox) -> None:
    code, output = built.run("verify", "--profile", "tiny")
    assert code == 0, output
    assert "✗" not in output
    assert "all 22 checks passed" in output


def test_library_alone_passes(built: Sandbox) -> None:
    code, output = built.run("verify", "dist/tiny/current/lib/libhakmem.so")
    assert code == 0, output
    assert "soname is libhakmem.so" in output


def test_moved_version_passes(version: Version) -> None:
    assert failed(version) == {}
    require_good(TREE, version)


def spoil(name: str) -> Callable[[Version], None]:
    def damage(version: Version) -> None:
        (version.folder / name).write_bytes(b"spoilt")

    return damage


def remove(name: str) -> Callable[[Version], None]:
    return lambda version: (version.folder / name).unlink()


SUMS = "files have the digests of SHA256SUMS"


@pytest.mark.parametrize(
    ("damage", "rule", "found"),
    [
        (spoil("lib/libhakmem.so"), SUMS, "lib/libhakmem.so"),
        (spoil("lib/libhakmem.so"), "the library can be read", "is not a readable ELF file"),
        (remove("lib/libhakmem.so"), "the library can be read", "No such file"),
        (remove("SHA256SUMS"), SUMS, "SHA256SUMS"),
        (spoil("extra"), "no file is there that is not listed", "extra"),
        (spoil("manifest.json"), "manifest.json belongs to this version", "cannot be read"),
        (spoil("lib/libhakmem.a"), "the static library is an archive", ""),
        (remove("lib/libhakmem.so.debug"), SUMS, "lib/libhakmem.so.debug"),
    ],
)
def test_damage_is_named(
    damage: Callable[[Version], None], rule: str, found: str, version: Version
) -> None:
    damage(version)
    assert found in failed(version)[rule]


def test_debug_file_of_other_content_is_noticed(version: Version) -> None:
    debug = (version.folder / "lib" / "libhakmem.so.debug").resolve()
    content = bytearray(debug.read_bytes())
    content[-1] ^= 1
    debug.write_bytes(content)
    write_sums(version.folder)
    assert "CRC" in failed(version)["the debug file belongs to the library"]


def test_renamed_version_is_noticed(version: Version) -> None:
    renamed = Version(version.folder.rename(version.folder.with_name("0.1.0-other")))
    found = failed(renamed)
    assert found == {"manifest.json belongs to this version": f"it speaks of {version.name}"}
    with pytest.raises(ArtifactError, match="not fit to be used: manifest"):
        require_good(TREE, Version(renamed.folder))


def test_header_and_exports_must_agree(version: Version) -> None:
    header = version.folder / "include" / "hakmem.h"
    header.write_text(header.read_text("utf-8") + "\nvoid hak_promised(void);\n", encoding="utf-8")
    write_sums(version.folder)
    assert (
        "not there: hak_promised" in failed(version)["exports the family and hak_*, nothing else"]
    )


def compiled(folder: Path, *flags: str, source: str = SOURCE) -> Path:
    path, output = folder / "x.c", folder / "x.so"
    path.write_text(source, encoding="utf-8")
    run(["gcc", "-shared", "-fPIC", "-Wl,--build-id=sha1", *flags, path, "-o", output])
    return output


def broken(library: Path) -> set[str]:
    return {c.rule for c in check_elf(library, frozenset({"hak_malloc"})) if not c.holds}


def test_small_good_library_breaks_no_rule(tmp_path: Path) -> None:
    assert broken(compiled(tmp_path, *GOOD)) == set()


@pytest.mark.parametrize(
    ("flags", "rule"),
    [
        (("-Wl,-z,execstack",), "stack is not executable (PT_GNU_STACK)"),
        (("-Wl,-z,norelro",), "tables are read-only after start (RELRO)"),
        (("-Wl,-z,lazy",), "symbols are bound at start (BIND_NOW)"),
        (("-Wl,-rpath,/opt/lib",), "no RPATH or RUNPATH"),
        (("-Wl,-soname,libother.so",), "soname is libhakmem.so"),
        (("-Wl,--build-id=none",), "has a build-id"),
        (("-Wl,--no-as-needed", "-lm"), "needs libc alone"),
        (("-Dhak_malloc=hak_other",), "exports the family and hak_*, nothing else"),
    ],
)
def test_each_rule_is_broken_by_something(
    flags: tuple[str, ...], rule: str, tmp_path: Path
) -> None:
    assert rule in broken(compiled(tmp_path, *GOOD, *flags))


def test_rules_that_it_takes_other_sources_to_break(tmp_path: Path) -> None:
    script = tmp_path / "versions"
    script.write_text("HAK_1 { global: hak_malloc; };", encoding="utf-8")
    versioned = compiled(tmp_path, *GOOD, f"-Wl,--version-script={script}")
    assert "exported names have no versions" in broken(versioned)
    assert "exports functions alone" in broken(compiled(tmp_path, *GOOD, source="int hak_malloc;"))
    mixed = SOURCE + '__asm__(".section .wx,\\"awx\\",@progbits\\n.byte 0\\n.text\\n");'
    assert "no memory is writable and executable" in broken(compiled(tmp_path, *GOOD, source=mixed))
    # Debian's crti.o has no note, so the linker leaves it out where it is not told to write it.
    unmarked = compiled(tmp_path, *(flag for flag in GOOD if flag != "-Wl,-z,shstk"))
    assert broken(unmarked) == {"is ready for shadow stacks (SHSTK)"}
    absolute = 'int hak_malloc(void) { return 1; } __asm__(".text\\n.quad hak_malloc\\n");'
    relocated = compiled(tmp_path, *GOOD, "-Wl,-z,notext", source=absolute)
    assert "code has no relocations (TEXTREL)" in broken(relocated)


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("/no/such/place", ExitCode.VERSION, "there is no file or folder /no/such/place"),
        ("pipeline/cli.py", ExitCode.ARTIFACT, "what to do: name a libhakmem.so"),
        ("dist", ExitCode.VERSION, "no published version dist"),
    ],
)
def test_bad_paths(path: str, code: ExitCode, words: str, built: Sandbox) -> None:
    got, output = built.run("verify", "--profile", "tiny", path)
    assert got == code
    assert words in output


def test_lists_of_names_are_read() -> None:
    family = family_names(ROOT / "allocator" / "front" / "family.def")
    assert {"malloc", "_ZdaPv", "__libc_free"} <= family and len(family) == 61
    header = header_names(ROOT / "allocator" / "include" / "hakmem.h")
    assert {"hak_malloc", "hak_version"} <= header and "hak_usage" not in header


def test_digests_are_of_content(version: Version) -> None:
    listed = (version.folder / "SHA256SUMS").read_text("utf-8").splitlines()
    assert f"{digest_file(version.library)}  lib/libhakmem.so" in listed
