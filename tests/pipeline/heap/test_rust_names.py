"""Rust in heap profiles: names as people write them."""

from __future__ import annotations

import pytest

from pipeline.heap import rust
from pipeline.heap.symbols import demangled

HASH = "::hac18efc04bb2e1eb"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"kvd::set{HASH}", "kvd::set"),
        (
            f"_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..iter..FromIterator$LT$T$GT$$GT$"
            f"::from_iter{HASH}",
            "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter",
        ),
        (f"kvd::Map$LT$K$C$V$GT$::get{HASH} (.llvm.4711)", "kvd::Map<K,V>::get"),
        (f"kvd::get{HASH} [clone .cold]", "kvd::get"),
        (f"kvd::main::_$u7b$$u7b$closure$u7d$$u7d${HASH}", "kvd::main::{{closure}}"),
        (f"a::call_once$u7b$$u7b$vtable.shim$u7d$$u7d${HASH}", "a::call_once{{vtable.shim}}"),
        (f"_$LT$$RF$T$u20$as$u20$a..F$LT$$LP$$RP$$GT$$GT$::f{HASH}", "<&T as a::F<()>>::f"),
        (f"_$LT$$BP$const$u20$T$u20$as$u20$a..B$GT$::f{HASH}", "<*const T as a::B>::f"),
        (f"a::_hidden$what$::f{HASH}", "a::_hidden$what$::f"),
        # no names of Rust
        ("shop::load$LT$(int)", "shop::load$LT$(int)"),
        (f"shop{HASH}(int)", f"shop{HASH}(int)"),
        ("shop::hac18efc04bb2e1e", "shop::hac18efc04bb2e1e"),
        ("shop::hac18efc04bb2e1eg", "shop::hac18efc04bb2e1eg"),
        ("hac18efc04bb2e1eb", "hac18efc04bb2e1eb"),
    ],
)  # fmt: skip
def test_a_name_as_it_is_written(name: str, said: str) -> None:
    assert rust.plain(name) == said


def test_names_are_plain_whichever_tool_knows_them() -> None:
    """Some tools know these names, and for others they are C++."""
    mangled = "_ZN3kvd3set17h0ff2c635f9b261d4E"
    named = demangled([mangled, f"kvd::get{HASH}"])
    if named(mangled) == mangled:
        pytest.skip("no demangler is here")
    assert [named(mangled), named(f"kvd::get{HASH}")] == ["kvd::set", "kvd::get"]
