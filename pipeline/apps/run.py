"""Runs one app: set up, plain, preloaded, compared."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.apps.model import App, Outcome, Run
from pipeline.apps.packages import PLACES
from pipeline.apps.watch import Watch
from pipeline.core.errors import ChildFailed, ChildTimeout, PipelineError
from pipeline.core.paths import from_here
from pipeline.core.preload import preload
from pipeline.core.process import Completed, run

SETUP_LIMIT_S = 300.0
# How many lines of a difference stand in the message; all of them are in the logs.
SHOWN = 6
# What the library, or the dynamic linker about it, says when something is wrong.
COMPLAINTS = ("hakmem: ", "cannot be preloaded")


class AppFailed(Exception):
    """An app did not do what it should; the message says what."""


@dataclass(frozen=True)
class Place:
    """Where an app is run: its scripts, its private folder, the logs; the library, its options."""

    scripts: Path
    folder: Path
    library: Path
    logs: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def environment(self, app: App, home: Path) -> dict[str, str]:
        """Return what scripts find in their environment."""
        temporary = home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            "PATH": PLACES,
            "APPS": str(self.scripts),
            "SOURCE": str(self.scripts.parents[2]),
            "SETUP": str(self.folder / "setup"),
            "TMPDIR": str(temporary),
            **app.env,
        }


def run_app(app: App, place: Place, say: Callable[[str], None]) -> Outcome:
    """Run ``app`` in its folder and compare; the folder is left to the caller."""
    plain = preloaded = None
    try:
        say("setting up")
        _set_up(app, place)
        say("plain")
        plain, output = _measured(app, place, "plain", {})
        say("preloaded")
        settings = {**place.settings, **preload(place.library)}
        preloaded, output_again = _measured(app, place, "preloaded", settings)
        _compare(output, output_again)
        _check_memory(app, preloaded)
    except AppFailed as error:
        return Outcome(app.name, "failed", str(error), plain, preloaded)
    return Outcome(app.name, "ok", "", plain, preloaded)


def _set_up(app: App, place: Place) -> None:
    """Let the script build its programs, once, with the user's own home and without a preload."""
    folder = place.folder / "setup"
    _script(app, place, "setup", folder, place.environment(app, folder), SETUP_LIMIT_S)


def _measured(app: App, place: Place, name: str, extra: dict[str, str]) -> tuple[Run, Completed]:
    """Run the script once in a fresh folder, watched; raise AppFailed for whatever is wrong."""
    folder = place.folder / name
    env = place.environment(app, folder) | {"HOME": str(folder)} | extra
    with Watch(place.library) as watch:
        done = _script(app, place, name, folder, env, app.limit_s)
    _check_complaints(folder, done)
    _check_loaded(app, watch, preloaded=bool(extra))
    shutil.rmtree(folder, ignore_errors=True)
    return Run(done.seconds, watch.peaks()), done


def _script(
    app: App, place: Place, name: str, folder: Path, env: dict[str, str], limit_s: float
) -> Completed:
    folder.mkdir(parents=True, exist_ok=True)
    action = "setup" if name == "setup" else "run"
    log = place.logs / f"{app.name}-{name}.log"
    try:
        return run(
            ["bash", place.scripts / app.script, action],
            env=env,
            cwd=folder,
            timeout_s=limit_s,
            log=log,
        )
    except (ChildFailed, ChildTimeout) as error:
        raise AppFailed(f"{name}: {error.message} (log: {from_here(log)})") from error
    except PipelineError as error:
        raise AppFailed(f"{name}: {error.message}") from error


def _check_complaints(folder: Path, done: Completed) -> None:
    """Look for a word of the library, or of the dynamic linker about it, in stderr and logs."""
    texts = [done.stderr, *(_text(path) for path in sorted(folder.rglob("*.log")))]
    for line in "\n".join(texts).splitlines():
        if any(words in line for words in COMPLAINTS):
            raise AppFailed(f"it complained: {line.strip()}")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _check_loaded(app: App, watch: Watch, *, preloaded: bool) -> None:
    """Refuse a run that only seems preloaded, and a plain one that is: they prove nothing."""
    served = watch.with_library()
    if not preloaded:
        if served:
            raise AppFailed(f"the plain run had the library in {', '.join(sorted(served))}")
        return
    for name in app.serves:
        if name not in served:
            raise AppFailed(f"the library was never seen in {name}")
        if name in watch.without_library():
            raise AppFailed(f"a process of {name} ran without the library")


def _compare(plain: Completed, preloaded: Completed) -> None:
    if not plain.stdout.strip():
        raise AppFailed("the plain run printed nothing to compare")
    if plain.stdout != preloaded.stdout:
        lines = difflib.unified_diff(
            plain.stdout.splitlines(), preloaded.stdout.splitlines(), n=0, lineterm=""
        )
        shown = [line for line in lines if not line.startswith(("---", "+++", "@@"))][:SHOWN]
        raise AppFailed("the outputs differ: " + " | ".join(shown))


def _check_memory(app: App, preloaded: Run) -> None:
    if preloaded.peak_mib > app.memory_mib:
        raise AppFailed(
            f"its largest process grew to {preloaded.peak_mib:.0f} MiB, the limit is"
            f" {app.memory_mib:.0f}"
        )
