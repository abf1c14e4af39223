"""Rust in heap profiles: names as people write them, and the program's own functions in front."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_cxx_names import profile_of, said
from test_program_profiles import library

from pipeline.heap import rust
from pipeline.heap.cxx import apart, fold, is_std, short
from pipeline.heap.stacks import Frame, Stack
from pipeline.heap.symbols import demangled
from pipeline.heap.tree import functions

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


# ---- the inside of the standard library ----


def named(text: str) -> Frame:
    """Return a function that rustc named in its older way: the name tells whose it is."""
    return Frame(rust.named("", text + HASH))


@pytest.mark.parametrize(
    "name",
    [
        "alloc::alloc::alloc",
        "core::ptr::drop_in_place<kvd::Order>",
        "std::rt::lang_start",
        "hashbrown::map::HashMap<K,V,S,A>::insert",
        "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter",
        "<T as core::convert::Into<U>>::into",
        "<T as alloc::slice::<impl [T]>::to_vec_in::ConvertVec>::to_vec",
        "<&str as alloc::string::ToString>::to_string",
    ],
)
def test_what_belongs_to_the_standard_library(name: str) -> None:
    assert is_std(named(name).name)
    assert not is_std(f"a{name}")


@pytest.mark.parametrize(
    "name",
    [
        "kvd::set",
        "kvd::main::{{closure}}",
        "core_of_kvd::run",
        "kvd::_<impl core::clone::Clone for kvd::Order>::clone",
        "<kvd::Order as core::clone::Clone>::clone",
        "<alloc::vec::Vec<T> as kvd::Fill>::fill",
        "<T as kvd::Fill>::fill",
        "<alloc::vec::Vec<u8> as core::convert::From<kvd::Order>>::from",
    ],
)
def test_what_belongs_to_the_program(name: str) -> None:
    assert not is_std(named(name).name)


@pytest.mark.parametrize(
    ("mangled", "text", "std"),
    [
        ("_RNvCsdmp5F9Di3tp_3kvd3set", "kvd::set", False),
        ("_RNvNtCsjIDQ4c5q3Gk_5alloc5alloc5alloc", "alloc::alloc::alloc", True),
        ("_RNvCs691rhTbG0Ee_7___rustc12___rust_alloc", "__rustc::__rust_alloc", True),
        # for a type of the program, and written by the standard library, or by the program
        ("_RNvXs_NtCs1_5alloc3vecINtB4_3VecNtC3kvd1O", "<alloc::vec::Vec<kvd::O>>::f", True),
        ("_RINvXs1a_Cs1_5allocNtC3kvd1OE", "<kvd::O as core::convert::Into<u8>>::into", True),
        ("_RNvXCs1_3kvdNtB2_1ONtNtCs2_4core5clone5Clone5clone", "<kvd::O as Clone>::clone", False),
        ("_RNvYNtC3kvd1INtC4core8Iterator7collect", "<kvd::I as core::Iterator>::collect", True),
        ("_RNvYjNtC3kvd4Fill4fill", "<usize as kvd::Fill>::fill", False),
        ("_RNCNvCs1_3kvd4main0", "kvd::main::{closure#0}", False),
        # helpers have no mangled names, and those of C and C++ are nobody's here
        ("__rdl_alloc", "__rdl_alloc", True),
        ("__rust_realloc", "__rust_realloc", True),
        ("_ZN4core3runEv", "core::run()", False),
        ("core::run", "core::run", False),
        ("rust_me", "rust_me", False),
    ],
)  # fmt: skip
def test_mangled_names_tell_whose_a_function_is(mangled: str, text: str, std: bool) -> None:
    name = rust.named(mangled, text)
    assert (name, is_std(name)) == (text, std)


def test_newer_names_have_no_hashes_either() -> None:
    """Some tools show those of crates, and all show what LLVM adds to copies."""
    mangled = "_RNvCs1234_3kvd3set"
    assert rust.named(mangled, "kvd[3c1c0]::set::<[u8; 4]> (.llvm.12)") == "kvd::set::<[u8; 4]>"
    assert rust.named("_ZN3kvd3set17h0ff2c635f9b261d4E", "kvd::set") == "kvd::set"
    collect = "<kvd[1a]::I as core[2b]::Iterator>::collect"
    assert is_std(rust.named("_RNvYNtC3kvd1INtC4core8Iterator7collect", collect))


def test_names_are_never_short() -> None:
    name = rust.named("_RINvCs1_3kvd3setE", "kvd::set::<fn(alloc::vec::Vec<u8>)>")
    assert short(name) == name and apart([name]) == {name: name}


def test_what_the_program_calls_stays_and_no_more() -> None:
    main, closure = named("kvd::main"), named("kvd::main::{{closure}}")
    start, catch = named("std::rt::lang_start"), named("std::panicking::catch_unwind")
    vector = named("<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter")
    raw = named("alloc::raw_vec::RawVec<T>::grow")
    helper = Frame(rust.named("__rust_alloc", "__rust_alloc"))
    stack: Stack = (Frame("main"), start, catch, main, vector, raw, closure, vector, raw, helper)
    kept = (Frame("main"), start, main, vector, closure, vector)
    folded = fold({stack: 8.0, stack[:6]: 1.0, (raw, helper): 2.0})
    assert folded == {kept: 8.0, kept[:4]: 1.0, (raw,): 2.0}
    first, second, *_ = functions(folded, is_std)
    assert [(first.frame, first.own), (second.frame, second.own)] == [(closure, 8.0), (raw, 2.0)]


def test_names_of_cxx_stay_as_they_were() -> None:
    """A program of C++ may have a namespace that is called as a part of Rust's library."""
    stack = (Frame("main"), Frame("core::run(int)"), Frame("alloc::get(int)"), Frame("hashbrown"))
    assert fold({stack: 1.0}) == {stack: 1.0}
    assert short("core::run(int)") == "core::run(...)"


