"""A geometry for one kind of processor adds to what holds for all; one row changes one class."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pipeline import run
from pipeline.core.architecture import X86_64
from pipeline.core.errors import ProfileError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.processor import ANY, Processor
from pipeline.geometry.code import alignment, compile_flags
from pipeline.geometry.difference import differences
from pipeline.geometry.known_files import unread_folders
from pipeline.geometry.load import common_geometry, kind_for, load_geometry, parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import render_toml, write_default, write_toml
from pipeline.stages.build import configure
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.publish import elsewhere
from pipeline.stages.publish.elsewhere import ordered

DEFAULT = default_geometry(Tree.here())
HEAD = "schema_version = 1\n"
DEEP = f"{HEAD}[constants.small_depth]\nvalue = %d\nwhy = 'x'\n"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree with the default tables and no layouts."""
    here = Tree.here().root
    shutil.copytree(here / "allocator/base", tmp_path / "allocator/base")
    (tmp_path / "layouts" / "mine").mkdir(parents=True)
    return Tree(tmp_path)


def found(tree: Tree, cpu: str) -> Geometry:
    geometry = load_geometry(tree, "mine", cpu)
    assert geometry is not None
    return geometry


def test_what_is_for_one_kind_adds_to_what_holds_for_all(tree: Tree) -> None:
    tree.geometry("mine").write_text(DEEP % 48 + "[constants.warm_slabs]\nvalue = 2\nwhy = 'y'\n")
    tree.geometry("mine", "amd-zen3").write_text(DEEP % 64)
    zen3 = found(tree, "amd-zen3")
    assert (zen3.value("small_depth"), zen3.value("warm_slabs")) == (64, 2)
    assert zen3.processor == "amd-zen3"
    for other in ("amd-zen4", "intel-icelake", ANY):
        assert found(tree, other).value("small_depth") == 48
        assert found(tree, other).processor == ANY


def test_the_nearest_file_is_taken_its_own_or_the_vendors(tree: Tree) -> None:
    tree.geometry("mine", "amd").write_text(DEEP % 24)
    tree.geometry("mine", "amd-zen3").write_text(DEEP % 64)
    assert found(tree, "amd-zen3").value("small_depth") == 64
    assert found(tree, "amd-zen4").value("small_depth") == 24
    assert found(tree, "amd-zen4").processor == "amd"
    assert load_geometry(tree, "mine", "intel-icelake") is None
    assert [kind_for(tree, "mine", cpu) for cpu in ("amd-zen3", "amd-zen4", "intel", ANY)] == [
        "amd-zen3",
        "amd",
        None,
        None,
    ]


def test_a_file_that_adds_nothing_leaves_a_library_for_all(tree: Tree) -> None:
    tree.geometry("mine").write_text(DEEP % 48)
    path = tree.geometry("mine", "amd-zen3")
    write_default("nothing pays", {"a": "speed +0.1 %"}, path, "amd-zen3")
    assert 'processor = "amd-zen3"' in path.read_text()
    assert found(tree, "amd-zen3").processor == ANY


@pytest.mark.parametrize(
    ("name", "text", "said", "hint"),
    [
        (
            "geometry-amd-zne3.toml",
            HEAD,
            "where CPU is one of intel-nehalem, ",
            "did you mean geometry-amd-zen3.toml?",
        ),
        ("geometry.tml", HEAD, "no build reads that name", "did you mean geometry.toml?"),
        ("Geometry.toml", HEAD, "no build reads that name", "did you mean geometry.toml?"),
        (
            "geometry_amd-zen4.toml",
            HEAD,
            "hot.txt, cold.txt, geometry.toml, and geometry-CPU.toml",
            "did you mean geometry-amd-zen4.toml?",
        ),
        (
            "geometry-amd-zen5x.toml",
            HEAD,
            "no build reads that name",
            "did you mean geometry-amd-zen5.toml?",
        ),
        ("sites.tml", HEAD, "no build reads that name", "rename it, or move it away"),
        (
            "geometry-amd-zen3.toml",
            f"{HEAD}processor = 'amd-zen4'\n",
            "processor: is 'amd-zen4'; must be 'amd-zen3', like the file",
            None,
        ),
        (
            "geometry.toml",
            f"{HEAD}processor = 'amd-zen3'\n",
            "processor: is 'amd-zen3', but this file holds for all",
            "what is for one kind belongs to geometry-amd-zen3.toml",
        ),
    ],
)
def test_files_in_the_wrong_place_are_refused(
    name: str, text: str, said: str, hint: str | None, tree: Tree
) -> None:
    (tree.layout("mine") / name).write_text(text)
    with pytest.raises(ProfileError) as caught:
        load_geometry(tree, "mine", "amd-zen3")
    assert said in caught.value.message
    assert str(tree.layout("mine") / name) in caught.value.message
    assert caught.value.exit_code == ExitCode.PROFILE
    assert hint is None or caught.value.hint == hint


