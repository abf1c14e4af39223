"""Both sides of a trial: the tree as it is, and the tree with the one change."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.closure import closure_digest
from pipeline.core.digest import digest_file, digest_tree
from pipeline.core.errors import BuildError, ChildError, UsageError
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.core.receipt import Notes
from pipeline.experiment.entry import Entry, Trial
from pipeline.experiment.write import HYPOTHESIS, TITLE
from pipeline.geometry.load import changed_geometry
from pipeline.geometry.tables import default_geometry
from pipeline.stages.build.compile import LIBRARY, build_plain, library_sources
from pipeline.stages.build.workshop import Workshop
from pipeline.toolchain.flags import COMPILE, LINK, spelled
from pipeline.versus.side import SideOfTwo, understood

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry

STAGE = "experiment"
BEFORE, AFTER = "as it is", "with the change"
PATCH_LIMIT_S = 60.0


def require_trial(entry: Entry) -> Trial:
    """Return what the entry changes; UsageError if it changes nothing that can be run."""
    trial = entry.content.trial
    if trial is None:
        raise UsageError(
            f"{entry.name} is a record of an old trial and cannot be run",
            hint="`.venv/bin/pipeline experiment new` makes an entry that can",
        )
    if not (trial.compiles or trial.options):
        raise UsageError(
            f"{entry.path}: the trial changes nothing",
            hint="give it options, constants, depths, cmake or a patch",
        )
    if entry.content.title == TITLE or entry.content.hypothesis == HYPOTHESIS:
        raise UsageError(
            f"{entry.path}: title and hypothesis are the template's",
            hint="say in both what you change and what you expect: they go into the index",
        )
    return trial


def build_sides(shop: Workshop, entry: Entry) -> tuple[SideOfTwo, SideOfTwo]:
    """Return both sides, compiled plainly; BuildError with the log if a compiler refuses.

    A side that was compiled before is taken from the store.
    """
    trial = require_trial(entry)
    source = _patched(shop, entry, trial) if trial.patch else shop
    geometry = geometry_of(source.tree, entry)  # before the minute of compiling: it may be refused
    library = _compiled(shop, shop)
    changed = _compiled(shop, source, geometry, trial.cmake) if trial.compiles else library
    if not trial.options and digest_file(changed) == digest_file(library):
        raise UsageError(
            f"{entry.path}: both sides are the same library, byte for byte",
            hint="the trial gives what is the default already: give another value",
        )
    after = SideOfTwo(_named(AFTER, shop, changed), changed, trial.options)
    return SideOfTwo(_named(BEFORE, shop, library), library, {}), understood(after)


def _named(what: str, shop: Workshop, library: Path) -> str:
    """Return a name that ends with the path: `versus` takes that, on a program of yours too."""
    return f"{what}, {library.relative_to(shop.tree.root)}"


def geometry_of(tree: Tree, entry: Entry) -> Geometry | None:
    """Return how side B is cut; None: as the default.

    ProfileError if there is no such class, UsageError if side B would be cut as the default is.
    """
    trial = require_trial(entry)
    if not (trial.constants or trial.depths):
        return None
    default, why = default_geometry(tree), entry.content.title
    changed = changed_geometry(default, entry.path, trial.constants, trial.depths, why)
    if changed.digest == default.digest and not (trial.options or trial.cmake or trial.patch):
        raise UsageError(
            f"{entry.path}: depths and constants have the values that are the default already",
            hint="allocator/base/classes.def and constants.def have the defaults: "
            "give another value",
        )
    return changed


def _compiled(
    shop: Workshop,
    source: Workshop,
    geometry: Geometry | None = None,
    options: Mapping[str, str] | None = None,
) -> Path:
    """Return the library of the sources of ``source``, out of the store of ``shop``."""
    parts = {
        "sources": digest_tree(source.tree.root, library_sources(source)),
        "geometry": geometry and geometry.model_dump(mode="json"),
        "options": dict(options or {}),
        "flags": spelled(COMPILE, LINK),
        "tools": shop.tool_keys,
        "recipe": closure_digest(build_plain.__module__),
    }

    def work(room: Path) -> Notes:
        build_plain(source, STAGE, room, geometry, options=options)
        return {}

    made = shop.store.find(STAGE, parts) or shop.store.make(STAGE, parts, work)
    return made.path(LIBRARY)


def _patched(shop: Workshop, entry: Entry, trial: Trial) -> Workshop:
    """Return a workshop whose tree is a copy of the library's sources, with the patch applied."""
    copy = shop.tree.state / "experiments" / entry.name
    shutil.rmtree(copy, ignore_errors=True)
    patch = entry.path.parent / trial.patch
    if not patch.is_file():
        raise UsageError(
            f"there is no patch {patch}",
            hint=f"`git add -N allocator; git diff allocator > {patch}` writes one, with new files",
        )
    for name in library_sources(shop):
        here, there = shop.tree.root / name, copy / name
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(here, there) if here.is_dir() else shutil.copy2(here, there)
    _apply(patch, copy, shop.log(STAGE, "patch"))
    return replace(shop, tree=Tree(copy), hashed={})


def _git_apply(folder: Path, log: Path | None, *words: str | Path) -> None:
    run(
        ["git", "apply", *words],
        cwd=folder,
        # `folder` lies in a checkout: git must take it for what it is, a folder of its own.
        env={"GIT_CEILING_DIRECTORIES": str(folder.parent.resolve())},
        log=log,
        timeout_s=PATCH_LIMIT_S,
    )


def _fits(patch: Path, folder: Path, *words: str) -> bool:
    try:
        _git_apply(folder, None, "--check", *words, patch)
    except ChildError:
        return False
    return True


def _apply(patch: Path, folder: Path, log: Path) -> None:
    """Change the sources in ``folder``; BuildError if the patch does not fit."""
    before = digest_tree(folder, (".",))
    try:
        _git_apply(folder, log, patch)
    except ChildError as error:
        if _fits(patch, folder, "--reverse"):
            raise UsageError(
                f"the tree, which is side A, has the change of {patch} already",
                hint=f"take the change out of the tree: `git apply -R {patch}`",
            ) from error
        raise BuildError(
            f"{patch} does not fit the sources",
            hint="mend it, or make the entry a record; `git diff allocator` writes a patch without "
            "pages that changed too",
            log=error.log,
        ) from error
    if digest_tree(folder, (".",)) == before:
        raise BuildError(
            f"{patch} changes nothing that the library is made of",
            hint=f"write it in the root of the tree by `git diff allocator > {patch}`",
        )
