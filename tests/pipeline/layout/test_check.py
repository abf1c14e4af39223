"""The layout contract, on maps made by hand: each rule holds, and each is broken by something."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.commands.layout import _outcome, _tell
from pipeline.commands.layout_propose import _change_list
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.layout.check import HOTTEST_BLOCKS, RULES, Finding, Promise, check_layout
from pipeline.layout.inlined import inlined_into
from pipeline.layout.marks import marked, shared_statics
from pipeline.layout.propose import Change, apply_changes, as_diff, propose
from pipeline.layout.subject import Subject
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_model import Function, Heat, TextMap

LISTS = SymbolLists(hot=("malloc", "free", "refill"), cold=("attach", "fatal"))
PROMISE = Promise(LISTS, marked_hot={"malloc"}, marked_cold={"fatal"}, inlined={})
NAMES = ("malloc", "free", "refill", "other", "attach", "fatal")


def function(name: str, address: int, size: int = 64, calls: int = 9, **more: str) -> Function:
    heat = Heat(entries=calls, blocks=2 * calls)
    return Function.model_validate(
        {"name": name, "address": address, "size": size, "section": ".text", "heat": heat, **more}
    )


def text(*functions: Function) -> TextMap:
    in_order = sorted(functions, key=lambda f: f.address)
    return TextMap(build_id="ab", sections=(), functions=tuple(in_order))


def without(name: str) -> TextMap:
    """Return a good map without one function, and without a gap."""
    left = [n for n in NAMES if n != name]
    calls = {"other": 0, "attach": 0, "fatal": 0}
    return text(*(function(n, 4096 + 64 * i, calls=calls.get(n, 9)) for i, n in enumerate(left)))


def good(**changed: Function) -> TextMap:
    """Return a map that keeps the contract, but for the functions given."""
    calls = {"other": 0, "attach": 0, "fatal": 0}
    rows = {
        name: function(name, 4096 + 64 * number, calls=calls.get(name, 9))
        for number, name in enumerate(NAMES)
    }
    return text(*(rows | changed).values())


def broken(text_map: TextMap, promise: Promise = PROMISE) -> list[tuple[str, str]]:
    return [(f.rule, f.symbol) for f in check_layout(text_map, promise) if f.broken]


def notes(text_map: TextMap, promise: Promise = PROMISE) -> list[Finding]:
    return [f for f in check_layout(text_map, promise) if not f.broken]


def test_good_layout_keeps_the_contract() -> None:
    assert check_layout(good(), PROMISE) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"free": function("free", 8192)}, ("order", "refill")),
        ({"other": function("other", 4096 + 32, 8)}, ("contiguous", "other")),
        (
            {"half": function("x.cold.0", 4096 + 40, 8, part="cold", parent="x")},
            ("contiguous", "x.cold.0"),
        ),
        ({"malloc": function("malloc", 2048)}, ("contiguous", "free")),
        ({"malloc": function("malloc", 4090, 60)}, ("line", "malloc")),
        ({"free": function("free", 4096 + 80, 40)}, ("line", "free")),
        ({"refill": function("refill", 4096 + 128, calls=0)}, ("profiled", "refill")),
        ({"fatal": function("fatal", 4096 + 32, 8)}, ("cold", "fatal")),
        ({"attach": function("attach", 128), "fatal": function("fatal", 64)}, ("cold", "fatal")),
        ({"attach": function("attach", 9000)}, ("cold", "fatal")),
    ],
)
def test_each_breach_is_found(changed: dict[str, Function], expected: tuple[str, str]) -> None:
    assert expected in broken(good(**changed))


def test_a_hot_function_that_ran_inside_of_others_is_told_and_stays_listed() -> None:
    unused = good(refill=function("refill", 4096 + 128, calls=0))
    promise = replace(PROMISE, inlined={"refill": ["malloc", "attach"]})
    (found,) = (f for f in check_layout(unused, promise) if f.rule == "profiled")
    assert (found.broken, found.text) == (
        False,
        "its own code never ran: it ran inlined into malloc",
    )
    assert propose(unused, promise, {})[0] == []
    promise = replace(PROMISE, inlined={"refill": ["attach"]})  # which never ran either
    assert [c.name for c in propose(unused, promise, {})[0]] == ["refill"]


def test_cold_functions_may_lie_on_both_sides() -> None:
    assert broken(good(fatal=function("fatal", 64))) == []


def test_missing_function_breaks_it_unless_it_was_inlined() -> None:
    assert broken(without("free")) == [("there", "free")]
    inlined = Promise(LISTS, {"malloc"}, {"fatal"}, inlined={"free": ["malloc", "refill"]})
    assert broken(without("free"), inlined) == []
    assert [f.text for f in notes(without("free"), inlined)] == ["inlined into malloc, refill"]


def test_missing_cold_function_is_only_told() -> None:
    assert broken(without("attach")) == []
    assert [f.symbol for f in notes(without("attach"))] == ["attach"]


def test_marks_and_lists_must_agree() -> None:
    promise = Promise(LISTS, {"malloc", "attach"}, {"fatal", "free", "gone"}, inlined={})
    assert {(f.symbol, f.text) for f in check_layout(good(), promise)} == {
        ("attach", "has HAK_HOT and is not in hot.txt"),
        ("attach", "has HAK_HOT and is in cold.txt"),
        ("free", "has HAK_COLD and is not in cold.txt"),
        ("gone", "has HAK_COLD and is not in cold.txt"),
        ("free", "has HAK_COLD and is in hot.txt"),
    }


def test_quick_training_does_not_break_it() -> None:
    cold = good(refill=function("refill", 4096 + 128, calls=0))
    short = Promise(LISTS, {"malloc"}, {"fatal"}, inlined={}, excuse="short: --quick")
    assert broken(cold, short) == []
    assert "--quick" in notes(cold, short)[0].text


def test_unknown_profile_is_said() -> None:
    bare = text(*(f.model_copy(update={"heat": None}) for f in good().functions))
    assert [f.text for f in notes(bare)] == ["unknown: no profile beside this library"]
    assert broken(bare) == []


def test_rules_have_sentences_of_their_own() -> None:
    assert len(set(RULES.values())) == len(RULES) == 8


def test_the_line_of_a_rule_says_what_the_findings_leave_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def first_line(text_map: TextMap) -> str:
        _tell(check_layout(text_map, PROMISE), verbose=False)
        return capsys.readouterr().out.splitlines()[0]

    has_code = "every listed function has code of its own"
    assert first_line(without("attach")) == f"✓ {has_code}, with 1 exception"
    assert first_line(without("free")) == f"✗ not so: {has_code}"
    bare = text(*(f.model_copy(update={"heat": None}) for f in good().functions))
    assert first_line(bare) == "? not known: every hot function ran in the training"


CALLERS = {"other": Counter({"[unknown]": 2, "refill": 900, "fatal": 50})}
HOT_LINES = ["# gate", "malloc", "free  # why", "", "# doors", "refill"]


def test_hot_function_outside_is_proposed_behind_its_caller() -> None:
    changes, said = propose(good(other=function("other", 5000, calls=952)), PROMISE, CALLERS)
    assert said == []
    after = apply_changes(HOT_LINES, "hot.txt", changes)
    assert after == [*HOT_LINES, "other  # 952 calls, most from refill and fatal"]
    diff = as_diff("layouts/p/hot.txt", HOT_LINES, after)
    assert diff.startswith("--- a/layouts/p/hot.txt\n+++ b/layouts/p/hot.txt\n@@")
    assert "+other  # 952 calls" in diff


def test_proposed_function_without_a_listed_caller_gets_a_group() -> None:
    changes, _ = propose(good(other=function("other", 5000, calls=952)), PROMISE, {})
    after = apply_changes(HOT_LINES, "hot.txt", changes)
    assert after[-3:] == ["", "# by the profile", "other  # 952 times"]


def test_function_that_never_ran_is_taken_out() -> None:
    cold = good(free=function("free", 4096 + 64, calls=0))
    changes, _ = propose(cold, PROMISE, {})
    assert [(c.name, c.reason) for c in changes] == [("free", "the training never ran it")]
    after = apply_changes(HOT_LINES, "hot.txt", changes)
    assert after == ["# gate", "malloc", "", "# doors", "refill"]


def test_hot_function_leaves_cold_txt() -> None:
    changes, _ = propose(good(attach=function("attach", 4096 + 256, calls=99)), PROMISE, {})
    assert [(c.file, c.name, c.comes) for c in changes] == [
        ("cold.txt", "attach", False),
        ("hot.txt", "attach", True),
    ]


def test_marks_in_the_source_are_not_overruled() -> None:
    odd = good(
        malloc=function("malloc", 4096, calls=0), fatal=function("fatal", 4096 + 320, calls=99)
    )
    changes, said = propose(odd, PROMISE, {})
    assert changes == []
    assert "marked HAK_HOT" in said[0] and "marked HAK_COLD" in said[1]


def test_start_files_and_numbered_names_are_not_proposed() -> None:
    odd = [function(n, 9000 + i, 1, calls=99) for i, n in enumerate(("_init", "x.12", "x"))]
    assert propose(text(*good().functions, *odd), PROMISE, {}) == ([], [])


def test_a_static_name_of_several_files_is_not_proposed() -> None:
    """Which one a list would mean, nobody knows: without LTO they bear the same name."""
    three = [function("fill", 9000 + 64 * n, calls=99) for n in range(3)]
    assert propose(text(*good().functions, *three), PROMISE, {}) == ([], [])
    one = text(*good().functions, three[0])  # the other two went where they were called
    assert [c.name for c in propose(one, PROMISE, {})[0]] == ["fill"]
    assert propose(one, replace(PROMISE, shared={"fill"}), {}) == ([], [])


def test_what_is_no_count_of_calls_is_not_called_so() -> None:
    odd = good(other=function("other", 5000, calls=99))
    assert "of a million calls" in notes(odd)[0].text
    assert notes(odd)[0].text == f"{notes(odd)[0].often}, and not in hot.txt"
    blocks = replace(PROMISE, counted=HOTTEST_BLOCKS)
    assert "of a million runs of hottest blocks" in notes(odd, blocks)[0].text


def test_names_that_several_sources_define_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("static int fill(int n) {\n}\nstatic void one(void) {\n}\n")
    (tmp_path / "b.c").write_text("static HAK_COLD bool\nfill(int *p) {\n}\nint one(void);\n")
    assert shared_statics(tmp_path) == {"fill"}


def test_what_is_not_listed_is_in_the_last_sentence() -> None:
    listed = Finding(rule="listed", symbol="x", text="", broken=False)
    assert _outcome([], "shop") == "holds"
    said = _outcome([listed, listed], "shop")
    assert said.startswith("holds. 2 functions that ran often are not in hot")
    assert "`.venv/bin/pipeline layout propose -p shop --measure` says whether" in said
    gone = Finding(rule="there", symbol="y", text="", broken=True)
    said = _outcome([gone, listed], "shop")
    assert said.startswith("is broken in 1 place. 1 function that ran often is")


def test_a_list_that_is_a_link_becomes_one_of_its_own(tmp_path: Path) -> None:
    """The list of another profile is not changed by a proposal for this one."""
    tree = Tree(tmp_path)
    own, other = tree.layout("own"), tree.layout("other")
    for folder in (own, other):
        folder.mkdir(parents=True)
    (other / "cold.txt").write_text("attach\nfatal\n", encoding="utf-8")
    (own / "cold.txt").symlink_to("../other/cold.txt")
    subject = Subject(tree, tmp_path / "x.so", None, own)
    change = Change("cold.txt", "attach", "it ran", comes=False)
    _change_list(subject, "cold.txt", [change], write=True)
    assert (other / "cold.txt").read_text(encoding="utf-8") == "attach\nfatal\n"
    assert (own / "cold.txt").read_text(encoding="utf-8") == "fatal\n"
    assert not (own / "cold.txt").is_symlink()


def test_nothing_to_propose() -> None:
    assert propose(good(), PROMISE, {}) == ([], [])
    assert as_diff("x", HOT_LINES, HOT_LINES) == ""


def test_inlined_functions_are_found_in_debug_information(tmp_path: Path) -> None:
    source, output = tmp_path / "x.c", tmp_path / "x.so"
    source.write_text(
        "static inline __attribute__((always_inline)) int pop(int n) { return n * 3; }\n"
        "int get(int n) { return pop(n) + 1; }\nint put(int n) { return pop(n) - 1; }\n",
        encoding="utf-8",
    )
    flags = ("-O1", "-g", "-shared", "-fPIC", "-Wl,--emit-relocs")
    run(["gcc", *flags, source, "-o", output])
    assert inlined_into(output, {"pop", "no_such"}) == {"pop": ["get", "put"]}
    assert inlined_into(output, {"no_such"}) == {}
    run(["strip", output])
    assert inlined_into(output, {"pop"}) == {}


def test_marks_are_read_from_definitions_and_declarations(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("HAK_COLD void *slow(int n);\n/* HAK_COLD no(x) */\n")
    (tmp_path / "a.c").write_text("HAK_EXPORT HAK_HOT void *fast(int n) {\n return 0; }\n")
    assert marked(tmp_path, "HAK_COLD") == {"slow"}
    assert marked(tmp_path, "HAK_HOT") == {"fast"}


def test_marks_of_the_variants_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "a.c").write_text("HAK_COLD void refuse(void) {\n}\n")
    (tmp_path / "b.c").write_text("HAK_COLD void attach(void) {\n}\n")
    assert marked(tmp_path, "HAK_COLD") == {"attach"}


def test_as_many_are_said_to_be_in_no_hot_list_as_are_proposed() -> None:
    """One that is marked cold is for its author to decide: nothing is proposed of it."""
    both = good(
        attach=function("attach", 4096 + 256, calls=99), fatal=function("fatal", 4096 + 320)
    )
    said = {f.symbol: (f.rule, f.text) for f in check_layout(both, PROMISE) if not f.broken}
    assert said["attach"][0] == "listed" and said["attach"][1].endswith(", and in cold.txt")
    assert said["fatal"][0] == "marks" and "marked HAK_COLD" in said["fatal"][1]
    changes, notes = propose(both, PROMISE, {})
    assert [c.name for c in changes if c.comes] == ["attach"] and len(notes) == 1
