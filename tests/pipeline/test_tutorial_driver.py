"""The driver of docs/tutorial.md by itself: it ends, whatever its server does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from test_tutorial import commands, type_in

LIMIT_S = 60.0


def drive_without(folder: Path, gone: str) -> subprocess.CompletedProcess[str]:
    """Type the tutorial's files, remove one of them, and run the driver."""
    for block in commands():
        if block.startswith("cat > "):
            type_in(folder, block)
    (folder / gone).unlink()
    return subprocess.run(
        ["sh", "shop.sh", "./shop", "ask.py", "5"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,  # until the last process that has it has ended, a server too
        text=True,
        timeout=LIMIT_S,
    )


@pytest.mark.parametrize("gone", ["shop", "ask.py"])
def test_the_driver_fails_where_its_server_or_its_client_does(tmp_path: Path, gone: str) -> None:
    done = drive_without(tmp_path, gone)
    assert done.returncode == 1, done.stderr
    assert gone in done.stderr
    assert not list(tmp_path.glob("tmp.*"))  # the file of its port is gone, too
