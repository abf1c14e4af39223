"""bench/verdict_rates: what is still to be judged, and what the table says of what was."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.harness.judged import (
    BORDER,
    RIGHT,
    SAME,
    SHUFFLED,
    SLOWED,
    Judged,
    missing,
    read,
    table_of,
)
from bench.harness.rates import main
from bench.harness.shuffle import mixed


def judged(kind: str, seed: int, verdict: str, right: bool = True) -> Judged:
    return Judged(kind, seed, verdict, right, 0.98, 0.97, 0.99, 300, 20.0, 3.5)


def test_kinds_take_turns_and_what_is_there_is_not_made_again() -> None:
    wanted = {SAME: 4, SLOWED: 2, SHUFFLED: 0}
    everything = missing(wanted, [])
    assert len(everything) == 6
    assert [kind for kind, _ in everything[:3]].count(SAME) == 2
    left = missing(wanted, [judged(SAME, 1, "NEUTRAL"), judged(SLOWED, 2, "NO-GO")])
    assert sorted(left) == [(SLOWED, 1), (SAME, 2), (SAME, 3), (SAME, 4)]


def test_the_table_counts_what_was_right() -> None:
    rows = [judged(SLOWED, 1, "NO-GO"), judged(SLOWED, 2, "INCONCLUSIVE", right=False)]
    console = Console(width=170, record=True, quiet=False)
    console.print(table_of(rows))
    line = next(line for line in console.export_text().splitlines() if SLOWED in line)
    assert "1 of 2" in line
    assert "-2.00 %" in line
    assert set(RIGHT) == {SAME, SLOWED, BORDER, SHUFFLED}


def test_a_file_that_is_not_there_has_no_judgements(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == []


def test_an_unknown_profile_is_an_error_in_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--profile", "nosuch", "--json", str(tmp_path / "x.jsonl")])
    assert done.exit_code == 1
    assert "unknown profile 'nosuch'" in done.output


@pytest.mark.parametrize("seed", range(1, 21))
def test_a_shuffled_layout_has_cold_code_between_any_two_hot_functions(seed: int) -> None:
    sizes = {f"hot{n}": 100 + n for n in range(50)} | {f"cold{n}": 10 * n + 1 for n in range(200)}
    order = mixed(sizes, {"gone", *(name for name in sizes if name.startswith("hot"))}, seed)
    assert sorted(order) == sorted(sizes)
    gaps = [0]
    for name in order:
        gaps = [*gaps, 0] if name.startswith("hot") else [*gaps[:-1], gaps[-1] + sizes[name]]
    assert min(gaps[1:]) > 0.5 * max(gaps[1:])
    assert order == mixed(sizes, {name for name in sizes if name.startswith("hot")}, seed)


def test_seeds_differ() -> None:
    sizes = {f"f{n}": 64 for n in range(40)}
    hot = {f"f{n}" for n in range(20)}
    assert len({tuple(mixed(sizes, hot, seed)) for seed in range(20)}) == 20
