"""Artifacts of a build as any tree has them: a report is read where the build was not made."""

from __future__ import annotations

import shlex

from pipeline.report.model import ReportModel

ARTIFACTS = "build/pipeline/"
"""Where the artifacts of a build lie in a tree."""


def example_lines(model: ReportModel) -> list[str]:
    """Return the shell lines that repeat one timed run of the worst loop with this very build.

    They are for the tree that the build was made in: elsewhere artifacts have other keys.
    """
    workloads = model.verify.throughput.workloads
    loops = [one for one in workloads if one.kind == "loop"]
    worst = min(loops or workloads, key=lambda one: one.ratio.value)
    words = [f"{name}={shlex.quote(value)}" for name, value in worst.env.items()]
    words.append(f"LD_PRELOAD={shlex.quote(in_tree(model.verify.tuned.path))}")
    return [f"{' '.join(words)} \\", f"  {shlex.join(map(in_tree, worst.argv))}"]


def in_tree(word: str) -> str:
    """Return the path of an artifact as seen from the root of any tree; other words unchanged."""
    _, found, rest = word.rpartition(f"/{ARTIFACTS}")
    return f"{ARTIFACTS}{rest}" if found else word
