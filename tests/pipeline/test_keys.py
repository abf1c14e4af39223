"""Keys of stages: whatever decides a result is in them."""

from __future__ import annotations

import io
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast
from unittest.mock import MagicMock

import pytest
from bare_shop import bare_shop
from rich.console import Console

from pipeline.core import closure as closing
from pipeline.core import processor
from pipeline.core.closure import closure, closure_digest
from pipeline.core.console import BuildConsole
from pipeline.core.errors import BuildError, ChildTimeout
from pipeline.core.paths import Tree
from pipeline.core.processor import machine
from pipeline.core.store import Store
from pipeline.profile.load import load_profile
from pipeline.profile.workload import Command, Trace
from pipeline.stages.build import compile as compiling
from pipeline.stages.build import workloads
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.because import because, in_words
from pipeline.stages.build.configure import Setup, lacking
from pipeline.stages.build.workshop import Library, Options, StageDue, Workshop
from pipeline.stages.proof import ablation, layout_null, verify
from pipeline.stages.tuning import traces, tune
from pipeline.toolchain import identity
from pipeline.toolchain.find import Tool, Toolchain
from pipeline.toolchain.identity import Identities

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, **modules: str) -> None:
    package = folder / "pipeline"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    for name, text in modules.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")


def test_the_recipe_of_a_stage_is_all_that_it_uses(tmp_path: Path) -> None:
    write(
        tmp_path,
        stage="from pipeline import near\ndef work():\n    from pipeline.far import g\n",
        near="import pipeline.deep\n",
        deep="",
        far="if TYPE_CHECKING:\n    from pipeline.types import T\n",
        types="",
        other="",
    )
    names = ("pipeline", "pipeline.deep", "pipeline.far", "pipeline.near", "pipeline.stage")
    assert closure(tmp_path, "pipeline.stage") == list(names)


@pytest.mark.parametrize(
    ("stage", "used"),
    [
        ("pgo.optimize", ["pipeline.toolchain.link_script", "pipeline.stages.build.compile"]),
        ("proof.verify", ["pipeline.judge.statistics", "pipeline.judge.schedule"]),
        ("pgo.train", ["pipeline.core.process", "pipeline.stages.build.workloads"]),
    ],
)
def test_stages_have_what_they_call_in_their_keys(stage: str, used: list[str]) -> None:
    found = closure(ROOT, f"pipeline.stages.{stage}")
    assert set(used) <= set(found)
    assert "pipeline.core.console" not in found
    assert len(closure_digest(f"pipeline.stages.{stage}")) == 64


def test_programs_are_known_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, memory = tmp_path / "clang", tmp_path / "tools.json"
    program.write_text("#!/bin/sh\necho clang version 22.1\n", encoding="utf-8")
    first = Identities(memory).of(program)
    program.write_text("#!/bin/sh\necho clang version 22.1 \n", encoding="utf-8")
    second = Identities(memory).of(program)
    assert first != second
    monkeypatch.setattr(identity, "digest_file", lambda _: pytest.fail("hashed again"))
    assert Identities(memory).of(program) == second
    memory.write_text("{", encoding="utf-8")
    monkeypatch.undo()
    assert Identities(memory).of(program) == second


def test_a_tool_with_other_bytes_and_the_same_version_is_another_tool(tmp_path: Path) -> None:
    program, found = tmp_path / "clang", []
    for content in ("one", "two"):
        program.write_text(content, encoding="utf-8")
        tools = Toolchain((Tool("clang", program, "22.1.8"),))
        found.append(replace(bare_shop(tmp_path), tools=tools).tool_keys["clang"])
    assert found[0] != found[1]
    assert all(one.startswith("22.1.8, ") for one in found)


def test_libraries_of_a_tool_count_as_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, library = tmp_path / "clang", tmp_path / "libLLVM.so"
    program.write_text("x", encoding="utf-8")
    library.write_text("1", encoding="utf-8")
    monkeypatch.setattr(identity, "_own_libraries", lambda _: [library])
    first = Identities(tmp_path / "tools.json").of(program)
    library.write_text("22", encoding="utf-8")
    assert Identities(tmp_path / "tools.json").of(program) != first


