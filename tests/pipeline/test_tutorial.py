"""docs/tutorial.md, typed as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import ROOT, Sandbox

from pipeline.core.exit_codes import ExitCode

pytestmark = pytest.mark.e2e


def commands() -> list[str]:
    """Return the indented blocks of the tutorial, each a piece of shell."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    return [textwrap.dedent(block).strip("\n") + "\n" for block in blocks]


def type_in(folder: Path, block: str) -> subprocess.CompletedProcess[str]:
    """Run a block in a shell of its own, as a reader would; `versus` may find B worse."""
    done = subprocess.run(
        ["bash", "-e", "-c", block],
        cwd=folder,
        env={**os.environ, "PATH": f"/usr/bin:/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    codes = (0, ExitCode.REGRESSION) if "pipeline versus" in block else (0,)
    assert done.returncode in codes, f"{block}\n{done.stdout}\n{done.stderr}"
    return done


def test_every_command_works(fresh: Sandbox) -> None:
    for name, module in (("pipeline", "pipeline"), ("hakmem", "operate")):
        program = fresh.root / ".venv" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    typed = [block for block in commands() if not block.startswith("./bootstrap")]
    outputs = {block: type_in(fresh.root, block).stdout for block in typed}
    assert len(outputs) == 12
    plain = type_in(fresh.root, "sh shop.sh ./shop ask.py 20000").stdout
    tuned = next(text for block, text in outputs.items() if block.startswith("LD_PRELOAD"))
    assert plain == tuned != ""
    held = next(text for block, text in outputs.items() if block.startswith("HAKMEM_STATS_SOCKET"))
    assert "malloc is hakmem's  yes" in held and "profile shop" in held and "live share" in held
    assert (fresh.root / "shop.html").is_file()
    assert (fresh.root / "installed" / "lib" / "libhakmem.so").exists()
