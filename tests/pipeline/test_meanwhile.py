"""A stage beside others: what it says, makes and raises comes at the end of the block."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_shop import bare_shop

from pipeline.core import interrupts, process
from pipeline.core.console import StageLine
from pipeline.core.errors import ArtifactError
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.stages.build.meanwhile import meanwhile
from pipeline.stages.build.workshop import StageDue, Workshop


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


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as a build has it, also where the tests run in the background of a shell."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    interrupts.install()
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("interruptible")
def test_its_error_is_told_where_the_block_is_over_first(tmp_path: Path) -> None:
    over = threading.Event()

    def broken(_: Workshop) -> None:
        over.wait()
        raise ArtifactError("no such thing")

    with pytest.raises(ArtifactError), meanwhile(bare_shop(tmp_path), broken):
        threading.Timer(0.1, over.set).start()


@pytest.mark.usefixtures("interruptible")
def test_its_error_stops_the_block_and_its_children(tmp_path: Path) -> None:
    """Minutes of training were spent on a build whose static library did not compile."""
    begun = threading.Event()

    def broken(_: Workshop) -> None:
        begun.wait()
        raise ArtifactError("no such thing")

    shop, over = bare_shop(tmp_path), False
    with pytest.raises(ArtifactError, match="no such thing"), meanwhile(shop, broken):
        begun.set()
        process.run(["sleep", "600"], timeout_s=60)
        over = True
    assert not over


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stays_what_it_is(tmp_path: Path) -> None:
    shop = bare_shop(tmp_path)
    with pytest.raises(KeyboardInterrupt), meanwhile(shop, lambda aside: make(aside, "second")):
        raise KeyboardInterrupt


def test_a_stage_that_is_due_does_not_stop_the_block(tmp_path: Path) -> None:
    def due(_: Workshop) -> None:
        raise StageDue("static")

    with pytest.raises(StageDue), meanwhile(bare_shop(tmp_path), due) as second:
        second.exception()
        reached = True
    assert reached


def test_what_it_says_is_told_where_the_block_fails(tmp_path: Path) -> None:
    shop = bare_shop(tmp_path)
    with (
        pytest.raises(ValueError, match="sooner"),
        meanwhile(shop, lambda aside: make(aside, "second")) as second,
    ):
        second.result()
        raise ValueError("sooner")
    assert "second is there" in said(shop)


def test_headings_and_commands_of_its_own_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With -v the commands of both stood mixed, and nobody could tell whose they were."""
    shop = bare_shop(tmp_path)
    monkeypatch.setattr(process, "echo", shop.console.child)

    def talking(aside: Workshop) -> None:
        aside.console.heading("aside")
        process.run(["true", "second"])

    with meanwhile(shop, talking) as second:
        second.result()
        process.run(["true", "first"])
        assert "aside" not in said(shop) and "second" not in said(shop)
    told = [said(shop).index(words) for words in ("true first", "aside", "true second")]
    assert told == sorted(told)


def test_commands_are_silent_where_nobody_asked(tmp_path: Path) -> None:
    shop = bare_shop(tmp_path)
    with meanwhile(shop, lambda _: process.run(["true"])):
        pass
    assert said(shop) == ""


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
