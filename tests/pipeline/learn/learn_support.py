"""Recorded statistics: two real Python programs (`PYTHONMALLOC=malloc`), six samples of each."""

from __future__ import annotations

from pathlib import Path

from pipeline.learn.samples import Sample, read_samples

RECORDED = Path(__file__).parent / "recorded"
GROWING, EMPTYING = RECORDED / "python-growing.jsonl", RECORDED / "python-emptying.jsonl"


def recorded() -> list[Sample]:
    """Return all samples: one program replaces a third of its blocks, one frees all of them."""
    return read_samples([GROWING, EMPTYING])
