"""bash completes words that it cuts in pieces, at a colon or an equals sign."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIPELINE = Path(sys.executable).with_name("pipeline")
# What readline does: it cuts the line at COMP_WORDBREAKS, and puts a reply in place of the last
# piece.
ASK = """\
eval "$(_PIPELINE_COMPLETE=bash_source {pipeline})"
COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({pieces}) COMP_CWORD={last}
_pipeline_completion {pipeline}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def replies(*pieces: str, line: str) -> list[str]:
    """Return what bash offers for the last of the pieces."""
    script = ASK.format(
        pipeline=PIPELINE,
        line=line,
        pieces=" ".join(f"'{one}'" for one in pieces),
        last=len(pieces) - 1,
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("pieces", "line", "offered"),
    [
        (("pipeline", "build", "--profile", "mi"), "pipeline build --profile mi", "mixed"),
        (("pipeline", "build", "--profile", "=", "mi"), "pipeline build --profile=mi", "mixed"),
        (("pipeline", "build", "--profile", "="), "pipeline build --profile=", "mixed"),
        (("pipeline", "versus", "libc", "mi"), "pipeline versus libc mi", "mixed:current"),
        (("pipeline", "versus", "mixed", ":"), "pipeline versus mixed:", "current"),
        (("pipeline", "versus", "mixed", ":", "cu"), "pipeline versus mixed:cu", "current"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_word_with_a_colon_or_an_equals_sign_is_completed(
    pieces: tuple[str, ...], line: str, offered: str
) -> None:
    assert offered in replies(*pieces, line=line)
