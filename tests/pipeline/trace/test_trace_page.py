"""What a trace's HTML page draws: labels stay within the drawing, and rows say something."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.trace.html import (
    HEIGHT,
    LABEL_STEP,
    WIDTH,
    Bar,
    histogram,
    live_plot,
    size_rows,
    without_gaps,
)
from pipeline.trace.statistics import Bin, Point

LETTER, SLOPE = 8, 0.77
"""A wide letter of a narrow screen's labels, and how far down a letter's width goes there."""


@pytest.mark.parametrize("count", [1, 12, 22, 40])
def test_labels_hang_within_the_drawing_and_apart(count: int) -> None:
    bars = [Bar(f"{1 << place:,}"[:9], 0.5, "") for place in range(count)]
    drawn = histogram(bars)
    labels = re.findall(r'class="axis" x="([\d.]+)" y="(\d+)"[^>]*>([^<]+)', drawn)
    places = [float(x) for x, _, _ in labels]
    assert drawn.count("<rect") == count
    assert max(places) <= WIDTH
    assert all(int(y) + LETTER * SLOPE * len(words) <= HEIGHT for _, y, words in labels)
    gaps = [after - before for before, after in itertools.pairwise(places)]
    assert min(gaps, default=LABEL_STEP) >= LABEL_STEP - 0.2


def test_sizes_without_a_share_have_no_row() -> None:
    rare, big, usual = Bin(8, 1, 8), Bin(1 << 20, 1, 1 << 20), Bin(64, 1_000_000, 48_000_000)
    found: Any = SimpleNamespace(sizes=(rare, usual, big))
    assert size_rows(found) == ([usual, big], [rare])


def test_sizes_that_nobody_asks_for_keep_their_place_between_others() -> None:
    found = without_gaps((Bin(65_536, 2, 9), Bin(524_288, 1, 8)))
    assert [(one.top, one.count) for one in found] == [
        (65_536, 2), (131_072, 0), (262_144, 0), (524_288, 1)
    ]  # fmt: skip
    assert without_gaps(()) == []


def test_memory_of_an_idle_program_stays_level_until_the_next_sample() -> None:
    timeline = (Point(0, 100, 1), Point(9, 200, 2), Point(10, 50, 1))
    found: Any = SimpleNamespace(timeline=timeline, peak_bytes=200)
    (drawn,) = re.findall(r'polygon points="([^"]+)"', live_plot(found))
    corners = [tuple(map(float, one.split(","))) for one in drawn.split()]
    assert len(corners) == 2 + 2 * len(timeline)
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(corners))
