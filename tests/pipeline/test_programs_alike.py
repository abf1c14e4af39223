"""Programs of bench/ and training/ have the same bytes in every tree: their counts compare."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.toolchain.flags import COMPILE, texts

ROOT = Path(__file__).resolve().parents[2]


def program(root: Path, folder: str, target: str) -> bytes:
    """Compile one program in a copy of the tree, with the flags that a build has for it."""
    for name in ("bench", "training", "cmake"):
        shutil.copytree(ROOT / name, root / name)
    build = root / f"build-{root.name}"
    flags = " ".join(texts(COMPILE, root=root, room=build))
    cmake: list[str | Path] = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        root / folder,
        "-B",
        build,
        f"-DCMAKE_C_FLAGS={flags}",
    ]
    subprocess.run([*cmake, "-DCMAKE_C_COMPILER=clang"], check=True, capture_output=True)
    argv: list[str | Path] = ["cmake", "--build", build, "--target", target]
    subprocess.run(argv, check=True, capture_output=True)
    return (build / target.removeprefix("training_")).read_bytes()


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not in PATH")
@pytest.mark.parametrize("place", [("bench", "any_size"), ("training", "training_tree")])
def test_a_program_has_the_same_bytes_in_every_tree(place: tuple[str, str], tmp_path: Path) -> None:
    trees = (tmp_path / "one", tmp_path / "another-one")
    first, second = (program(tree, *place) for tree in trees)
    assert str(tmp_path).encode() not in first
    assert first == second