def shop_of(root: Path) -> Workshop:
    return cast(Workshop, SimpleNamespace(tree=Tree(root), hashed={}))


def compiling_shop(root: Path) -> Workshop:
    tools = tuple(Tool(name, Path(name), "1") for name in ("clang", "ninja", "cmake"))
    return replace(bare_shop(root), tools=Toolchain(tools))


def test_a_compilation_that_is_too_slow_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> NoReturn:
        raise ChildTimeout("cmake: still running", hint="try again on a quieter machine")

    monkeypatch.setattr(compiling, "run", run)
    with pytest.raises(BuildError, match="still running") as error:
        compiling.cmake_build(
            compiling_shop(tmp_path), "pgo", tmp_path / "build", compile_flags=(), link_flags=()
        )
    assert error.value.hint == "try again on a quieter machine"


def test_sources_that_change_while_they_are_compiled_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("allocator", "bench", "training"):
        (tmp_path / name).mkdir()
    source = tmp_path / "allocator" / "a.c"
    source.write_text("int a;\n", encoding="utf-8")
    shop = compiling_shop(tmp_path)

    def build(edit: str) -> None:
        monkeypatch.setattr(compiling, "run", lambda *_, **__: source.write_text(edit, "utf-8"))
        compiling.cmake_build(shop, "pgo", tmp_path / "build", compile_flags=(), link_flags=())

    build("int b;\n")  # nothing was promised yet
    shop.hashed.update(compiling.source_digests(shop))
    build("int b;\n")
    with pytest.raises(BuildError, match="were changed while this build was at work"):
        build("int c;\n")


def test_commands_of_the_training_are_in_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\n", encoding="utf-8")
    monkeypatch.setattr(workloads, "find_needed", {"python3": python}.get)
    command = Command(
        kind="command", name="a", role="train", argv=("python3", "x"), needs=("gone",), weight=1
    )
    first = workloads.command_keys(shop_of(tmp_path), [command])
    assert first["gone"] == "missing"
    python.write_text("#!/bin/sh\n:\n", encoding="utf-8")
    assert workloads.command_keys(shop_of(tmp_path), [command]) != first


def traced(**more: Any) -> Trace:
    return Trace(kind="trace", name="a", role="verify", ops=1, quick_ops=1, weight=1, **more)


@pytest.mark.parametrize("name", ["driver.sh", "server"])
def test_files_on_a_command_line_are_in_its_key(tmp_path: Path, name: str) -> None:
    for file in ("driver.sh", "server"):
        (tmp_path / file).write_text("one", encoding="utf-8")
    argv = ("sh", "driver.sh", str(tmp_path / "server"), "2000", "; " * 5000)
    command = Command(kind="command", name="a", role="train", argv=argv, weight=1)
    both: list[Command | Trace] = [command, traced(record=argv)]
    before = [workloads.command_keys(shop_of(tmp_path), [one]) for one in both]
    assert all("2000" not in keys for keys in before)
    (tmp_path / name).write_text("another", encoding="utf-8")
    after = [workloads.command_keys(shop_of(tmp_path), [one]) for one in both]
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_a_file_that_a_workload_needs_is_in_its_key(tmp_path: Path) -> None:
    query = tmp_path / "q.sql"
    query.write_text("select 1;", encoding="utf-8")
    argv = ("sh", "-c", f". {query}")
    for one in (
        Command(kind="command", name="a", role="train", argv=argv, needs=(str(query),), weight=1),
        traced(record=argv, needs=(str(query),)),
    ):
        assert lacking(one) == ()
        before = workloads.command_keys(shop_of(tmp_path), [one])
        query.write_text(f"select {before[str(query)]};", encoding="utf-8")
        assert workloads.command_keys(shop_of(tmp_path), [one]) != before


