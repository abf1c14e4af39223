"""Where a search writes what it has found: to the file of the kind of processor that measured."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipeline.core.paths import Tree
from pipeline.geometry.load import common_geometry, load_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.profile.schema import Profile
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.pgo.merge import again
from pipeline.stages.tuning import tune
from pipeline.tune.trial import Candidate, Trial
from pipeline.tune.tuning import Outcome

DEFAULT = default_geometry(Tree.here())
BUILD = ".venv/bin/pipeline build --profile mine"
COMMON = "schema_version = 1\n[constants.small_depth]\nvalue = 64\nwhy = 'for all'\n"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    shutil.copytree(Tree.here().root / "allocator/base", tmp_path / "allocator/base")
    (tmp_path / "layouts" / "mine").mkdir(parents=True)
    return Tree(tmp_path)


def shop(tree: Tree, cpu: str | None) -> Workshop:
    profile, rest = cast(Profile, SimpleNamespace(name="mine")), cast(Any, None)
    return Workshop(tree, profile, rest, rest, rest, Options(cpu=cpu))


def outcome(geometry: Geometry | None) -> Outcome:
    standing = SimpleNamespace(wins=False)
    trial = cast(Trial, SimpleNamespace(candidate=cast(Candidate, None), standing=standing))
    trials = () if geometry else (trial,)
    return Outcome(geometry, "nothing pays", trials, None, (), {}, {})


def write(tree: Tree, cpu: str, found: Geometry | None, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("pipeline.tune.report.worths", lambda _: {"depth: x": "+0.1 %: not shown"})
    place = shop(tree, cpu)
    return tune._write(place, outcome(found), tune._base(place))


def test_what_pays_on_one_kind_adds_to_what_holds_for_all(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.geometry("mine").write_text(COMMON)
    found = common_geometry(tree, "mine").with_value("warm_slabs", 4, "it pays", "+1 %")
    said = write(tree, "amd-zen3", found, monkeypatch)
    path = tree.geometry("mine", "amd-zen3")
    assert said == f"written: {path}; `{BUILD} --cpu amd-zen3` reads it on machines with amd-zen3"
    assert "small_depth" not in path.read_text()
    here, elsewhere = (load_geometry(tree, "mine", cpu) for cpu in ("amd-zen3", "intel"))
    assert here is not None and elsewhere is not None
    assert (here.value("warm_slabs"), here.value("small_depth")) == (4, 64)
    assert (elsewhere.value("warm_slabs"), elsewhere.value("small_depth")) == (1, 64)


def test_a_search_for_any_processor_writes_what_holds_for_all(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = DEFAULT.with_value("warm_slabs", 4, "it pays", "+1 %")
    said = write(tree, "any", found, monkeypatch)
    assert said.endswith(f"geometry.toml; `{BUILD} --cpu any` reads it on every machine")
    loaded = load_geometry(tree, "mine", "amd-zen3")
    assert loaded is not None and loaded.value("warm_slabs") == 4


@pytest.mark.parametrize("cpu", [None, "amd-zen3"])
def test_a_hint_names_the_processor_that_was_named(tree: Tree, cpu: str | None) -> None:
    told = f"`{BUILD}{f' --cpu {cpu}' if cpu else ''} --from train`"
    assert again(shop(tree, cpu)) == f"train again: {told}"


def test_where_nothing_pays_the_file_of_the_kind_says_so(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.geometry("mine").write_text(COMMON)
    said = write(tree, "amd-zen3", None, monkeypatch)
    path = tree.geometry("mine", "amd-zen3")
    assert said == f"written: {path}, which says so; the library stays as it was without it"
    loaded = load_geometry(tree, "mine", "amd-zen3")
    assert loaded is not None and loaded.digest == common_geometry(tree, "mine").digest


@pytest.mark.parametrize("kind", ["amd", "amd-zen3"])
def test_a_file_that_is_there_stays_when_nothing_pays(
    kind: str, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree.geometry("mine", kind)
    path.write_text(COMMON)
    said = write(tree, "amd-zen3", None, monkeypatch)
    assert said == f"{path} stays as it was: `{BUILD} --cpu amd-zen3` goes on as before"
    assert path.read_text() == COMMON
