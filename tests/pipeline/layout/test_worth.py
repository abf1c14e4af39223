"""What proposed changes are worth: groups, what is kept, and words; nothing is linked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pipeline.core.errors import DataError
from pipeline.layout.check import Promise
from pipeline.layout.groups import Group, grouped
from pipeline.layout.propose import Change, changed_lists, propose
from pipeline.layout.worth import AS_IT_IS, TOGETHER, Counts, Worth, told, weigh
from pipeline.layout.worth_show import ALONE, lines
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_model import Function, Heat, TextMap

FILES = {"hot.txt": ["# group", "free  # often", "malloc"], "cold.txt": ["fatal", "attach"]}


def comes(name: str, after: str = "") -> Change:
    return Change("hot.txt", name, "9 calls", comes=True, after=after)


def goes(name: str, file: str = "hot.txt") -> Change:
    return Change(file, name, "never ran", comes=False)


def counts(misses: int, lines: float = 50.0) -> Counts:
    return Counts(float(misses), lines, {"python3": misses})


class Counted:
    """Counts by the names that change; as it is, the library has 1,000 misses."""

    def __init__(self, misses: Mapping[str, int | str]) -> None:
        self.misses: dict[str, int | str] = {"": 1000, **misses}
        self.asked: list[list[str]] = []

    def __call__(self, sets: Mapping[str, Sequence[Change]]) -> Mapping[str, Counts | str]:
        self.asked.append(list(sets))
        found = {}
        for name, changes in sets.items():
            known = self.misses["+".join(change.name for change in changes)]
            found[name] = counts(known) if isinstance(known, int) else known
        return found


def weighed(**misses: int | str) -> tuple[Worth, Counted]:
    """Weigh one change for each name without a "+"."""
    names = [name for name in misses if "+" not in name]
    measure = Counted(misses)
    return weigh([Group((comes(name),)) for name in names], measure), measure


def kept(worth: Worth) -> list[str]:
    return [one.group.names[0] for one in worth.kept]


def test_what_comes_is_tried_first_and_a_function_in_one_piece() -> None:
    moved = (goes("fatal", "cold.txt"), comes("fatal"))
    groups = grouped([goes("idle"), *moved, comes("other")])
    assert [group.names for group in groups] == [("fatal",), ("other",), ("idle",)]
    assert groups[0].changes == moved


def test_what_is_beyond_five_groups_is_tried_together() -> None:
    groups = grouped([comes(f"f{number}") for number in range(9)])
    assert [len(group.names) for group in groups] == [1, 1, 1, 1, 5]
    assert len(grouped([comes(f"f{number}") for number in range(5)])) == 5


def test_what_leaves_is_tried_by_itself_and_at_once() -> None:
    groups = grouped([goes("idle"), goes("old"), *(comes(f"f{number}") for number in range(9))])
    assert [len(group.names) for group in groups] == [1, 1, 1, 6, 2]
    assert groups[-1].leaves and not groups[-2].leaves


@pytest.mark.parametrize(("misses", "proposed"), [(999, True), (1000, True), (1001, False)])
def test_what_never_ran_leaves_where_that_costs_nothing(misses: int, proposed: bool) -> None:
    """Listed it breaks the contract, and no count would ever say that it saves misses."""
    worth = weigh([Group((goes("idle"),)), Group((comes("same"),))],
                  Counted({"idle": misses, "same": 1000}))  # fmt: skip
    assert kept(worth) == ["idle"] * proposed


def test_what_the_source_marks_is_never_tried() -> None:
    busy, idle = Heat(entries=99, blocks=99), Heat(entries=0, blocks=0)
    functions = tuple(
        Function(name=name, address=64 * n, size=64, section=".text", heat=heat)
        for n, (name, heat) in enumerate({"free": busy, "malloc": idle, "fatal": busy}.items())
    )
    text = TextMap(build_id="ab", sections=(), functions=functions)
    lists = SymbolLists(hot=("free", "malloc"), cold=("fatal",))
    marked = Promise(lists, marked_hot={"malloc"}, marked_cold={"fatal"}, inlined={})
    free = replace(marked, marked_hot=(), marked_cold=())
    assert grouped(propose(text, marked, {})[0]) == ()
    changes, notes = propose(text, replace(marked, marked_hot=(), pinned={"malloc"}), {})
    assert not changes and any("malloc" in note and "pinned in hot.txt" in note for note in notes)
    assert [group.names for group in grouped(propose(text, free, {})[0])] == [
        ("fatal",),
        ("malloc",),
    ]


def test_it_is_said_where_each_function_goes_and_why() -> None:
    moved = Group((goes("fatal", "cold.txt"), comes("fatal", after="free")))
    said = "fatal out of cold.txt into hot.txt, behind the group of free: 9 calls"
    assert moved.moves == (said,)
    assert Group((goes("idle"), comes("other"))).moves == (
        "idle out of hot.txt: never ran",
        "other into hot.txt, at the end: 9 calls",
    )


def test_changes_are_of_the_lists_that_stand_there() -> None:
    assert changed_lists(FILES, ()).hot == ("free", "malloc")
    after = changed_lists(FILES, [goes("attach", "cold.txt"), comes("attach", after="free")])
    assert after.hot == ("free", "malloc", "attach")
    assert after.cold == ("fatal",)


def test_what_saves_most_stands_first_and_what_saves_none_is_left() -> None:
    worth, _ = weighed(little=990, worse=1001, much=900, same=1000, **{"much+little": 890})
    assert kept(worth) == ["much", "little"]
    assert [one.group.names[0] for one in worth.left] == ["same", "worse"]
    assert worth.after == counts(890)


def test_what_saves_less_together_than_the_best_alone_is_not_kept_beside_it() -> None:
    worth, _ = weighed(little=990, much=900, **{"much+little": 950})
    assert kept(worth) == ["much"]
    assert worth.after == counts(900)
    assert any(line.endswith(ALONE) for line in lines(worth, "0.1", "32 KiB", "shop"))


def test_what_cannot_be_linked_together_is_not_kept_together() -> None:
    worth, _ = weighed(little=990, much=900, **{"much+little": "no order"})
    assert kept(worth) == ["much"]


def test_one_that_is_worth_it_is_not_counted_twice() -> None:
    worth, measure = weighed(much=900, worse=1001)
    assert kept(worth) == ["much"]
    assert measure.asked == [[AS_IT_IS, "1", "2"]]
    assert weighed(a=9, b=8, **{"b+a": 7})[1].asked[1:] == [[TOGETHER]]


def test_nothing_is_kept_where_nothing_is_worth_it() -> None:
    worth, _ = weighed(worse=1001, odd="cannot be linked")
    assert worth.kept == () and worth.after is None
    assert told(worth) == []
    said = "\n".join(lines(worth, "0.1", "32 KiB", "shop"))
    assert "+0.10 %" in said and "more misses" in said
    assert "not counted: cannot be linked" in said


def test_what_was_tried_together_has_one_figure() -> None:
    group = Group((comes("a"), comes("b")))
    said = list(lines(weigh([group], Counted({"a+b": 1001})), "0.1", "32 KiB", "shop"))
    assert said[2:4] == [f"  {move}" for move in group.moves]
    assert said[4].startswith("    all 2 together: 1,000.0 -> 1,001.0 misses, +0.10 % (python3 ")


def test_a_library_that_cannot_be_counted_ends_it() -> None:
    measure = Counted({"": "python3: failed", "much": 900})
    with pytest.raises(DataError, match="python3: failed"):
        weigh([Group((comes("much"),))], measure)


def test_an_interrupt_is_not_held_up() -> None:
    def interrupted(_: object) -> Mapping[str, Counts | str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weigh([Group((comes("much"),))], interrupted)


def test_the_worth_stands_in_the_line_of_the_list() -> None:
    worth, _ = weighed(much=900)
    assert [change.reason for change in told(worth)] == ["9 calls; -10.00 % misses"]


def test_words_name_programs_and_what_the_figures_hold_for() -> None:
    worth, _ = weighed(little=990, much=900, **{"much+little": 890})
    said = list(lines(worth, "0.1-ab", "32 KiB, 8-way", "shop+hardened"))
    assert said[0].startswith("counted in whole python3, simulated (32 KiB, 8-way): misses of 0.1")
    assert "all of these at once: 1,000.0 -> 890.0 misses, -11.00 %" in "\n".join(said)
    much, little = (f"  {name} into hot.txt, at the end: 9 calls" for name in ("much", "little"))
    assert said.index(much) < said.index(little)
    assert "for these programs alone" in said[-1]
    assert "`.venv/bin/pipeline build --profile shop --variant hardened` judges" in said[-1]
