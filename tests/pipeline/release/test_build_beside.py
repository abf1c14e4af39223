"""What a build publishes and makes current beside versions that people refused."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock, patch

import pytest
from rollback_support import BAD, OLD, make, tree_of_two, type_, version

from pipeline.commands.build_result import conclude
from pipeline.core.console import BRIEF
from pipeline.core.errors import GateError
from pipeline.core.paths import Tree
from pipeline.release import check_version
from pipeline.release.current import current, why_current_stays
from pipeline.report import files
from pipeline.report.kept import was_published
from pipeline.report.model import ReportModel, Source
from pipeline.report.what_next import next_command
from pipeline.stages.publish import publish, reporting
from pipeline.stages.publish.product import STAGE, inputs_of


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return tree_of_two(tmp_path, monkeypatch)


@pytest.mark.parametrize("words", [("rollback",), ("reject", BAD, "--reason", "redis grows")])
def test_a_build_that_publishes_sees_what_was_refused_while_it_measured(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The command comes while the report is written, after the build's first look at the marks."""

    def while_reporting(*_: object) -> ReportModel:
        type_(*words)
        return ReportModel.model_construct(published=True, previous=None)

    monkeypatch.setattr(publish, "make_report", while_reporting)
    for name in ("keep_report", "pass_gate"):
        monkeypatch.setattr(publish, name, lambda *_: None)
    monkeypatch.setattr(check_version, "require_good", lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: BAD)
    monkeypatch.setattr(publish, "inputs_of", lambda *_: f"inputs of {BAD}")
    release = SimpleNamespace(
        candidate=SimpleNamespace(library=SimpleNamespace(digest="another")),
        verdict=None,
        geometry=None,
        inputs=None,
        against=None,
    )
    shop = MagicMock(tree=tree, line="p", store=SimpleNamespace(used=[]))
    shop.options.redo, shop.options.mode = {STAGE}, "default"
    shop.options.no_publish = False
    if words[0] == "reject":
        with pytest.raises(GateError, match="was rejected") as refused:
            publish.publish(shop, cast("Any", release))
        assert f"`.venv/bin/pipeline reject -p p {BAD} --undo`" in refused.value.hint
    else:
        assert "was rolled back" in str(publish.publish(shop, cast("Any", release)).stays)
    assert current(tree.dist("p")) == version(tree, OLD)


def test_a_full_build_is_the_same_as_a_quick_one_of_the_same_sources(tmp_path: Path) -> None:
    """What is refused after a quick build is not published by a full one, which trains longer."""

    def inputs(quick: str, weight: str) -> str:
        shop = MagicMock()
        shop.tree.layout.return_value = tmp_path
        parts = {"workloads": [f'{{"name":"loop","weight":{weight}}}{quick}', '{"name":"sh"}']}
        receipt = SimpleNamespace(stage="train", parts=parts)
        shop.store.used = [SimpleNamespace(receipt=receipt)]
        return inputs_of(shop, None)

    for name in ("hot.txt", "cold.txt"):
        (tmp_path / name).touch()
    assert inputs(" quick", "1") == inputs("", "1")
    assert inputs("", "1") != inputs("", "2")


