"""A listed name may be that of a function which is inlined before anything is counted."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.paths import Tree
from pipeline.stages.build.check_names import defined_functions, listable

SOURCE = """
#define NOT_ONE(x) { x }
static inline bool
    two_lines(const char *a,
              int b) {
    return called(a) && b;
}
HAK_EXPORT HAK_HOT void *exported(size_t size) {
    if (condition(size)) {
    }
}
int declared(int);
static const struct thing table[] = {{first(1)}};
"""


def test_definitions_are_told_from_calls_declarations_and_macros(tmp_path: Path) -> None:
    (tmp_path / "allocator/room").mkdir(parents=True)
    (tmp_path / "allocator/room/one.c").write_text(SOURCE, encoding="utf-8")
    assert defined_functions(Tree(tmp_path)) == {"two_lines", "exported"}


def test_every_function_of_the_lists_is_found() -> None:
    found = defined_functions(Tree.here())
    assert {"hak_malloc", "hak_free", "refuse_pointer", "add_segment"} <= found
    assert "HAK_SMALL_MAX" not in found


def test_a_call_or_a_type_of_macros_makes_no_name_that_may_be_listed(tmp_path: Path) -> None:
    (tmp_path / "allocator/room").mkdir(parents=True)
    base = 'BASE(made, "_Znwm", (size_t size), 0)\n'
    made = base + "static ElfW(Addr) typed(const ElfW(Dyn) * at) {}\n"
    (tmp_path / "allocator/room/one.c").write_text(SOURCE + made, encoding="utf-8")
    names = listable(Tree(tmp_path), {"made", "called", "first", "condition", "typed"})
    assert {"two_lines", "exported", "made"} <= names
    assert not {"called", "first", "condition", "typed"} & names