def test_what_a_workload_lacks_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("no program", encoding="utf-8")
    needs = ("sh", str(data), str(tmp_path / "gone"), "no-such-program")
    as_data = Command(kind="command", name="a", role="verify", argv=("true",), needs=needs)
    as_program = Command(kind="command", name="a", role="verify", argv=(str(data),))
    assert lacking(as_data) == (str(tmp_path / "gone"), "no-such-program")
    assert lacking(as_program) == (str(data),)


def test_a_workload_in_a_folder_of_its_own_names_no_file_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "driver.sh").write_text("one", encoding="utf-8")
    trace = traced(record=("sh", "driver.sh"), scratch=True)
    assert set(workloads.command_keys(shop_of(tmp_path), [trace])) == {"sh"}


def test_the_variant_is_in_the_key_of_every_stage(tmp_path: Path) -> None:
    def shop(variant: str) -> Workshop:
        profile = load_profile(Tree(ROOT), "mixed")
        console = BuildConsole(Console(file=io.StringIO()))
        options = Options(variant=variant)
        store = Store(tmp_path)
        return Workshop(Tree(tmp_path), profile, cast(Any, None), store, console, options)

    def work(room: Path, _line: object) -> dict[str, str]:
        (room / "file").write_text("x", encoding="utf-8")
        return {}

    made = [
        shop(variant).do("baseline", {"sources": "same"}, work, summary=lambda _: "")
        for variant in ("production", "hardened")
    ]
    assert made[0].receipt.key != made[1].receipt.key
    assert shop("hardened").line == "mixed+hardened"
    assert shop("hardened").log("train", "a").is_relative_to(Tree(tmp_path).logs("mixed+hardened"))


def test_what_is_made_while_its_code_changes_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had the key of the new code, and may have been made by the old one."""
    write(tmp_path, changing="from pipeline import deeper\n", deeper="x = 1\n")
    monkeypatch.setattr(closing, "own_root", lambda: tmp_path)
    shop = bare_shop(tmp_path)

    def work(room: Path, _line: object) -> dict[str, str]:
        (room / "file").write_text("x", encoding="utf-8")
        if room.parent.name == "verify":
            write(tmp_path, deeper="x = 2\n")
        return {}

    work.__module__ = "pipeline.changing"
    shop.do("baseline", {}, work, summary=lambda _: "")
    with pytest.raises(BuildError, match="the pipeline's own code was changed"):
        shop.do("verify", {}, work, summary=lambda _: "")
    assert [one.receipt.stage for one in shop.store.used] == ["baseline"]
    assert not list((tmp_path / "store" / "verify").glob("*/receipt.json"))


def parts_of(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> dict[str, Any]:
    """Return the parts of the key of the first stage that ``ask`` would do."""
    asked: list[dict[str, Any]] = []

    def do(_shop: Workshop, _stage: str, parts: dict[str, Any], *_: Any, **__: Any) -> NoReturn:
        asked.append(parts)
        raise StageDue

    monkeypatch.setattr(Workshop, "do", do)
    with pytest.raises(StageDue):
        ask()
    return asked[0]


def shop_for(folder: Path, options: Options | None = None) -> Workshop:
    profile, console = load_profile(Tree(ROOT), "mixed"), BuildConsole(Console(file=io.StringIO()))
    tools, store = Toolchain(()), Store(folder)
    return Workshop(Tree(ROOT), profile, tools, store, console, options or Options())


def test_as_much_time_as_in_the_profile_is_more_for_the_check_of_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were one key, so what the advice asked for found nothing to do."""
    monkeypatch.setattr(verify, "judged_tasks", lambda _: ())
    library = Library(tmp_path, "", cast(Any, None))
    setup = cast(Setup, SimpleNamespace(programs="", verifying=()))
    plain = cast(Baseline, SimpleNamespace(library=library))
    shops = [
        shop_for(tmp_path, Options(thorough=True, verify_s=seconds)) for seconds in (None, 3600.0)
    ]
    keys = [
        parts_of(monkeypatch, partial(verify.verify, shop, setup, plain, library, None))
        for shop in shops
    ]
    assert keys[0]["seconds"] != keys[1]["seconds"]


