"""Which tree a command acts on: the one whose command it is, or the one that you stand in.

A copied tree has a copied ``.venv``, whose command still starts the package of the original; so has
a link to the ``.venv`` of another tree. The command then starts once more with the package of the
tree that was meant, and says so.

- ``TREE/.venv/bin/pipeline`` acts on TREE.
- A link to that, as ``./bootstrap --link`` makes it, or what pipx or uv has installed, acts on the
  tree around the folder where it is typed; else on the tree that the link leads to.
- ``python -m pipeline`` acts on the tree of the package.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

MARKS = ("VERSION", "allocator", "layouts", "pipeline", "training")
"""What every tree has."""

_AGAIN = "import sys; sys.path.insert(0, {root!r}); from pipeline.start import main; main()"


def is_tree(folder: Path) -> bool:
    """Return whether ``folder`` is a checkout of hakmem."""
    return all((folder / name).exists() for name in MARKS)


def own_root() -> Path:
    """Return the folder of this very package: a tree, or where an installer has put it."""
    return Path(__file__).resolve().parents[2]


def meant(script: Path, cwd: Path, own: Path) -> Path | None:
    """Return the tree that a command means which was started as ``script`` in ``cwd``."""
    if not script.is_file() or script.suffix == ".py":
        return own if is_tree(own) else None
    tree = _of_command(script)
    if tree is not None and not script.is_symlink():
        return tree
    return _around(cwd) or tree or (own if is_tree(own) else None)


def enter() -> None:
    """Start once more with the package of the tree that is meant, unless this is it."""
    own = own_root()
    tree = meant(Path(sys.argv[0]), Path.cwd(), own)
    if tree is None or tree.resolve() == own or own in _asked_for():
        return
    python = tree / ".venv" / "bin" / "python"
    runs = str(python if os.access(python, os.X_OK) else sys.executable)
    if "_PIPELINE_COMPLETE" not in os.environ:
        print(_said(tree, own), file=sys.stderr, flush=True)
    os.execv(runs, [runs, "-P", "-c", _AGAIN.format(root=str(tree)), *sys.argv[1:]])


def _said(tree: Path, own: Path) -> str:
    if is_tree(own) and not (tree / ".venv").is_symlink():
        return (
            f"note: acts on {tree}, though its .venv is a copy of that of {own}; "
            "`./bootstrap` makes it anew"
        )
    return f"note: acts on {tree}"


def _of_command(script: Path) -> Path | None:
    """Return TREE of TREE/.venv/bin/pipeline, also behind a link to it."""
    while script.is_symlink():
        script = script.parent / script.readlink()
    folder = Path(os.path.normpath(script.absolute())).parent
    tree = folder.parent.parent
    return tree if folder.parent.name == ".venv" and is_tree(tree) else None


def _around(folder: Path) -> Path | None:
    return next((one for one in (folder, *folder.parents) if is_tree(one)), None)


def _asked_for() -> list[Path]:
    """Return the folders of PYTHONPATH: who names a package there means it."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [Path(one).resolve() for one in named if one]
