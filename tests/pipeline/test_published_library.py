"""What is published passes the allocator's tests: BOLT may break what the compiler made well."""

from __future__ import annotations

from pathlib import Path

from allocators_tests import pass_allocators_tests
from conftest import Sandbox


def test_a_library_laid_out_by_bolt_passes_the_allocators_tests(
    built: Sandbox, tmp_path: Path
) -> None:
    library = built.current.resolve() / "lib" / "libhakmem.so"
    assert b".bolt.org.text" in library.read_bytes()
    assert pass_allocators_tests(library, tmp_path, "interface|misuse|stress") > 100
