"""The table of constants in docs/geometry.md, made from allocator/base/constants.def.

``python -m pipeline.geometry.page`` prints it; a test holds the page against it.
"""

from __future__ import annotations

from pipeline.core.paths import Tree
from pipeline.geometry.model import Constant, Geometry
from pipeline.geometry.tables import default_geometry


def constants_table(default: Geometry) -> str:
    """Return the constants with defaults and ranges, as a Markdown table."""
    rows = ["| constant | default | range | meaning |", "| --- | ---: | --- | --- |"]
    return "\n".join([*rows, *map(_row, default.constants)]) + "\n"


def _row(one: Constant) -> str:
    return f"| `{one.name}` | {one.value} | {one.lowest} to {one.highest} | {one.help} |"


if __name__ == "__main__":
    print(constants_table(default_geometry(Tree.here())), end="")
