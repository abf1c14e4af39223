"""C++ in heap profiles: short names, and the program's own functions in front of the library's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from test_program_profiles import library

from pipeline.commands.heap import heap_command
from pipeline.heap.cxx import apart, fold, is_std, short
from pipeline.heap.html import boxes, render_page
from pipeline.heap.stacks import Frame, Stack
from pipeline.heap.symbols import demangled
from pipeline.heap.text import call_tree, top
from pipeline.heap.tree import functions, tree

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shop::load(int)", "shop::load(...)"),
        ("shop::C<int, std::vector<long> >::insert(int const&)", "shop::C<...>::insert(...)"),
        (f"{STRING}::_M_construct(unsigned long, char)", "std::string::_M_construct(...)"),
        ("std::__1::vector<int>::push_back(int&&)", "std::vector<...>::push_back(...)"),
        ("void std::sort<int*>(int*, int*)", "std::sort<...>(...)"),
        ("unsigned long f<(1ul)>()", "f<...>()"),
        ("(anonymous namespace)::keep(int) (.constprop.0)", "(anonymous namespace)::keep(...)"),
        ("void (anonymous namespace)::keep<int>(int)", "(anonymous namespace)::keep<...>(...)"),
        ("a::(anonymous namespace)::B::f() const", "a::(anonymous namespace)::B::f()"),
        ("f(int) [clone .isra.0]", "f(...)"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(...)#1}::operator()(...)"),
        ("main::'lambda'(int)::operator()(int) const", "main::'lambda'(...)::operator()(...)"),
        ("std::ostream& std::operator<< <char>(std::ostream&)", "std::operator<< <...>(...)"),
        ("A<int>::operator->() const", "A<...>::operator->()"),
        ("bool a::operator<(B<(a::C)1> const&, int)", "a::operator<(...)"),
        ("A<&A<int>::operator()>::f(int)", "A<...>::f(...)"),
        ("A::operator std::vector<int>() const", "A::operator std::vector<...>()"),
        ("decltype (f({parm#1})) shop::call<int>(int)", "shop::call<...>(...)"),
        ("Foo[abi:cxx11](int)", "Foo(...)"),
        ("operator new(unsigned long)", "operator new(...)"),
        # no names of C++
        ("main", "main"),
        ("libpython3.so+0x12f", "libpython3.so+0x12f"),
        ("<vec::Vec<T> as ops::Drop>::drop", "<vec::Vec<T> as ops::Drop>::drop"),
        ("main.(*T).Run", "main.(*T).Run"),
        ("operator()", "operator()"),
        ("unclosed<int::f(", "unclosed<...>"),
    ],
)  # fmt: skip
def test_a_name_as_it_is_read(name: str, said: str) -> None:
    assert short(name) == said


PLUS = f"{STRING} std::operator+<char>({STRING}&&, char const*)"
OTHER_PLUS = f"{STRING} std::operator+<char>(char const*, {STRING} const&)"


def test_different_functions_never_look_the_same() -> None:
    names = {
        "shop::load(int)": "shop::load(...)",
        PLUS: "std::operator+<...>(std::string&&, char const*)",
        OTHER_PLUS: "std::operator+<...>(char const*, std::string const&)",
        "void std::vector<int>::resize(long)": "std::vector<int>::resize(...)",
        "void std::vector<a::B<int>, f (int)>::resize(long)": (
            "std::vector<a::B<...>, f (...)>::resize(...)"
        ),
        "int c<int, std::allocator<int>>()": "c<int>()",
        "int c<char, std::allocator<char>>()": "c<char>()",
        "a::f(int)": "a::f(int)",
        "a::f(int) const": "a::f(int) const",
    }
    assert apart(names) == names
    assert apart([PLUS, "main", PLUS]) == {PLUS: "std::operator+<...>(...)", "main": "main"}


def test_overloads_have_rows_and_boxes_of_their_own() -> None:
    sums: dict[Stack, float] = {(Frame("main"), Frame(name)): 8.0 for name in (PLUS, OTHER_PLUS)}
    for shown in (top(sums), call_tree(sums)):
        assert "operator+<...>(std::string&&, char const*)\n" in shown
        assert "operator+<...>(char const*, std::string const&)\n" in shown
    assert len({box.label for box in boxes(tree(sums.items()), 16.0, 0.0, 0)}) == 4


def test_the_inside_of_the_standard_library_is_folded() -> None:
    vector = "std::vector<int, std::allocator<int>>"
    names = (
        "main",
        "std::function<void ()>::operator()() const",
        "std::_Function_handler<void (), main::'lambda'()>::_M_invoke(std::_Any_data const&)",
        "shop::load(int)",
        f"{vector}::push_back(int&&)",
        f"int& {vector}::emplace_back<int>(int&&)",
        f"void {vector}::_M_realloc_insert<int>(int*)",
        "std::allocator_traits<std::allocator<int>>::allocate(std::allocator<int>&, unsigned long)",
        "__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)",
        "libstdc++.so.6.0.30+0xa1",
        "operator new(unsigned long)",
    )
    stack: Stack = tuple(map(Frame, names))
    folded = fold({stack: 8.0, stack[:4]: 1.0, stack[5:]: 2.0})
    assert folded == {(*stack[:2], *stack[3:5]): 8.0, (*stack[:2], stack[3]): 1.0, stack[5:6]: 2.0}
    first, *_ = functions(folded, is_std)
    assert (first.frame.name, first.own) == ("shop::load(int)", 9.0)


def test_a_page_says_whose_the_memory_of_the_standard_library_is() -> None:
    """Its box is wide in the flame graph, and its row has nothing by itself."""
    said = "What the standard library asks for counts as its caller's own."
    sums: dict[Stack, float] = {(Frame("main"), Frame("std::vector<int>::resize()")): 9.0}
    assert said in render_page("p", "live", [], sums)
    assert said not in render_page("p", "live", [], sums, full=True)
    assert said not in render_page("p", "live", [], {(Frame("main"),): 9.0})


def test_what_grew_and_shrank_alike_is_gone() -> None:
    f, g = Frame("f"), Frame("g")
    inside = Frame("std::allocator<int>::allocate(unsigned long)")
    assert fold({(f, inside): 5.0, (f,): -5.0, (g,): 1.0}) == {(g,): 1.0}


def test_no_mangled_name_is_left_where_a_tool_knows_it() -> None:
    if not (shutil.which("c++filt") or shutil.which("llvm-cxxfilt")):
        pytest.skip("no demangler is here")
    plain = demangled(["_ZN4shop4loadEi", "_Znever", "main"])
    assert [plain(name) for name in ("_ZN4shop4loadEi", "_Znever", "main")] == [
        "shop::load(int)",
        "_Znever",
        "main",
    ]


# ---- a real program ----

PROGRAM = """
#include <array>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
namespace shop {
struct Order { std::vector<std::string> lines; };
template <class Key, class Value> struct Cache {
    __attribute__((noinline)) void insert(const Key &k, Value value) { all[k] = std::move(value); }
    std::unordered_map<Key, Value> all;
};
static Cache<std::string, Order> cache;
static std::map<int, std::vector<int>> index;
__attribute__((noinline)) void load_orders() {
    for (int i = 0; i < 2000; i++) {
        Order order;
        for (int j = 0; j < 4; j++)
            order.lines.push_back(std::string(100, 'x'));
        cache.insert("order number " + std::to_string(i), std::move(order));
    }
}
__attribute__((noinline)) void build_index() {
    for (int i = 0; i < 2000; i++)
        index[i].resize(100);
}
}
namespace {
std::vector<std::shared_ptr<std::array<char, 1000>>> kept;
__attribute__((noinline)) void keep() {
    for (int i = 0; i < 1000; i++)
        kept.emplace_back(std::make_shared<std::array<char, 1000>>());
}
}
int main() {
    std::thread thread([] { shop::load_orders(); });
    thread.join();
    shop::build_index();
    keep();
}
"""
OWN = ("shop::load_orders", "shop::build_index", "(anonymous namespace)::keep")


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def profile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of that program, as the library writes it."""
    folder, served = tmp_path_factory.mktemp("cxx"), library()
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no compiler of C++")
    (folder / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    flags = ("-std=c++17", "-g", "-gdwarf-4", "-pthread", request.param)
    subprocess.run([compiler, *flags, "program.cpp", "-o", "program"], cwd=folder, check=True)
    return profile_of(folder / "program", served)


def profile_of(program: Path, served: Path) -> Path:
    """What a program that runs with the library writes beside itself at its end."""
    place = f"{program.parent}/app"
    env = {**os.environ, "LD_PRELOAD": str(served), "HAKMEM_PROFILE_HEAP": place}
    env["HAKMEM_PROFILE_RATE"] = "4096"
    subprocess.run([program], env=env, check=True, stdout=subprocess.DEVNULL)
    (file,) = program.parent.glob("app.*.1.heap")
    return file


def said(profile: Path, *more: str) -> str:
    argv = [str(profile), "--what", "allocated", *more]
    return CliRunner().invoke(heap_command, argv, catch_exceptions=False).output


def test_the_functions_of_the_program_come_first(profile: Path) -> None:
    shown = re.findall(r"^ *[\d.]+ [KMG]?i?B +[\d.]+ % +.* %  (.+?)(?:  .*)?$", said(profile), re.M)
    assert {name.partition("(...)")[0].removesuffix("()") for name in shown[:3]} == {*OWN}
    assert not [name for name in shown if re.search(r"_M_|__gnu_cxx|allocator|__cxx11|^_Z", name)]
    assert all(len(name) < 80 for name in shown)


def test_the_tree_has_what_they_called_and_no_more(profile: Path) -> None:
    lines = said(profile, "--show", "tree").splitlines()
    calls = {re.sub(r"  \S+:\d+( and \d+ more)?$", "", line).split("  ")[-1] for line in lines}
    assert "std::vector<...>::resize(...)" in calls
    assert not [name for name in calls if re.search(r"_M_|__gnu_cxx|allocator", name)]


def test_whole_names_are_an_option(profile: Path) -> None:
    for show in ("top", "tree"):
        text = said(profile, "--show", show, "--full-names")
        assert "std::allocator<char>" in text and "::allocate(unsigned long" in text


def test_the_page_has_short_names_and_whole_ones_behind_them(profile: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    said(profile, "--html", str(page))
    text = page.read_text(encoding="utf-8")
    graph = text[text.index("<svg") : text.rindex("</svg>") + 6]
    titles = [title.text or "" for title in ElementTree.fromstring(graph).iter("title")]
    assert any(title.startswith("std::vector<int, std::allocator<int>") for title in titles)
    assert not [title for title in titles if re.match(r"\w*_M_|__gnu_cxx|_Z", title)]
    line = 1 + PROGRAM.splitlines().index("        index[i].resize(100);")
    place = f"program.cpp:{line}"
    cell = f"shop::build_index()  {place}"
    tip = f"shop::build_index(); {place}"
    assert f'<td class="words" title="{tip}">{cell}</td>' in text
    assert "std::vector&lt;...&gt;::resize(...) " in text
