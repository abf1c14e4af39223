"""bench/verdict_rates --recorded: whole judgements by pairs that one judgement has recorded."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from judge_support import pairs, result_of, throughput_of

from bench.harness.drawn import Drawn, open_drawing, seconds, without_change
from bench.harness.judged import BORDER, SAME, SLOWED, read
from bench.harness.rates import main
from pipeline.judge.samples import PairSample
from pipeline.judge.schedule import plan


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A judgement that found one workload faster and one slower: neither may come through."""
    throughput = throughput_of(
        ["whole"], whole=pairs(1.3, 40, noise=4), small=pairs(0.8, 40, noise=8)
    )
    file = tmp_path / "verdict.json"
    file.write_text(result_of(throughput).model_dump_json(), encoding="utf-8")
    return file


def ratio(samples: list[PairSample]) -> float:
    rates = [one.tuned.ops_per_sec / one.baseline.ops_per_sec for one in samples]
    return float(np.median(rates))


@pytest.mark.parametrize("found", [0.7, 1.0, 1.6])
def test_pairs_without_change_say_that_both_sides_are_equal(found: float) -> None:
    assert ratio(without_change(pairs(found, 30))) == pytest.approx(1.0)


def test_what_is_drawn_has_the_loss_that_is_asked_for(recorded: Path) -> None:
    drawing = open_drawing(recorded, 5.0)
    runs = Drawn(drawing, 1 / 1.02, seed=1)
    bench = drawing.benches[0]
    drawn = [one for block in plan({bench.name: range(400)}, 1) for one in runs.block(bench, block)]
    assert ratio(drawn) == pytest.approx(1 / 1.02, rel=0.003)
    assert runs.clock() == pytest.approx(
        sum(seconds(bench, one) for one in drawn) * drawing.overhead, rel=0.02
    )


def test_all_three_kinds_are_judged_and_kept(recorded: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    asked = ["--recorded", str(recorded), "--json", str(lines), "--seconds", "30"]
    done = CliRunner().invoke(main, [*asked, "--same", "2", "--slowdown", "2", "--border", "1"])
    assert done.exit_code == 0, done.output
    kinds = {one.kind: one for one in read(lines)}
    assert set(kinds) == {SAME, SLOWED, BORDER}
    assert kinds[SAME].verdict == "NEUTRAL"
    assert kinds[SLOWED].verdict == "NO-GO"
    assert kinds[BORDER].right
    assert "2 of 2" in done.output


def test_a_file_that_is_no_verdict_is_an_error_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text("{}", encoding="utf-8")
    done = CliRunner().invoke(main, ["--recorded", str(file)])
    assert done.exit_code == 1
    assert "is no verdict" in done.output
    assert "verify/KEY/verdict.json" in done.output


def test_a_file_that_is_not_there_is_an_error_in_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--recorded", str(tmp_path / "none.json")])
    assert done.exit_code == 1
    assert "cannot read" in done.output