def test_a_file_beside_the_folders_and_a_folder_for_a_file_are_refused(tree: Tree) -> None:
    stray = tree.root / "layouts" / "geometry.toml"
    stray.write_text(HEAD)
    with pytest.raises(ProfileError) as caught:
        load_geometry(tree, "mine", "amd-zen3")
    assert str(stray) in caught.value.message
    assert caught.value.hint == f"did you mean {tree.geometry('mine')}?"
    stray.unlink()
    (tree.layout("mine") / "amd-zen4").mkdir()
    with pytest.raises(ProfileError, match="amd-zen4: no build reads that name"):
        load_geometry(tree, "mine", "amd-zen3")


def test_what_editors_leave_behind_is_let_be(tree: Tree) -> None:
    for name in (".geometry.toml.swp", "geometry.toml~", "hot.txt.orig", "README.md"):
        (tree.layout("mine") / name).write_text("")
    assert load_geometry(tree, "mine", "amd-zen3") is None


def test_a_geometry_of_no_profile_is_found(tree: Tree) -> None:
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "mine.toml").touch()
    tree.geometry("mine").write_text(HEAD)
    tree.layout("mien").mkdir()
    assert unread_folders(tree) == []
    tree.geometry("mien", "amd-zen4").write_text(HEAD)
    assert unread_folders(tree) == [tree.layout("mien")]


# ---- one row changes one class -------------------------------------------------------------------


def parse(folder: Path, text: str, default: Geometry = DEFAULT) -> Geometry:
    path = folder / "geometry.toml"
    path.write_text(text, encoding="utf-8")
    return parse_geometry(path, default)


def test_halving_the_depth_of_one_magazine_is_one_line(tmp_path: Path) -> None:
    line = "class.512 = { depth = 64, why = 'half as many are ever free' }"
    geometry = parse(tmp_path, f"{HEAD}{line}\n")
    changed = [
        (old.values, new.values)
        for old, new in zip(DEFAULT.classes, geometry.classes, strict=True)
        if old.values != new.values
    ]
    assert changed == [((512, 1, 128), (512, 1, 64))]
    rows = differences(geometry, DEFAULT)
    assert [(row.what, row.before, row.after, row.worth) for row in rows] == [
        ("class 512", "depth 128", "depth 64", "not measured")
    ]


def test_one_row_names_all_classes_and_a_row_of_one_adds_to_it(tmp_path: Path) -> None:
    lines = (
        "class.all = { depth = 48, why = 'a' }\nclass.64 = { pages = 2, why = 'b' }\n"
        "class.512 = { depth = 64, why = 'c' }\n"
    )
    geometry = parse(tmp_path, HEAD + lines)
    own = {64: (2, 48), 512: (1, 64)}
    expected = [(one.size, *own.get(one.size, (one.pages, 48))) for one in DEFAULT.classes]
    assert [one.values for one in geometry.classes] == expected
    why = {one.size: one.why for one in geometry.classes}
    assert (why[16], why[64], why[512]) == ("a", "b", "c")
    again = parse(tmp_path, render_toml(geometry, DEFAULT))
    assert again.digest == geometry.digest


def test_rows_are_applied_to_the_table_of_the_file(tmp_path: Path) -> None:
    table = "[classes]\nwhy = 'x'\ntable = [{ size = 16 }, { size = 65536 }]\n"
    geometry = parse(tmp_path, f"{HEAD}class.65536 = {{ pages = 8, why = 'y' }}\n{table}")
    assert [(one.size, one.pages) for one in geometry.classes] == [(16, 1), (65536, 8)]
    assert geometry.classes_why == "x"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("class.500 = { depth = 4, why = 'x' }", "there is no class of 500 bytes; the "
         "nearest ones have 480 and 512"),
        ("class.512 = { depth = 4 }", "class, 512, why: is missing"),
        ("class.every = { depth = 4, why = 'x' }", "must be the bytes of a size class, or all"),
        ("class.all = { depth = 1, why = 'x' }", "class, all, depth: is 1; must be a number of "
         "blocks from 2 to 1024"),
        ("class.512 = { depth = 1, why = 'x' }", "class, 512, depth: is 1; must be a number of "
         "blocks from 2 to 1024"),
        ("class.512 = { deep = 1, why = 'x' }", "deep: unknown key; did you mean depth?"),
        ("class.big = { depth = 4, why = 'x' }", "class, big"),
        ("code.march = { value = 'native', why = 'x' }", "march is 'native'; it may be x86-64, "),
        ("code.arch = { value = 'x86-64', why = 'x' }", "code, arch: unknown setting; known: "),
        ("code.align_functions = { value = 48, why = 'x' }", "align_functions is '48'; it may be"),
        ("code.march = { value = 'x86-64-v3' }", "code, march, why: is missing"),
    ],
)  # fmt: skip
def test_mistakes_in_rows_and_settings_are_named(line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError) as caught:
        parse(tmp_path, f"{HEAD}{line}\n")
    assert f"{tmp_path}/geometry.toml: " in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint


