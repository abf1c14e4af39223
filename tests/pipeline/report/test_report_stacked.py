"""Cells of a table carry the heading of their column, for windows in which rows are stacked."""

from __future__ import annotations

from markupsafe import Markup

from pipeline.report.stacked import labelled

HEAD = (
    '<thead><tr><th>step</th><th class="n">speed<br><small>&amp; more</small></th>'
    "<th><svg><text>0</text></svg></th><th>by</th></tr></thead>"
)


def test_cells_after_the_first_are_labelled() -> None:
    row = '<tr><th scope="row">a</th><td class="n">1</td><td><svg></svg></td><td>b</td></tr>'
    assert labelled(Markup(f"{HEAD}<tbody>{row}</tbody>")) == (
        f'{HEAD}<tbody><tr><th scope="row">a</th><td class="n" data-label="speed &amp; more">1</td>'
        '<td><svg></svg></td><td data-label="by">b</td></tr></tbody>'
    )


def test_a_cell_of_two_columns_has_no_label_and_moves_the_next_one() -> None:
    row = '<tr><th>a</th><td colspan="2">b</td><td>c</td></tr>'
    said = labelled(Markup(HEAD + row))
    assert said.endswith('<td colspan="2">b</td><td data-label="by">c</td></tr>')


def test_what_has_no_headings_stays_as_it_is() -> None:
    assert labelled(Markup("<tr><td>a</td></tr>")) == "<tr><td>a</td></tr>"
