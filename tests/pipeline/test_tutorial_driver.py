"""The driver of docs/tutorial.md by itself: it ends, whatever its server does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from test_tutorial import commands, type_in


def test_the_driver_ends_with_its_server_and_where_that_does_not_start(tmp_path: Path) -> None:
    for block in commands():
        if block.startswith("cat > "):
            type_in(tmp_path, block)
    (tmp_path / "shop.py").unlink()
    done = subprocess.run(
        ["sh", "shop.sh", "shop.py", "ask.py", "5"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "shop.py" in done.stderr
