"""A time on the command line."""

from __future__ import annotations

import re

import click

from pipeline.core.budget import LEAST_S, MOST_S

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(click.ParamType[float]):
    """A time such as 90s, 10m or 2h, in seconds."""

    name = "duration"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,  # noqa: ARG002  # click's signature
    ) -> float:
        """Return the seconds, or refuse with what is allowed."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
        if not LEAST_S <= seconds <= MOST_S:
            self.fail(f"{value!r} is not a time from 30s to 7 days, such as 90s, 10m or 2h", param)
        return seconds
