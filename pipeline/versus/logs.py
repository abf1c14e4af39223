"""A folder for logs that is gone in the end; what an error names of it is kept elsewhere."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.core.errors import PipelineError
from pipeline.core.paths import Tree


@contextmanager
def logs_of_errors(prefix: str) -> Iterator[Path]:
    """Yield a folder for logs, which does not stay. A log that an error names goes into the tree.

    It takes the place of the one that was kept before: nothing piles up.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    stays = False
    try:
        yield folder
    except PipelineError as error:
        if error.log is not None and error.log.is_relative_to(folder) and error.log.is_file():
            error.log = _kept(error.log, prefix)
            stays = error.log.is_relative_to(folder)
        raise
    finally:
        if not stays:
            shutil.rmtree(folder, ignore_errors=True)


def _kept(log: Path, prefix: str) -> Path:
    """Return a copy of the log below build/; the log itself where none can be written."""
    try:
        place = Tree.here().state / "errors" / f"{prefix}{log.name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, place)
    except (OSError, PipelineError):
        return log
    return place
