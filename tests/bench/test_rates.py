"""bench/verdict_rates: what is still to be judged, and what the table says of what was."""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.harness import rates
from bench.harness.court import Court
from bench.harness.judged import (
    BORDER,
    LONG,
    ONE_DOSE,
    RIGHT,
    SAME,
    SHUFFLED,
    SLOWED,
    Judged,
    keep,
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
    assert set(RIGHT) == {SAME, SLOWED, BORDER, ONE_DOSE, LONG, SHUFFLED}


def test_judgements_from_before_there_was_one_dose_are_read_still(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    keep(kept, judged(ONE_DOSE, 1, "NO-GO"))
    line = json.loads(kept.read_text("utf-8"))
    assert line.pop("rounds") is None
    kept.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert read(kept) == [judged(ONE_DOSE, 1, "NO-GO")]


def test_a_run_that_goes_on_keeps_its_dose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, opened = tmp_path / "kept.jsonl", []
    keep(kept, replace(judged(ONE_DOSE, 1, "NO-GO"), rounds=123))

    def open_court(*words: object) -> Court:
        opened.append(words[-1])
        return cast("Court", None)

    monkeypatch.setattr(rates, "open_court", open_court)
    none = ["--same", "0", "--slowdown", "0", "--one-dose", "1", "--long", "0", "--shuffled", "0"]
    done = CliRunner().invoke(main, [*none, "--json", str(kept)])
    assert (done.exit_code, opened) == (0, [123])


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
