"""Artifacts of a build as any tree has them: a report is read where the build was not made."""

from __future__ import annotations

import shlex

from pipeline.report.model import ReportModel

ARTIFACTS = "build/pipeline/"
"""Where the artifacts of a build lie in a tree."""


def example_line(model: ReportModel) -> str:
    """Return the shell line that repeats one timed run of the worst loop, in any tree."""
    workloads = model.verify.throughput.workloads
    loops = [one for one in workloads if one.kind == "loop"]
    worst = min(loops or workloads, key=lambda one: one.ratio.value)
    words = [f"{name}={shlex.quote(value)}" for name, value in worst.env.items()]
    words.append(f"LD_PRELOAD={_newest(model.verify.tuned.path)}")
    return " ".join([*words, *map(_newest, worst.argv)])


def _newest(word: str) -> str:
    """Return a word for a shell; of an artifact the one made last: its key is another elsewhere."""
    path = in_tree(word)
    if not path.startswith(ARTIFACTS):
        return shlex.quote(word)
    profile, stage, _key, *rest = path.removeprefix(ARTIFACTS).split("/")
    return f"$(ls -t {ARTIFACTS}{profile}/{stage}/*/{shlex.quote('/'.join(rest))} | head -1)"


def in_tree(word: str) -> str:
    """Return the path of an artifact as seen from the root of any tree; other words unchanged."""
    _, found, rest = word.rpartition(f"/{ARTIFACTS}")
    return f"{ARTIFACTS}{rest}" if found else word
