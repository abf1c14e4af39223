"""Making a version with other lists: what is refused, what is counted, what is left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.errors import BuildError, DataError
from pipeline.judge.counting.told import Told
from pipeline.judge.counts import ProgramCounts
from pipeline.judge.tasks import Task
from pipeline.layout.propose import Change
from pipeline.layout.worth import Counts
from pipeline.stages.pgo.optimize import CONTEXT, ONE_BY_ONE, WHOLE
from pipeline.stages.proof import list_worth
from pipeline.stages.proof.list_worth import ListCounter, present_tasks, private_room
from pipeline.stages.proof.relink import require_same
from pipeline.stages.proof.relist import flavour_of, require_fresh
from pipeline.toolchain.symbols import Function, SymbolLists

FILES = {"hot.txt": ["free"], "cold.txt": ["fatal"]}
COMES = (Change("hot.txt", "other", "9 calls", comes=True),)
TASKS = (Task("perl", "perl", (), path=Path("/usr/bin/perl")),)


def version(tmp_path: Path, step: str, **manifest: Any) -> Any:
    said = {
        "step": step,
        "tools": {"clang": "22"},
        "geometry": None,
        "stages": {"baseline": {"inputs": {"sources": "aa"}}},
        **manifest,
    }
    return SimpleNamespace(name="0.1-ab", profile=tmp_path, manifest=said)


class Counter:
    """Counts 10 misses for each file whose name it is given; ``problem`` stands for all."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem

    def count(self, libraries: Mapping[str, Path], tasks: Sequence[Task], say: Any) -> Any:
        for name in libraries:
            say(f"counting {tasks[0].name} ({name})")
        if self.problem:
            return (Told(tasks[0], {}, self.problem),)
        found = {
            name: ProgramCounts(
                instructions=9,
                i1_misses=len(path.name),
                hot_lines=4,
                total_instructions=99,
                total_i1_misses=50,
            )
            for name, path in libraries.items()
        }
        return (Told(tasks[0], found),)


def counter(said: list[str], problem: str = "") -> ListCounter:
    def make(name: str, lists: SymbolLists) -> Path:
        if name == "odd":
            raise BuildError("the order was not honoured")
        return Path("/", "+".join(lists.hot))

    counts = Counter(problem)  # a stand-in: it has the one method that is called
    return ListCounter(make, counts, TASKS, FILES, said.append)  # type: ignore[arg-type]


def test_each_set_of_changes_is_made_and_counted_with_numbers_for_who_waits() -> None:
    said: list[str] = []
    found = counter(said)({"as-it-is": (), "1": COMES, "odd": COMES})
    known = {name: one for name, one in found.items() if isinstance(one, Counts)}
    assert {name: one.programs for name, one in known.items()} == {
        "as-it-is": {"perl": 4},
        "1": {"perl": 10},
    }
    assert known["1"].misses == pytest.approx(10) and known["1"].lines == pytest.approx(4)
    assert found["odd"] == "the order was not honoured"
    assert said[:3] == ["linking as-it-is, 1 of 3", "linking 1, 2 of 3", "linking odd, 3 of 3"]
    assert said[3:] == ["counting perl (as-it-is), 1 of 2", "counting perl (1), 2 of 2"]


def test_a_program_that_fails_is_named() -> None:
    assert counter([], "ended with 1")({"1": COMES}) == {"1": "perl: ended with 1"}


def test_where_no_program_is_nothing_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = (Task("perl", "perl", ()), Task("sqlite3", "sqlite3", ()))
    monkeypatch.setattr(list_worth, "trained_tasks", lambda: gone)
    with pytest.raises(DataError, match="none of perl, sqlite3 is installed"):
        present_tasks()


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    shop: Any = SimpleNamespace(store=SimpleNamespace(folder=tmp_path))
    with pytest.raises(KeyboardInterrupt), private_room(shop) as room:
        (room / "build").mkdir()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"stages": {"baseline": {"inputs": {"sources": "bb"}}}}, "the sources have changed"),
        ({"stages": {}}, "does not say which sources"),
        ({"tools": {"clang": "19"}}, "the tools have changed since 0.1-ab was made: clang was"),
        ({"geometry": "cc"}, "the geometry has changed"),
    ],
)
def test_a_version_of_another_tree_is_refused(
    manifest: dict[str, Any], words: str, tmp_path: Path
) -> None:
    tools = SimpleNamespace(versions={"clang": "22"})
    shop: Any = SimpleNamespace(tools=tools, command="build --profile mine")
    setup: Any = SimpleNamespace(sources="aa", geometry_digest=None)
    require_fresh(shop, setup, version(tmp_path, "lto"))
    with pytest.raises(BuildError, match=words) as raised:
        require_fresh(shop, setup, version(tmp_path, "lto", **manifest))
    assert "build --profile mine" in raised.value.hint


def test_each_step_is_compiled_as_it_was(tmp_path: Path) -> None:
    assert flavour_of(version(tmp_path, "pgo")) is ONE_BY_ONE
    assert flavour_of(version(tmp_path, "bolt")) is WHOLE
    (tmp_path / "context.profdata").touch()
    assert flavour_of(version(tmp_path, "bolt")) is CONTEXT
    with pytest.raises(BuildError, match="is the step tune, which is linked without the lists"):
        flavour_of(version(tmp_path, "tune"))


def test_code_that_is_not_the_published_one_is_refused() -> None:
    known = [Function("free", 64, 32)]
    require_same(known, list(known), "0.1-ab")
    with pytest.raises(BuildError, match=r"is not that of 0\.1-ab"):
        require_same([Function("free", 128, 32)], known, "0.1-ab")
