"""How a build was asked for, and what makes or judges it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pipeline.core.variant import asked_for, line_of
from pipeline.judge.build_again import kept
from pipeline.report import text
from pipeline.report.model import ReportModel

FEW_FILES = 6


def asked_words(model: ReportModel) -> list[str]:
    """Return the words of the command that made the build."""
    return shlex.split((model.source and model.source.command) or "")


def commands(model: ReportModel) -> list[str]:
    """Return the shell lines that make the same build, from a clone on."""
    source = model.source
    if source is None:
        return [f"./bootstrap build --profile {model.profile}"]
    lines = []
    if source.commit:
        changed = "" if source.clean else f"   # and what was not committed{_files(source.changed)}"
        lines.append(f"git checkout {source.commit}{changed}")
    return [*lines, *([source.command] if source.command else [])]


def judged_again(model: ReportModel) -> str:
    """Return the shell line that judges the same build again, in the tree."""
    quick = ["--quick"] if model.verify.mode == "quick" else []
    asked = kept(asked_words(model), "--cpu", "--verify-time")
    words = [asked_for(line_of(model.profile, model.variant)), *asked, *quick]
    return f".venv/bin/pipeline build --profile {' '.join(words)} --from verify"


def _files(changed: Sequence[str]) -> str:
    return f": {text.first_of(changed, FEW_FILES)}" if changed else ""
