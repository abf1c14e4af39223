"""Wall time, which a user waits, beside the CPU time that judges: its figures, and its doubts."""

from __future__ import annotations

import pytest
from judge_support import pairs, result_of, throughput_of, waiting

from pipeline.judge.headline import headline
from pipeline.judge.samples import PairSample
from pipeline.report.build import Inputs, report_model
from pipeline.report.findings import findings
from pipeline.report.html import render_html
from pipeline.report.markdown import render_markdown
from pipeline.report.summary import summary_rows
from pipeline.report.terminal import as_text

SURE = "git: another way by wall time than by CPU time"
ALONE = "git: slower by wall time alone"
WHOLE = "real programs together: another way by wall time than by CPU time"


def doubts(*programs: str, **samples: list[PairSample]) -> list[str]:
    found = findings(result_of(throughput_of(programs, **samples)), None, None)
    return [one.what for one in found if "wall time" in one.what]


def test_programs_have_a_rate_and_an_interval_by_wall_time() -> None:
    git = waiting(pairs(1.03), wall=0.98)
    result = result_of(throughput_of(("git",), loop=pairs(1.0), git=git))
    wall = result.throughput.programs_wall
    assert wall is not None and wall.low < wall.value < wall.high
    assert wall.value == pytest.approx(1.03 * 0.98)
    row = next(row for row in summary_rows(result) if row.name == "the same by wall time")
    assert (row.ratio, row.interval) == (wall.value, wall)
    assert " by CPU time, +0.94 % [" in headline(result)


def test_every_form_of_the_report_has_the_interval_of_wall_time() -> None:
    found = throughput_of(("git",), loop=pairs(1.0), git=waiting(pairs(1.03), wall=0.98))
    model = report_model(
        profile="mixed",
        version="1",
        result=result_of(found),
        allow_neutral=False,
        inputs=Inputs(receipts={}),
    )
    assert "by wall time: git +0.94 % [+0.74 %, +1.14 %]\n" in as_text(model)
    assert "| +0.94 % [+0.74 %, +1.14 %] |" in render_markdown(model)
    assert "<small>[+0.74 %, +1.14 %]</small>" in render_html(model).replace(
        "\N{NO-BREAK SPACE}", " "
    )


@pytest.mark.parametrize(
    ("cpu", "wall", "threads", "found"),
    [
        (pairs(1.03), 0.95, 2, [SURE]),
        (pairs(0.97), 1.05, 2, [SURE]),
        (pairs(0.999, noise=4), 0.94, 2, [ALONE]),  # both lose, by wall time too much
        (pairs(1.001, noise=60), 0.94, 2, []),  # too wide an interval to show anything
        (pairs(1.03), 0.98, 2, []),  # less of a gain is still one
        (pairs(1.0005), 0.999, 2, []),  # other signs, but within the intervals
        (pairs(0.93), 1.0, 2, []),  # a loss by both is in the verdict
        (pairs(1.03), 0.95, 1, []),  # a single thread waits for other programs alone
    ],
)
def test_wall_time_that_goes_another_way_is_worth_a_look(
    cpu: list[PairSample], wall: float, threads: int, found: list[str]
) -> None:
    assert doubts("git", loop=pairs(1.0), git=waiting(cpu, wall, threads)) == found


def test_several_programs_are_looked_at_together_too() -> None:
    both = {name: waiting(pairs(1.03), wall=0.95) for name in ("git", "gcc")}
    assert doubts("git", "gcc", **both) == [SURE, SURE.replace("git", "gcc"), WHOLE]


def test_where_no_program_was_timed_there_is_no_wall_time_of_programs() -> None:
    result = result_of(throughput_of(loop=waiting(pairs(1.0), wall=0.9)))
    assert result.throughput.programs_wall is None
    assert "wall" not in headline(result)
