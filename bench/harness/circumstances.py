"""The machine that a comparison runs on: what it is, and its setting of huge pages."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pipeline.core.huge_pages import FOLDER, chosen
from pipeline.core.processor import machine
from pipeline.judge.model import BUSY

_HUGE_PAGES = FOLDER / "enabled"


def describe_machine() -> dict[str, object]:
    """Return when and where this is, and how busy it is there."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": machine().described,
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "transparent huge pages": chosen(_HUGE_PAGES) or "unknown",
        "load before": os.getloadavg()[0],
    }


def describe_environment(repetitions: int, scale: float) -> dict[str, object]:
    """Return what a reader must know to judge the numbers."""
    return {**describe_machine(), "repetitions": repetitions, "scale": scale}


def is_busy(load: float, processors: int) -> bool:
    """Return whether other programs took much of the machine."""
    return load > BUSY * processors


def busy_note(before: float) -> str:
    """Return what to know of figures that a busy machine gave; "" where it was quiet.

    ``before`` is the load when they were begun.
    """
    load, processors = max(before, os.getloadavg()[0]), os.cpu_count() or 1
    if not is_busy(load, processors):
        return ""
    return (
        f"note: the machine was busy (load {load:.0f} on {processors} CPUs): repeat it when the "
        "machine is quiet"
    )


def today() -> tuple[str, str]:
    """Return the day (UTC) and the name of this kind of processor, as they stand in file names."""
    return datetime.datetime.now(datetime.UTC).date().isoformat(), machine().name


@contextmanager
def huge_pages(setting: str | None) -> Iterator[None]:
    """Set transparent huge pages for the whole system while this lasts; needs root."""
    if setting is None:
        yield
        return
    before = chosen(_HUGE_PAGES) or "unknown"
    try:
        _HUGE_PAGES.write_text(setting, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"--thp needs root: {_HUGE_PAGES}: {error.strerror}") from None
    try:
        yield
    finally:
        _HUGE_PAGES.write_text(before, encoding="utf-8")