def test_a_build_that_is_only_to_be_judged_leaves_all_as_it_is(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = ReportModel.model_construct(published=True, reason="throughput is GO")
    kept: list[ReportModel] = []
    monkeypatch.setattr(publish, "make_report", lambda *_: judged)

    def keep(_: object, model: ReportModel) -> Path:
        kept.append(model)
        return tree.root

    monkeypatch.setattr(publish, "keep_report", keep)
    monkeypatch.setattr(publish, "pass_gate", lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: "1.0-cc33")
    monkeypatch.setattr(publish, "inputs_of", lambda *_: "others")
    shop = MagicMock(tree=tree, line="p", store=SimpleNamespace(used=[]))
    shop.options.redo, shop.options.no_publish = set(), True
    found = publish.publish(shop, cast("Any", MagicMock(against=None)))
    assert found.judged == tree.root and not found.folder.exists()
    assert current(tree.dist("p")) == version(tree, BAD)
    assert not kept[0].published and kept[0].reason.endswith("(throughput is GO)")
    assert kept[0].outcome == "Not published, as asked" and kept[0].passed
    assert "the same build without `--no-publish` publishes it" in next_command(kept[0])


@pytest.mark.parametrize("asked", ["--from verify", "--from=verify"])
def test_a_build_that_only_judged_again_is_told_to_leave_that_out(asked: str) -> None:
    """Each such build was told to leave `--from` out, also where nobody had said it."""
    source = Source.model_construct(command=f"./bootstrap build --no-publish {asked}")
    model = ReportModel.model_construct(withheld=True, source=source)
    assert "without `--no-publish` and `--from` publishes it" in next_command(model)


@pytest.mark.parametrize("place", ["dist", "reports"])
def test_a_build_only_to_be_judged_leaves_the_report_of_what_was_published(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Once the version is pruned, that report alone says that it was published."""
    folder = (tree.dist("p") if place == "dist" else tree.reports("p")) / "1.0-cc33"
    folder.mkdir(parents=True)
    (folder / "report.json").write_text('{"published": true}', encoding="utf-8")
    monkeypatch.setattr(files, "render_html", lambda _: "")
    monkeypatch.setattr(files, "render_markdown", lambda _: "")
    monkeypatch.setattr(files, "render_json", lambda _: '{"published": false}')
    shop = MagicMock(tree=tree, line="p")
    model = ReportModel.model_construct(published=False, version="1.0-cc33")
    assert reporting.keep_report(shop, model) == folder
    assert was_published(folder)
    assert (tree.reports("p") / "last").resolve() == folder
    other = ReportModel.model_construct(published=False, version="1.0-dd44")
    assert not was_published(reporting.keep_report(shop, other))


def test_what_is_published_beside_the_current_one_says_so_in_its_report(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = ReportModel.model_construct(published=True, reason="GO", previous=None)
    kept: list[ReportModel] = []
    monkeypatch.setattr(publish, "make_report", lambda *_: judged)
    monkeypatch.setattr(publish, "keep_report", lambda _, model: kept.append(model))
    monkeypatch.setattr(publish, "pass_gate", lambda *_: None)
    monkeypatch.setattr(publish, "_version", lambda *_: "1.0-cc33")
    monkeypatch.setattr(publish, "inputs_of", lambda *_: "others")
    monkeypatch.setattr(publish, "write_version", lambda *_: make(tree, "1.0-cc33", "2026-01-03"))
    monkeypatch.setattr(check_version, "require_good", lambda *_: None)
    shop = MagicMock(tree=tree, line="p", store=SimpleNamespace(used=[]))
    shop.options.redo, shop.options.no_publish, shop.options.mode = set(), False, "quick"
    found = publish.publish(shop, cast("Any", MagicMock(against=None)))
    why = f"{BAD} was judged in mode default, this one in mode quick alone"
    assert found.stays == kept[0].stays == why
    assert found.before == version(tree, BAD)
    assert not found.was_there
    monkeypatch.setattr(publish, "_known", lambda *_: None)  # lifted by `pipeline unpin`
    assert publish.publish(shop, cast("Any", MagicMock(against=None))).was_there


def test_what_was_published_before_is_not_published_again(tree: Tree) -> None:
    """After `pipeline unpin` a build said "published in 9.0 s" of a version of the day before."""
    said = []
    for was_there in (False, True):
        console = MagicMock()
        folder = version(tree, BAD).folder
        with patch("pipeline.commands.build_result._show"):
            conclude(console, publish.Published(folder, MagicMock(), was_there=was_there), 1.0)
        said.append(console.say.mock_calls[0].args[0].partition(":")[0])
    assert said == ["published in 1.0 s", "published before"]


@pytest.mark.parametrize(
    ("before", "stays", "says"),
    [
        (None, None, f"`current` is now {BAD}; no version was current before"),
        (OLD, None, f"`current` is now {BAD}; it was {OLD} before. This one was "),
        (BAD, None, f"`current` is {BAD}, as before"),
        (OLD, "why", f"`current` is still {OLD}: why"),
    ],
)
def test_a_build_ends_with_what_is_current(
    tree: Tree, before: str | None, stays: str | None, says: str
) -> None:
    console = MagicMock()
    was = version(tree, before) if before else None
    found = publish.Published(version(tree, BAD).folder, None, stays, before=was)
    conclude(console, found, 1.0)
    assert says in "\n".join(words[0] for _, words, _ in console.mock_calls)


@pytest.mark.parametrize(("digest", "told"), [("aa", 1), ("bb", 0)])
@pytest.mark.parametrize("stays", [None, "why"])
def test_the_same_library_judged_again_is_called_that(
    tree: Tree, digest: str, told: int, stays: str | None
) -> None:
    """`build --from verify` moved `current` to the same bytes without a word."""
    for name, sum_ in ((OLD, "aa"), (BAD, digest)):
        (version(tree, name).folder / "SHA256SUMS").write_text(
            f"{sum_}  lib/libhakmem.so\n{name}  verdict.json\n", encoding="utf-8"
        )
    console = MagicMock()
    found = publish.Published(version(tree, BAD).folder, None, stays, before=version(tree, OLD))
    conclude(console, found, 1.0)
    said = "\n".join(words[0] for _, words, _ in console.mock_calls)
    assert said.count(f"it is the same library as {OLD}, byte for byte, judged again") == told


def test_an_import_of_an_older_version_says_that_current_went_back(tree: Tree) -> None:
    console = MagicMock()
    conclude(
        console,
        publish.Published(version(tree, OLD).folder, None, None, before=version(tree, BAD)),
        1.0,
    )
    said = "\n".join(words[0] for _, words, _ in console.mock_calls)
    assert (
        f"`current` went back to {OLD}, of 2026-01-01; it was {BAD} before, of 2026-01-02." in said
    )
    assert f"`.venv/bin/pipeline rollback -p p --to {BAD}` takes that one again" in said


def test_the_last_line_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    console, folder = MagicMock(), tmp_path / "tree's" / "1.0-cc33"
    conclude(console, publish.Published(folder, None), 1.0)
    command = console.mock_calls[-1].args[0].removeprefix("use it:  ")
    library = folder.parent / "current" / "lib" / "libhakmem.so"
    assert shlex.split(command) == [f"LD_PRELOAD={library}", "your-program"]


def test_a_build_ends_with_the_commands_that_come_next(tmp_path: Path) -> None:
    """They stood in one sentence, or nowhere."""
    (tmp_path / "kv+hardened" / "1.0-cc33").mkdir(parents=True)
    console, folder = MagicMock(), tmp_path / "kv+hardened" / "1.0-cc33"
    with (
        patch("pipeline.commands.build_result._show"),
        patch("pipeline.commands.build_result._tell_next"),
    ):
        conclude(console, publish.Published(folder, MagicMock()), 1.0)
    said = [call.args[0] for call in console.mock_calls]
    assert (
        "next, is it better than libc:  .venv/bin/pipeline versus libc kv+hardened:current" in said
    )
    install = ".venv/bin/pipeline install --profile kv --variant hardened --prefix /usr/local"
    assert f"next, copy it to its place:  {install}" in said
    assert said[-1].startswith("use it:")


def test_current_moves_to_what_was_judged_as_fully_and_is_not_worse(tree: Tree) -> None:
    now, newer = version(tree, BAD), version(tree, "1.0-cc33")
    assert why_current_stays(None, newer, "quick", ()) is None
    assert why_current_stays(now, now, "quick", ("speed -3 %",)) is None
    assert why_current_stays(now, newer, "default", ()) is None
    assert why_current_stays(now, newer, "thorough", ()) is None
    quick = why_current_stays(now, newer, "quick", ())
    assert quick == f"{BAD} was judged in mode default, this one in mode quick alone"
    worse = why_current_stays(now, newer, "default", ("I-cache misses per op +8.78 %",))
    assert worse == f"this one is worse than {BAD}: I-cache misses per op +8.78 %"


def test_a_build_of_a_review_names_no_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pipeline install` below BASE's version installed one of the tree that is reviewed."""
    monkeypatch.setenv(BRIEF, "1")
    console, report = MagicMock(), MagicMock()
    with patch("pipeline.commands.build_result._show"):
        conclude(console, publish.Published(tmp_path / "kv" / "1.0-cc33", report), 1.0)
    said = [call.args[0] for call in console.mock_calls]
    assert said[-1].startswith("`current` is now 1.0-cc33")