@pytest.mark.parametrize("what", ["ablation", "traces", "tune"])
def test_what_runs_a_command_of_the_training_has_its_program_in_the_key(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, script = shop_for(tmp_path), tmp_path / "load.sh"
    script.write_text("one", encoding="utf-8")
    argv = ("sh", str(script))
    command = Command(kind="command", name="a", role="train", argv=argv, weight=1)
    setup = cast(Setup, SimpleNamespace(programs="", training=(command,)))
    made = SimpleNamespace(receipt=SimpleNamespace(outputs={}))
    plain = cast(Baseline, SimpleNamespace(artifact=made))
    monkeypatch.setattr(ablation, "trained_tasks", lambda: ())
    ways: dict[str, Callable[[], object]] = {
        "ablation": lambda: parts_of(
            monkeypatch, lambda: ablation.ablation(shop, setup, plain, ())
        ),
        "traces": lambda: parts_of(monkeypatch, lambda: traces.training_traces(shop, setup, plain)),
        "tune": lambda: tune.context_of(shop, setup, plain, ()),
    }
    before = ways[what]()
    assert ways[what]() == before
    script.write_text("another", encoding="utf-8")
    assert ways[what]() != before


LATER = ("pipeline.judge", "pipeline.release", "pipeline.report")


@pytest.mark.parametrize("folder", ["build", "bolt", "pgo"])
def test_what_is_built_does_not_depend_on_how_it_is_judged_published_or_told(folder: str) -> None:
    """A word of a report, or a task of the judge, compiled and trained everything again."""
    modules = [file.stem for file in (ROOT / "pipeline/stages" / folder).glob("[a-z]*.py")]
    assert modules
    for module in modules:
        found = closure(ROOT, f"pipeline.stages.{folder}.{module}")
        assert [one for one in found if one.startswith(LATER)] == [], module


@pytest.mark.parametrize(
    "module",
    ["pipeline.stages.proof.ablation", "pipeline.stages.proof.verify", tune.MEASURING],
)
def test_words_about_a_verdict_are_in_no_key(module: str) -> None:
    """A change of the headline judged everything again."""
    found = closure(ROOT, module)
    words = ("headline", "outcome", "advice", "publishing", "decided")
    told = {f"pipeline.judge.{name}" for name in words}
    assert "pipeline.judge.summarise" in found and not told & set(found)


def test_what_was_measured_is_of_this_machine() -> None:
    here = {"processor": machine().described, "kernel": platform.release()}
    assert workloads.machine_key() == here


def test_two_models_of_one_kind_have_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that the table does not know are one kind: `intel` or `amd`."""
    found = []
    for model in ("250", "251"):
        fields = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": model}
        one = processor._x86(fields)
        monkeypatch.setattr(workloads, "machine", lambda one=one: one)
        found.append((one.name, workloads.machine_key()))
    (kind, first), (same, second) = found
    assert kind == same and first != second


def test_random_layouts_are_counted_again_on_another_machine(tmp_path: Path) -> None:
    """The simulated cache is as large as this machine's; their key did not know that."""
    shop = MagicMock(tree=Tree(tmp_path), tool_keys={})
    shop.do.side_effect = StageDue
    with pytest.raises(StageDue):
        layout_null.layout_null(shop, MagicMock(), MagicMock(), MagicMock(), MagicMock())
    stage, parts = shop.do.call_args.args[:2]
    assert (stage, parts["machine"]) == ("layout-null", workloads.machine_key())


ASKED = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from pipeline.core.closure import closure
print(*closure(Path({place!r}), "pipeline.a"))
"""


def test_what_files_import_is_remembered_by_their_bytes(tmp_path: Path) -> None:
    write(tmp_path, a="from pipeline import b\n", b="", c="")
    asked = ASKED.format(root=str(ROOT), place=str(tmp_path))

    def found() -> str:
        command = [sys.executable, "-P", "-c", asked]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert found() == "pipeline pipeline.a pipeline.b\n"
    memory = tmp_path / "build" / "pipeline" / "imports.json"
    before = memory.stat().st_ino, memory.stat().st_mtime_ns
    assert found() == "pipeline pipeline.a pipeline.b\n"
    assert (memory.stat().st_ino, memory.stat().st_mtime_ns) == before  # nothing new
    write(tmp_path, a="from pipeline import c\n")
    assert found() == "pipeline pipeline.a pipeline.c\n"
    memory.write_text("{", encoding="utf-8")
    assert found() == "pipeline pipeline.a pipeline.c\n"


def test_a_build_that_computes_nothing_does_not_load_what_computes() -> None:
    asked = (
        "import pipeline.run, pipeline.commands.build, sys; "
        "print(*{'numpy', 'scipy', 'elftools', 'jinja2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "\n", done.stdout + done.stderr


def asked_of(program: Path, memory: Path) -> tuple[str, bool]:
    """Return what is known of a program's version, and whether it was started for that."""
    started: list[Path] = []

    def ask() -> str:
        started.append(program)
        return f"version {len(program.read_bytes())} of {program.name}"

    return Identities(memory).said(program, ask), bool(started)


def test_what_a_tool_says_is_remembered_as_long_as_it_is_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, library, memory = (tmp_path / name for name in ("lld", "libLLVM.so", "tools.json"))
    program.write_bytes(b"\x7fELF one")
    library.write_text("1", encoding="utf-8")
    monkeypatch.setattr(identity, "_own_libraries", lambda _: [library])
    assert asked_of(program, memory) == ("version 8 of lld", True)
    assert asked_of(program, memory) == ("version 8 of lld", False)
    other = tmp_path / "ld.lld"  # the same file, which goes by the name that it is called by
    other.symlink_to(program)
    assert asked_of(other, memory) == ("version 8 of ld.lld", True)
    program.write_bytes(b"\x7fELF three")
    assert asked_of(program, memory) == ("version 10 of lld", True)
    library.write_text("22", encoding="utf-8")
    assert asked_of(program, memory) == ("version 10 of lld", True)
    program.unlink()
    program.write_bytes(b"\x7fELF other")  # as long, at the same place: another file
    assert asked_of(program, memory)[1]


def test_a_script_is_asked_each_time(tmp_path: Path) -> None:
    """What it starts may have changed; valgrind is one on Debian."""
    program = tmp_path / "clang"
    program.write_text("#!/bin/sh\nexec clang-22\n", encoding="utf-8")
    memory = tmp_path / "tools.json"
    assert [asked_of(program, memory)[1] for _ in range(2)] == [True, True]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("raw (redis.profraw)", "raw (redis.profraw), counted by a stage before"),
        ("library", "library, built by a stage before"),
        ("cold", "cold"),
    ],
)
def test_a_part_of_a_key_is_told_in_words(part: str, said: str) -> None:
    assert in_words(part) == said


