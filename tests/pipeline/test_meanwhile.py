"""A stage beside others: what it says, makes and raises comes at the end of the block."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from bare_shop import bare_shop

from pipeline.core.console import StageLine
from pipeline.core.errors import ArtifactError
from pipeline.core.store import Artifact, Notes
from pipeline.stages.build.meanwhile import meanwhile
from pipeline.stages.build.workshop import Workshop


def make(shop: Workshop, name: str) -> Artifact:
    def work(room: Path, line: StageLine) -> Notes:
        line.step("at it")
        (room / "out").write_text(name, encoding="utf-8")
        return {}

    return shop.do(name, {"of": name}, work, summary=lambda _: f"{name} is there")


def said(shop: Workshop) -> str:
    assert isinstance(shop.console.rich.file, io.StringIO)
    return shop.console.rich.file.getvalue()


def test_what_it_says_and_makes_comes_after_the_block(tmp_path: Path) -> None:
    shop = bare_shop(tmp_path)
    with meanwhile(shop, lambda aside: make(aside, "second")) as second:
        second.result()
        make(shop, "first")
        assert "second" not in said(shop)
    assert [one.receipt.stage for one in shop.store.used] == ["first", "second"]
    assert said(shop).index("first is there") < said(shop).index("second is there")


def test_what_is_there_is_told_in_its_turn(tmp_path: Path) -> None:
    shop = bare_shop(tmp_path)
    make(shop, "second")
    with meanwhile(shop, lambda aside: make(aside, "second")):
        make(shop, "first")
    assert said(shop).rstrip().endswith("second: unchanged: second is there")


def test_its_error_comes_at_the_end_of_the_block(tmp_path: Path) -> None:
    def broken(_: Workshop) -> None:
        raise ArtifactError("no such thing")

    with pytest.raises(ArtifactError), meanwhile(bare_shop(tmp_path), broken):
        reached = True
    assert reached


def test_an_error_of_the_block_waits_for_it_and_comes_first(tmp_path: Path) -> None:
    begun, over = threading.Event(), []

    def slow(_: Workshop) -> None:
        begun.wait()
        over.append(True)
        raise ArtifactError("later")

    with pytest.raises(ValueError, match="sooner"), meanwhile(bare_shop(tmp_path), slow):
        begun.set()
        raise ValueError("sooner")
    assert over
