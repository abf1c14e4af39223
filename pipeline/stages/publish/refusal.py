"""A build of what somebody has rejected is refused, and before it is judged where that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.core.errors import GateError
from pipeline.release.current import untouched
from pipeline.release.last import point_last
from pipeline.release.marks import Mark, read_marks
from pipeline.release.published import published
from pipeline.release.version import Version
from pipeline.stages.publish.product import inputs_of

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry
    from pipeline.stages.build.workshop import Workshop


def refuse_rejected_inputs(shop: Workshop, geometry: Geometry | None) -> None:
    """Raise GateError if a build of the same inputs was rejected: what follows would be in vain.

    To be called when the training is done. Not where a rejected version is damaged: the build goes
    on, to mend it.
    """
    dist = shop.tree.dist(shop.line)
    marks = read_marks(dist)
    named = [Version(dist / one.version) for one in marks.rejected]
    same = [one for one in published(dist) if marks.rejection(one)]
    if any(one.folder.is_dir() and one.damage() for one in (*named, *same)):
        return
    refuse_rejected(shop, "", inputs_of(shop, geometry))


def refuse_rejected(shop: Workshop, digest: str, inputs: str) -> None:
    """Raise GateError if a library with that digest, or one of the same inputs, was rejected.

    `report last` and reviews are then about the version that was.
    """
    dist = shop.tree.dist(shop.line)
    found = known_by(read_marks(dist).rejected, digest, inputs)
    if found is not None:
        point_last(shop.tree, shop.line, found.version)
        left = untouched(dist)
        raise GateError(
            f"{found.version} was rejected ({found.reason}), and this is built of the same; {left}",
            hint="change sources, flags, training, lists or geometry; or take that back: "
            f"`.venv/bin/pipeline reject -p {dist.name} {found.version} --undo`",
        )


def known_by(marks: Sequence[Mark], digest: str, inputs: str) -> Mark | None:
    """Return the mark that means a build."""
    return next((one for one in marks if one.means(digest, inputs)), None)
