"""Writing entries: a template for a new one, and a result below those that are there."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.core.files import replace_text
from pipeline.experiment.entry import Result

TITLE = "What is changed, in one phrase of at most 25 words"
HYPOTHESIS = "What you expect, and why."

_TEMPLATE = """\
# An entry of the ledger: docs/experiments.md says what each key means.
schema_version = 1
title = "{title}"
hypothesis = "{hypothesis}"

# What side B has otherwise; side A is the tree as it is. Take the # from what you need.
# Without this table the entry is a record: it only says what was found.
[trial]
# options = {{ HAKMEM_PURGE_DELAY = "100" }} # variables for the runs of side B
# constants = {{ deep_times = 4 }}       # constants of the geometry (docs/geometry.md)
# depths = {{ 64 = 512 }}                # the usual depth (2 to 1024) of size classes, or of `all`;
#                                       # from 288 bytes on it also bounds the greatest depth;
#                                       # it shows only where magazines of the class run full or
#                                       # empty: docs/research.md says how to count that
# cmake = {{ HAKMEM_SLOWDOWN = "ON" }}   # options for CMake
# patch = "{name}.patch"  # a patch beside this file: docs/experiments.md says how
# profile = "mixed"                     # verify workloads of this profile, or of yours, run;
# run = ["python3", "-c", "print(1)"]   # or instead a command, from the root of the tree,
# threads = 1                           # threads of that command, where you know them

# `pipeline experiment run {name}` adds a [[result]] each time.
"""


def write_template(path: Path) -> None:
    """Write a commented entry to edit."""
    replace_text(path, _TEMPLATE.format(name=path.stem, title=TITLE, hypothesis=HYPOTHESIS))


def add_result(path: Path, result: Result) -> None:
    """Write a result below all that the file says already."""
    before = path.read_text(encoding="utf-8").rstrip("\n")
    replace_text(path, f"{before}\n\n{render_result(result)}")


def render_result(result: Result) -> str:
    """Return a result as a table of TOML; what is empty is left out."""
    lines = [f"{key} = {text(value)}" for key, value in result.model_dump().items() if value]
    return "\n".join(["[[result]]", *lines]) + "\n"


def text(words: str) -> str:
    """Return a TOML string: JSON's escapes are TOML's, except that DEL must be escaped too."""
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")
