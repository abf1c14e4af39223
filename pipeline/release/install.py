"""Installing a published version below a prefix, and taking it away again.

Each file is written beside its place and renamed into it, the library last: a program that starts
meanwhile finds the old one or the new one, never half of it. ``share/hakmem/installed.json`` says
what was installed, ``share/hakmem-VARIANT/`` of what is not production. Only files that it lists,
and that are as they were, are replaced or removed. It also says what is about to be put there,
before that begins: so the next command goes on where one was killed. The debug file of the version
before stays, until the next installation or removal: programs that run keep the old library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from pipeline.core.files import replace_text
from pipeline.release.copying import digest_of, drop_empty_folders, put
from pipeline.release.install_plan import Plan
from pipeline.release.installed import Installed, Place
from pipeline.release.version import Version


def carry_out(
    plan: Plan, version: Version | None, tell: Callable[[str], object] = lambda _: None
) -> None:
    """Do what a plan says; ``version`` is what gets installed, None for a removal.

    ``tell`` hears of each step once it is done.
    """
    root = plan.place.root
    if version is not None:
        coming = {name: digest_of(path) for name, path in plan.write.items()}
        coming |= {name: digest_of(root / name) for name in plan.there}
        old = plan.place.installed()
        before = plan.before | (old.before if old else {})
        _note(plan.place, version, old.files if old else {}, coming=coming, before=before)
    for name in plan.in_order:
        put(plan.write[name], root / name)
        tell(f"install {root / name}")
    for name in plan.remove:
        (root / name).unlink(missing_ok=True)
        tell(f"remove {root / name}")
        drop_empty_folders((root / name).parent, root)
    if version is not None:
        _note(plan.place, version, coming, before=plan.before)


def _note(
    place: Place,
    version: Version,
    files: Mapping[str, str],
    *,
    coming: Mapping[str, str] | None = None,
    before: Mapping[str, str],
) -> None:
    record = Installed(
        version=version.name,
        prefix=str(place.prefix),
        files=dict(files),
        coming=dict(coming or {}),
        before=dict(before),
    )
    empty = {name for name in ("coming", "before") if not getattr(record, name)}
    text = json.dumps(record.model_dump(exclude=empty), indent=1, sort_keys=True)
    replace_text(place.root / place.record, f"{text}\n")
