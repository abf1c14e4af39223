"""``reports/last``: the report of what the last build came to, be that new or a known version.

`pipeline report last`, `pipeline review` and CI go by it. So it moves also where a build stopped
because its version was known: else they would speak of a build that was before.
"""

from __future__ import annotations

import os

from pipeline.core.files import replacing
from pipeline.core.paths import Tree

LAST = "last"


def point_last(tree: Tree, line: str, version: str) -> None:
    """Make ``last`` point to the report of a version; to none, where no report of it is left."""
    reports = tree.reports(line)
    places = (reports / version, tree.dist(line) / version)
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        (reports / LAST).unlink(missing_ok=True)
        return
    reports.mkdir(parents=True, exist_ok=True)
    with replacing(reports / LAST) as fresh:
        fresh.symlink_to(os.path.relpath(found, reports))
