"""What an app of the suite is, and what came of running it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipeline.core.errors import UsageError
from pipeline.core.nested import parse

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=24)]
Result = Literal["ok", "failed", "skipped"]
# What an app may take with the guard variant, as a multiple of what it may take otherwise.
GUARD_SLOWER, GUARD_LARGER = 3.0, 2.0


class App(BaseModel):
    """One entry of ``tests/apps/suite/apps.toml``: a script, and what it needs.

    ``needs`` maps a program (``a|b``: one of them; ``/a/*/b``: a file) to the Debian package that
    has it.
    ``serves`` names the executables in which the library must have been seen. ``limit_s`` is for
    one run, in seconds; ``memory_mib`` for the largest process of the preloaded run. ``guard_env``
    is added to ``env`` with the guard variant: for what misuses memory itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    what: str
    script: Annotated[str, Field(pattern=r"^[a-z0-9_]+\.sh$")]
    needs: dict[str, str]
    serves: tuple[str, ...] = Field(min_length=1)
    limit_s: Annotated[float, Field(gt=0, le=600)]
    memory_mib: Annotated[float, Field(gt=0)]
    env: dict[str, str] = {}
    guard_env: dict[str, str] = {}

    def for_guard(self) -> App:
        """Return the app as it runs with the guard, which is slower and keeps memory back."""
        return self.model_copy(
            update={
                "limit_s": self.limit_s * GUARD_SLOWER,
                "memory_mib": self.memory_mib * GUARD_LARGER,
                "env": {**self.env, **self.guard_env},
            }
        )


@dataclass(frozen=True)
class Run:
    """One run of an app: seconds, and peak RSS in KiB by executable."""

    seconds: float
    peaks: dict[str, int]

    @property
    def peak_mib(self) -> float:
        """Peak RSS of the largest process."""
        return max(self.peaks.values(), default=0) / 1024


@dataclass(frozen=True)
class Outcome:
    """What came of an app; ``why`` says what failed, or why it was skipped."""

    app: str
    result: Result
    why: str = ""
    plain: Run | None = None
    preloaded: Run | None = None


def load_apps(folder: Path) -> list[App]:
    """Return the apps of ``folder``/apps.toml in order; UsageError if they are not valid."""
    path = folder / "apps.toml"
    try:
        table = parse(tomllib.loads, path.read_text(encoding="utf-8"))
        apps = [App.model_validate(entry) for entry in table["app"]]
    except (ValueError, KeyError) as error:
        raise UsageError(f"{path}: {error}") from error
    return apps


def choose(apps: list[App], names: tuple[str, ...]) -> list[App]:
    """Return the apps with these names, all without names; UsageError for a name nobody has."""
    known = [app.name for app in apps]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no app {name!r}", hint=f"one of: {', '.join(known)}")
    return [app for app in apps if not names or app.name in names]
