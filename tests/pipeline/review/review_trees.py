"""The fixtures of the tests of reviews. They load it as a plugin: it lists no tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from review_support import make_base, make_tree

from pipeline.core.paths import Tree


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return make_tree(tmp_path, monkeypatch)


@pytest.fixture
def base(tree: Tree, tmp_path: Path) -> Path:
    """The folder of a published version of another tree."""
    assert tree.root != tmp_path / "main"
    return make_base(tmp_path)