# ---- a real program ----

PROGRAM = """
use std::collections::HashMap;
type Store = HashMap<String, Vec<u8>>;

#[inline(never)]
fn set(store: &mut Store, key: &str, n: usize) {
    store.insert(key.to_string(), vec![1u8; n]);
}

trait Fill { fn fill(&self) -> Vec<String>; }
impl Fill for [u64] {
    #[inline(never)]
    fn fill(&self) -> Vec<String> {
        self.iter().map(|n| format!("{n:?} is a number in a text of some length")).collect()
    }
}

mod cache {
    pub struct Cache<T> { pub items: Vec<Box<T>> }
    impl<T: Clone> Cache<T> {
        #[inline(never)]
        pub fn keep(&mut self, one: &T) {
            for _ in 0..3000 { self.items.push(Box::new(one.clone())); }
        }
    }
}

fn main() {
    let store = std::thread::spawn(|| {
        let mut store = Store::new();
        for i in 0..3000 { set(&mut store, &i.to_string(), 300); }
        store
    }).join().unwrap();
    let numbers: Vec<u64> = (0..5000).collect();
    let texts = Fill::fill(&numbers[..]);
    let mut cache = cache::Cache { items: Vec::new() };
    cache.keep(&[5u64; 20]);
    println!("{} {} {}", store.len(), texts.len(), cache.items.len());
}
"""


@pytest.fixture(scope="module", params=[(), ("-Csymbol-mangling-version=v0",)], ids=["old", "v0"])
def profile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of that program, as the library writes it."""
    folder, served = tmp_path_factory.mktemp("rust"), library()
    compiler = shutil.which("rustc")
    if compiler is None:
        pytest.skip("there is no compiler of Rust")
    (folder / "kvd.rs").write_text(PROGRAM, encoding="utf-8")
    subprocess.run([compiler, "-O", "-g", *request.param, "kvd.rs"], cwd=folder, check=True)
    return profile_of(folder / "kvd", served)


def test_the_functions_of_the_program_come_first(profile: Path) -> None:
    rows = re.findall(r"^ *[\d.]+ [KMG]?i?B +[\d.]+ % +.* %  (.+?)(?:  .*)?$", said(profile), re.M)
    assert all("kvd::" in name and not is_std(name) for name in rows[:3]), rows
    assert not [name for name in rows if re.search(r"\$|::h[0-9a-f]{16}|raw_vec|__rust_", name)]


def test_whole_stacks_are_an_option(profile: Path) -> None:
    for more in (("--full-names",), ("--show", "folded")):
        text = said(profile, *more)
        assert "alloc::alloc::alloc" in text and not re.search(r"\$|::h[0-9a-f]{16}", text)