GATE = {"budget_s": 20.0}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"mode": "quick", "seconds": [61.0, 9.0]}, {"mode": "quick", "seconds": (20.0, 9.0)},
         ["--verify-time (61 s then, 20 s now)"]),
        ({"mode": "quick", "seconds": [20.0, 9.0]}, {"mode": "quick", "seconds": (20.0, 20.0)},
         ["--verify-time (9 s then, 20 s now)"]),
        ({"mode": "quick", "seconds": [20.0]}, {"mode": "default", "seconds": [300.0]},
         ["mode", "the time for timed runs (20 s then, 300 s now)"]),
        ({"gate": GATE, "seconds": 20.0}, {"gate": GATE, "seconds": 61.5},
         ["the time for timed runs (20 s then, 61.5 s now)"]),
        ({"raw": {"raw/kv/25018-1.profraw": "a", "f": "b"}}, {"raw": {"raw/kv/3-1.profraw": "a"}},
         ["raw (3 files), counted by a stage before"]),
        ({"mode": "quick"}, {"mode": "quick", "seconds": [20.0]}, ["seconds"]),
    ],
)  # fmt: skip
def test_what_differs_is_told_by_the_option_and_by_numbers(
    old: dict[str, object], new: dict[str, object], said: list[str]
) -> None:
    assert because(old, new) == said
