"""Searching a layout: candidates, exchanges, pins, interrupts and words; nothing is linked here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from pipeline.core.errors import DataError
from pipeline.layout.candidates import Candidate, Recipe, by_flags, by_order
from pipeline.layout.pins import pinned, rearranged, reordered
from pipeline.layout.search import Cost, Found, Search
from pipeline.layout.search_show import exchanges, outcome, table
from pipeline.toolchain.flags import BOLT, texts

HOT = ("malloc", "free", "calloc", "refill")
LISTED = [
    "# entry points",
    "malloc  # pinned: near free",
    "free",
    "",
    "# slow path",
    "calloc  # rare",
    "refill",
]


def cost(misses: float, pages: float = 10) -> Cost:
    return Cost(misses, pages, 500, {"perl": int(misses)})


Price = Callable[[Recipe], Cost | str]


class World:
    """Counts by ``price``; the time is up after ``steps`` countings, or an interrupt comes."""

    def __init__(self, price: Price, steps: int = 1000, interrupt: bool = False) -> None:
        self.price, self.steps, self.interrupt = price, steps, interrupt
        self.asked: list[Recipe] = []
        self.said: list[str] = []

    def measure(self, recipes: Sequence[Recipe]) -> list[Cost | str]:
        if self.interrupt and not self.steps:
            raise KeyboardInterrupt
        self.steps -= 1
        self.asked += recipes
        return [self.price(one) for one in recipes]

    def search(self, candidates: Iterable[Candidate] = (), movable: Iterable[str] = HOT) -> Found:
        left = lambda: self.interrupt or self.steps > 0  # noqa: E731  # two words
        search = Search(self.measure, left, self.said.append, frozenset(movable), width=2)
        return search.run(HOT, list(candidates))


def by_place(wanted: Sequence[str]) -> Price:
    """Return a price that grows by 10 for each function that lies far from its wanted place."""

    def price(recipe: Recipe) -> Cost:
        away = sum(abs(wanted.index(name) - n) for n, name in enumerate(recipe.hot))
        return cost(900 + 10 * away)

    return price


def level(_recipe: Recipe) -> Cost:
    return cost(1000)


def said(found: Found, line: str = "mixed") -> str:
    return "\n".join((*table(found), *exchanges(found), *outcome(found, line, "hot.txt")))


def test_a_pin_is_a_word_behind_a_name() -> None:
    assert pinned(LISTED) == {"malloc"}
    assert pinned(["# not pinned", "free  # unpinned", "malloc  # pinned"]) == {"malloc"}


def test_a_heading_pins_its_group() -> None:
    lines = ["# pinned: they lie close", "# together", "free", "malloc", "", "# others", "calloc"]
    assert pinned(lines) == {"free", "malloc"}


def test_what_is_pinned_keeps_its_place_and_what_nobody_names_comes_last() -> None:
    assert reordered(HOT, ["refill", "other", "free"], frozenset()) == (
        *("refill", "free"),
        *("malloc", "calloc"),
    )
    assert reordered(HOT, ["refill", "free"], frozenset({"malloc"}))[0] == "malloc"


def test_headings_stay_and_each_name_takes_its_comment_along() -> None:
    after = rearranged(LISTED, ("malloc", "calloc", "free", "refill"))
    assert after[1:3] == ["malloc  # pinned: near free", "calloc  # rare"]
    assert [line for line in after if line[:1] in ("", "#")] == [
        "# entry points",
        "",
        "# slow path",
    ]
    assert sorted(after) == sorted(LISTED)


def test_a_flag_takes_the_place_of_the_same_one() -> None:
    names = {"order": "o", "align": 64}
    usual = texts(BOLT, **names)
    blocks = texts(Recipe(HOT, ("--reorder-blocks=cache",)).changed(BOLT), **names)
    assert [one for one in blocks if "blocks" in one] == ["--reorder-blocks=cache"]
    assert len(blocks) == len(usual)
    whole = texts(Recipe(HOT, dropped=("--split-functions",)).changed(BOLT), **names)
    assert set(usual) - set(whole) == {"--split-functions"}
    assert texts(Recipe(HOT).changed(BOLT), **names) == usual


def test_each_candidate_of_flags_differs_from_what_the_library_has() -> None:
    found = list(by_flags(HOT))
    assert len({one.name for one in found}) == len(found)
    assert all(one.recipe.changed(BOLT) != BOLT or not one.recipe.bolt for one in found)
    assert {one.kind for one in found} == {"blocks", "splitting", "alignment", "inlining", "BOLT"}


def test_what_saves_more_than_counts_vary_is_better_and_less_is_not() -> None:
    little, much = (Recipe(HOT, (f"--align-functions={n}",)) for n in (16, 32))
    price = {little: cost(985), much: cost(970)}
    tried = [Candidate("alignment", "16", little), Candidate("alignment", "32", much)]
    found = World(lambda one: price.get(one, cost(1000))).search(tried)
    assert "found: --align-functions=32 changes the misses by -3.00 %" in said(found)
    found = World(lambda one: price.get(one, cost(1000))).search(tried[:1])
    assert not found.better(cost(985))
    assert "nothing saves more than 2 % of the misses as they are" in said(found)
    assert "nearest is alignment 16 with -1.50 %" in said(found)


def test_a_better_order_is_where_exchanges_begin() -> None:
    wanted = ("refill", "calloc", "free", "malloc")
    world = World(by_place(wanted))
    found = world.search(by_order({"cdsort": ("refill", "calloc", "malloc", "free")}))
    assert found.order == (wanted, cost(900))
    assert found.start and found.start.candidate.name == "cdsort"
    assert [(one.first, one.second) for one in found.exchanges] == [("malloc", "free")]
    assert "from cdsort, and 1 kept" in said(found)
    assert "found: hot.txt in another order changes the misses by" in said(found)


def test_exchanges_keep_only_what_counts_better() -> None:
    wanted = ("free", "malloc", "calloc", "refill")
    found = World(by_place(wanted)).search()
    assert found.order[0] == wanted
    assert len(found.exchanges) == 1
    found = World(level).search()
    assert found.order == (HOT, cost(1000)) and found.exchanged == len(HOT) - 1
    assert (
        "exchanges of neighbours in hot.txt counted: 3, from the list as it is, and none"
        in said(found)
    )


def test_where_misses_are_the_same_fewer_pages_are_kept_and_not_called_better() -> None:
    found = World(lambda one: cost(1000, 10 if one.hot[0] == "malloc" else 9)).search()
    assert len(found.exchanges) == 1 and found.order[0][0] == "free"
    assert not found.better(found.order[1])
    assert "nothing has fewer misses" in said(found)
    assert "malloc and free change places: as many misses, pages 10.00 -> 9.00" in said(found)


def test_what_is_pinned_or_has_no_code_is_never_exchanged() -> None:
    world = World(by_place(("free", "malloc", "calloc", "refill")))
    found = world.search(movable=("free", "calloc", "refill"))
    assert not found.exchanges
    assert all(one.hot[0] == "malloc" for one in world.asked)
    assert World(level).search(movable=()).exchanged == 0


def test_a_candidate_that_does_not_link_is_told_and_the_others_are_counted() -> None:
    def price(recipe: Recipe) -> Cost | str:
        return "ld.lld: error: unknown option" if recipe.flags else level(recipe)

    odd = Candidate("blocks", "odd", Recipe(HOT, ("--reorder-blocks=odd",)))
    found = World(price).search([odd, *by_order({"reverse": HOT[::-1]})])
    assert [one.problem for one in found.tried] == ["ld.lld: error: unknown option", ""]
    assert "blocks odd: not counted: ld.lld: error: unknown option" in said(found)


def test_what_is_best_of_each_kind_is_tried_together() -> None:
    split, align = Recipe(HOT, dropped=("--split-functions",)), Recipe(HOT, ("--align-blocks",))
    both = split.joined(align)
    price = {split: cost(960), align: cost(970), both: cost(940)}
    tried = [Candidate("splitting", "none", split), Candidate("alignment", "blocks", align)]
    tried += [Candidate("BOLT", "left out", Recipe(HOT, bolt=False))]
    found = World(lambda one: price.get(one, cost(1000))).search(tried)
    assert found.together and found.together.cost == cost(940)
    assert "--align-blocks no --split-functions changes the misses by -6.00 %" in said(found)


def test_what_is_nearest_may_be_several_together() -> None:
    split, align = Recipe(HOT, dropped=("--split-functions",)), Recipe(HOT, ("--align-blocks",))
    price = {split: cost(990), align: cost(995), split.joined(align): cost(985)}
    tried = [Candidate("splitting", "none", split), Candidate("alignment", "blocks", align)]
    found = World(lambda one: price.get(one, cost(1000))).search(tried)
    assert "nearest is together splitting none, alignment blocks with -1.50 %" in said(found)


def test_what_is_no_better_together_is_not_proposed_together() -> None:
    split, align = Recipe(HOT, dropped=("--split-functions",)), Recipe(HOT, ("--align-blocks",))
    price = {split: cost(960), align: cost(970)}
    tried = [Candidate("splitting", "none", split), Candidate("alignment", "blocks", align)]
    found = World(lambda one: price.get(one, cost(1000))).search(tried)
    assert "found: no --split-functions changes the misses by -4.00 %" in said(found)


def test_what_has_no_time_is_named() -> None:
    orders = {name: HOT[::-1] for name in ("cdsort", "hfsort", "by use")}
    found = World(level, steps=2).search(by_order(orders))
    assert [one.name for one in found.untried] == ["by use"]
    assert "no time for: order by use" in said(found)
    assert "the time was up" in said(found)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_an_interrupt_loses_nothing(steps: int) -> None:
    world = World(by_place(("free", "malloc", "calloc", "refill")), steps, interrupt=True)
    found = world.search(by_order({"reverse": HOT[::-1], "cdsort": HOT[::-1], "hfsort": HOT}))
    assert found.interrupted and "interrupted" in said(found)
    assert len(found.tried) == min(3, 2 * (steps - 1))
    assert len(found.exchanges) == (steps > 3)


def test_an_interrupt_before_the_first_count_is_not_held_up() -> None:
    with pytest.raises(KeyboardInterrupt):
        World(level, steps=0, interrupt=True).search()


def test_a_library_that_cannot_be_counted_ends_it() -> None:
    with pytest.raises(DataError, match="perl: ended with 1"):
        World(lambda _: "perl: ended with 1").search()


def test_progress_says_how_far_it_is() -> None:
    world = World(level)
    world.search(by_order({"cdsort": HOT[::-1], "hfsort": HOT[::-1], "first use": HOT}))
    assert world.said[1:3] == ["order cdsort, order hfsort (1 of 3)", "order first use (3 of 3)"]
    assert world.said[-1] == "exchange 3 of 3, best so far 1.0000"


def test_the_table_is_ranked_and_names_text() -> None:
    orders = by_order({"worse": HOT[::-1], "better": ("free", "malloc", "calloc", "refill")})
    found = World(by_place(("free", "malloc", "calloc", "refill"))).search(orders)
    names = [line.split("  ")[1] for line in table(found)]
    assert names == ["layout", "order better", "as it is", "order worse"]
    assert "1.0000  31.2 KiB in 10.0 pages" in said(found)


def test_words_say_who_judges() -> None:
    found = World(by_place(HOT[::-1])).search()
    assert "`.venv/bin/pipeline build --profile mine --variant hardened` makes" in said(
        found, "mine+hardened"
    )
    assert "its verify judges by others" in said(found)
    assert replace(found, exchanges=[]).order == (HOT, found.before)