def test_a_few_changed_classes_are_written_as_rows_and_read_back(tmp_path: Path) -> None:
    def half(geometry: Geometry) -> Geometry:
        rows = [
            one.model_copy(update={"depth": 8}) if one.size > 60000 else one
            for one in geometry.classes
        ]
        return geometry.with_classes(rows, "two words", "+1 %")

    common = DEFAULT.with_value("warm_slabs", 4, "for all", "+1 %")
    geometry = half(common).for_processor("amd-zen3")
    text = render_toml(geometry, common)
    assert 'processor = "amd-zen3"' in text
    assert "table" not in text.split("[class]")[1]
    assert "warm_slabs" not in text, "what holds for all stands in its own file"
    assert text.count("two words") == 1
    path = tmp_path / "geometry-amd-zen3.toml"
    write_toml(geometry, common, path)
    again = parse_geometry(path, common)
    assert (again.digest, again.processor) == (geometry.digest, "amd-zen3")


# ---- how the code is compiled --------------------------------------------------------------------


def test_settings_of_the_code_become_flags_and_decide_about_the_library(tmp_path: Path) -> None:
    text = "code.march = { value = 'x86-64-v3', why = 'x', worth = '+1 %' }\n"
    geometry = parse(tmp_path, f"{HEAD}{text}code.align_functions = {{ value = 32, why = 'y' }}\n")
    assert compile_flags(geometry) == ["-march=x86-64-v3", "-falign-functions=32"]
    assert alignment(geometry) == 32
    assert geometry.digest != DEFAULT.digest
    assert [row.what for row in differences(geometry, DEFAULT)] == ["march", "align_functions"]
    assert parse(tmp_path, render_toml(geometry, DEFAULT)) == geometry
    assert compile_flags(DEFAULT) == compile_flags(None) == []
    assert alignment(None) == 64
    back = geometry.with_setting("march", "x86-64").with_setting("align_functions", "64")
    assert back.digest == DEFAULT.digest


def test_code_that_this_machine_cannot_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Processor("intel-nehalem", "Old", X86_64.levels["x86-64-v2"], X86_64)
    monkeypatch.setattr(configure, "machine", lambda: old)
    configure.require_level(None)
    configure.require_level(DEFAULT.with_setting("march", "x86-64-v2"))
    with pytest.raises(ProfileError, match=r"asks for x86-64-v3.*intel-nehalem.* has no abm, avx,"):
        configure.require_level(DEFAULT.with_setting("march", "x86-64-v3"))


def test_what_was_chosen_on_one_processor_is_not_what_mixed_has_for_all() -> None:
    here = Tree.here()
    common, special = common_geometry(here, "mixed"), load_geometry(here, "mixed", "amd-zen3")
    other = load_geometry(here, "mixed", "amd-zen1") or common
    assert special is not None and special.digest != common.digest == other.digest


# ---- all kinds that this machine can judge -------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "made", "named"),
    [
        ([], [], []),
        (["amd-zen4"], ["amd-zen4"], []),
        (["amd"], ["amd"], []),
        (["amd", "amd-zen4", "intel"], ["amd-zen4"], ["amd", "intel"]),
        (["amd-zen3"], [], ["amd-zen3"]),
    ],
)
def test_a_machine_makes_what_it_can_judge_and_names_the_rest(
    files: list[str],
    made: list[str],
    named: list[str],
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (run, elsewhere):
        here = Processor("amd-zen4", "a test", frozenset())
        monkeypatch.setattr(module, "machine", lambda here=here: here)
    for kind in files:
        tree.geometry("mine", kind).write_text(DEEP % 64)
    told: list[str] = []
    shop = SimpleNamespace(
        tree=tree,
        profile=SimpleNamespace(name="mine"),
        console=SimpleNamespace(notice=told.append),
        options=Options(cpu="all"),
    )
    assert run.kinds(cast(Workshop, shop)) == (made, named)
    with ordered(cast(Workshop, shop), named) as collect:
        assert collect() == ()
    said = "not made here, as this machine has amd-zen4 and cannot judge them: "
    others = f"{', '.join(named)}; workers of a --scheduler on such machines can"
    assert told == ([said + others] if named else [])
