"""The rooms of the pipeline depend on each other one way, as their imports say."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from pipeline.core.closure import imports
from pipeline.core.paths import Tree
from pipeline.stages import NAMES

ROOT = Tree.here().root
STAGES = ("build", "pgo", "bolt", "proof", "tuning", "publish")
ORDER = (
    *("core", "toolchain", "trace", "heap", "profile", "geometry", "release", "judge", "evidence"),
    *("layout", "fleet", "report", "review", "tune", "elsewhere", "apps"),
    *(f"stages.{room}" for room in STAGES),
    *(
        "stages",
        "versus",
        "learn",
        "experiment",
        "run",
        "rebuild",
        "cross",
        "commands",
        "cli",
        "start",
        "__main__",
    ),
)
"""Each room may import itself and those before it. `stages` is the list of stage names."""


def room_of(module: str) -> str:
    """Return the room of ``pipeline.<room>...``; the stages have rooms of their own."""
    names = module.split(".")[1:]
    return ".".join(names[:2]) if names[0] == "stages" and names[1:2] else names[0]


def modules(root: Path) -> dict[Path, str]:
    """Return the name of each module by its file."""
    return {
        file: ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted((root / "pipeline").rglob("*.py"))
    }


def rooms(root: Path) -> dict[str, dict[str, str]]:
    """Return which rooms each room imports, with one import as the evidence."""
    found: dict[str, dict[str, str]] = {}
    for file, module in modules(root).items():
        if module == "pipeline":
            continue
        for other in imports(file):
            if other.count(".") and room_of(other) in ORDER:
                found.setdefault(room_of(module), {})[room_of(other)] = f"{module} -> {other}"
    return found


def against_the_order(found: dict[str, dict[str, str]]) -> list[str]:
    return [
        evidence
        for room, others in found.items()
        for other, evidence in others.items()
        if other != "stages" and ORDER.index(other) > ORDER.index(room)
    ]


def in_order(root: Path) -> list[str]:
    """Return all modules, each behind those that it imports; CycleError if there is a circle."""
    needs = {module: set(imports(file)) - {module} for file, module in modules(root).items()}
    return list(TopologicalSorter(needs).static_order())


def test_every_room_stands_in_the_order() -> None:
    below = {path.parent for path in (ROOT / "pipeline").rglob("*.py")}
    names = {".".join(path.relative_to(ROOT).parts) for path in below}
    unlisted = {room_of(name) for name in names if name != "pipeline"} - set(ORDER)
    assert not {room for room in unlisted if not room.startswith("report.")}


def test_each_stage_of_a_build_has_its_name_in_the_list() -> None:
    others = {"bolt-emulate", "diff", "layout", "tune", "tune-traces"}  # of other commands
    texts = [path.read_text("utf-8") for path in (ROOT / "pipeline/stages").rglob("*.py")]
    found = {name for text in texts for name in re.findall(r'^STAGE = "(.+)"$', text, re.M)}
    assert found - others <= {*NAMES}


def test_no_room_imports_a_later_one() -> None:
    assert against_the_order(rooms(ROOT)) == []


def test_an_import_against_the_order_is_seen(tmp_path: Path) -> None:
    for name, text in {"core/a.py": "from pipeline.judge import b\n", "judge/b.py": ""}.items():
        file = tmp_path / "pipeline" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert against_the_order(rooms(tmp_path)) == ["pipeline.core.a -> pipeline.judge.b"]


def test_no_modules_import_each_other() -> None:
    assert "pipeline.run" in in_order(ROOT)


def test_a_circle_within_a_room_is_seen(tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    for name, other in (("a", "b"), ("b", "a")):
        text = f"def late() -> None:\n    from pipeline.{other} import late\n"
        (tmp_path / "pipeline" / f"{name}.py").write_text(text, encoding="utf-8")
    with pytest.raises(CycleError):
        in_order(tmp_path)
