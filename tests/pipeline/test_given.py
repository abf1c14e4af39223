"""What lies beside a published library is what it was built by, whoever edits files meanwhile."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock

import pytest
from bare_shop import bare_shop

from pipeline.core.errors import BuildError
from pipeline.stages.build.given import note_geometry, note_given, refuse_changed
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.publish import publish as publishing


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = bare_shop(tmp_path)
    shop.tree.profiles.mkdir(parents=True)
    (tmp_path / "tiny.toml").rename(shop.tree.profiles / "tiny.toml")
    lists = shop.tree.layout("mixed")
    lists.mkdir(parents=True)
    for name in ("hot.txt", "cold.txt"):
        (lists / name).write_text("hak_malloc\n", encoding="utf-8")
    note_given(shop)
    refuse_changed(shop)
    return shop


@pytest.mark.parametrize("name", ["layouts/mixed/hot.txt", "training/profiles/tiny.toml"])
def test_a_file_that_changes_while_a_build_works_is_not_published_with_it(
    name: str, shop: Workshop
) -> None:
    """Lists and profile were copied at the end, as they stood then: others than were obeyed."""
    path = shop.tree.root / name
    path.write_text(path.read_text("utf-8") + "# more\n", encoding="utf-8")
    note_given(shop)  # for another kind of processor: the build is still the same
    with pytest.raises(BuildError, match=f"^{name} changed while this build was at work"):
        publishing.publish(shop, MagicMock(inputs=None))


def test_a_geometry_that_the_build_itself_has_written_is_its_own(shop: Workshop) -> None:
    path = shop.tree.geometry("tiny")
    path.parent.mkdir(parents=True)
    path.write_text("schema_version = 1\n", encoding="utf-8")
    with pytest.raises(BuildError, match=r"geometry\.toml changed"):
        refuse_changed(shop)
    note_geometry(shop)
    refuse_changed(shop)


def test_a_rebuild_has_the_files_of_its_bundle(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop.tree.layout("mixed") / "hot.txt").write_text("hak_free\n", encoding="utf-8")
    monkeypatch.setattr(publishing, "_version", MagicMock(side_effect=KeyError("reached")))
    with pytest.raises(KeyError, match="reached"):
        publishing.publish(shop, MagicMock(inputs=Path("profile")))
