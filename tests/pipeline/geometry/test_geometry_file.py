"""geometry.toml: what is written is read back, and mistakes are named with file and key."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from geometry_support import strange

from pipeline.core.errors import ProfileError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.processor import ANY
from pipeline.geometry.difference import differences
from pipeline.geometry.load import common_geometry, load_geometry, parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.page import constants_table
from pipeline.geometry.rules import usual_class
from pipeline.geometry.tables import default_geometry, generate, read_classes, read_constants
from pipeline.geometry.write import render_toml, write_default, write_toml
from pipeline.tune.moves import KINDS

TREE = Tree.here()
DEFAULT = default_geometry(TREE)
HEAD = "schema_version = 1\n"
ROWS = "why = 'x'\ntable = [{ size = 16 }, { size = 65536 }%s]"


def parse(folder: Path, text: str) -> Geometry:
    path = folder / "geometry.toml"
    path.write_text(text, encoding="utf-8")
    return parse_geometry(path, DEFAULT)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "geometry.toml"
    row = usual_class(48).model_copy(
        update={"depth": 99, "why": 'a "quote" \\ and ä', "worth": "+1 %"}
    )
    geometry = strange(DEFAULT)
    classes = [geometry.classes[0], row, *geometry.classes[2:]]
    geometry = geometry.with_classes(classes, geometry.classes_why, geometry.classes_worth)
    write_toml(geometry, DEFAULT, path)
    assert parse_geometry(path, DEFAULT) == geometry


def test_words_that_several_classes_share_are_written_once(tmp_path: Path) -> None:
    words: dict[str, object] = {"why": "they are rare", "worth": "-1 % memory"}
    words |= {"pages": 8}
    rows = [one.model_copy(update=words if one.size > 40000 else {}) for one in DEFAULT.classes]
    text = render_toml(DEFAULT.with_classes(rows, "whole pages"), DEFAULT)
    assert text.count("they are rare") == text.count("-1 % memory") == 1
    found = parse(tmp_path, text)
    assert [one.why for one in found.classes if one.why] == ["they are rare", *["as 40960"] * 6]
    assert {one.worth for one in found.classes} == {"", "-1 % memory"}
    assert found.digest == DEFAULT.with_classes(rows).digest


def test_the_default_writes_no_value(tmp_path: Path) -> None:
    text = render_toml(DEFAULT, DEFAULT)
    assert parse(tmp_path, text) == DEFAULT
    assert "value" not in text.split(HEAD)[1]
    assert differences(DEFAULT, DEFAULT) == ()


def test_what_is_left_out_is_the_default(tmp_path: Path) -> None:
    text = f"{HEAD}[constants.small_depth]\nvalue = 64\nwhy = 'many sizes'\n"
    geometry = parse(tmp_path, text)
    assert geometry.value("small_depth") == 64
    assert geometry.constant("small_depth").worth == "not measured"
    assert geometry.with_value("small_depth", 32) == DEFAULT


def test_a_row_of_a_size_alone_has_what_is_usual_for_it(tmp_path: Path) -> None:
    text = f"{HEAD}[constants.page_shift]\nvalue = 17\nwhy = 'x'\n[classes]\nwhy = 'x'\n"
    text += "table = [{ size = 32 }, { size = 6656, depth = 3 }, { size = 65536 }]"
    geometry = parse(tmp_path, text)
    assert [one.values for one in geometry.classes] == [
        (32, 1, 1024),
        (6656, 1, 3),
        (65536, 2, 4),
    ]


def test_a_profile_without_a_file_has_no_geometry(tmp_path: Path) -> None:
    shutil.copytree(TREE.root / "allocator/base", tmp_path / "allocator/base")
    assert load_geometry(Tree(tmp_path), "any") is None


@pytest.mark.parametrize("path", sorted((TREE.root / "layouts").glob("*/geometry*.toml")), ids=str)
def test_geometries_that_ship_are_legal_and_measured(path: Path) -> None:
    profile = path.parent.name
    assert (TREE.profiles / f"{profile}.toml").is_file()
    common = common_geometry(TREE, profile)
    kind = path.stem.removeprefix("geometry").removeprefix("-")
    before = common if kind else DEFAULT
    geometry = parse_geometry(path, before)
    assert geometry.processor == (kind or ANY)
    rows = differences(geometry, before)
    for row in rows:
        assert row.why
        assert re.search(r"\d %", row.worth), f"{row.what}: say in `worth` what was measured"
    if not rows:  # then a search says what it has tried
        worth = tomllib.loads(path.read_text(encoding="utf-8"))["search"]["worth"]
        assert len(worth) >= len(KINDS)
        assert all(re.search(r"\d %", text) for text in worth.values())


def test_a_file_that_changes_nothing_is_the_default(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    shutil.copytree(TREE.root / "allocator/base", tmp_path / "allocator/base")
    write_default("none of the 2 changes pays", {"depth: 32": "speed +0.1 %"}, tree.geometry("any"))
    assert load_geometry(tree, "any") is None
    write_toml(strange(DEFAULT), DEFAULT, tree.geometry("any"))
    assert load_geometry(tree, "any") == strange(DEFAULT)


def test_words_do_not_change_the_digest() -> None:
    said = DEFAULT.with_value("small_depth", 32, "why", "worth")
    assert said.digest == DEFAULT.digest
    assert said.with_value("small_depth", 17).digest != DEFAULT.digest


def test_generated_tables_are_those_of_the_geometry(tmp_path: Path) -> None:
    geometry = strange(DEFAULT)
    generate(geometry, tmp_path)
    assert read_classes(tmp_path / "classes.def") == geometry.classes
    values = {one.name: one.value for one in read_constants(tmp_path / "constants.def")}
    assert values == {one.name: one.value for one in geometry.constants}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "schema_version: is missing"),
        ("schema_version = 2", "schema_version: is 2; Input should be 1"),
        (
            HEAD + "[constants.small_dept]\nvalue = 3\nwhy = 'x'",
            "small_dept: unknown constant; known: ",
        ),
        (HEAD + "[constants.small_depth]\nvalue = 32", "constants, small_depth, why: is missing"),
        (HEAD + "[constants.small_depth]\nvalue = 32\nwhy = ' '", "small_depth, why: is ' '"),
        (HEAD + "[constants.small_depth]\nvalue = 'x'\nwhy = 'x'", "small_depth, value: is 'x'"),
        (
            HEAD + "[constants.small_depth]\nvalue = 1\nwhy = 'x'",
            "small_depth is 1; it must be from 2",
        ),
        (
            HEAD + "[constants.page_shift]\nvalue = -1\nwhy = 'x'\n[classes]\n" + ROWS % "",
            "page_shift is -1",
        ),
        (HEAD + "[constant]\nx = 1", "constant: unknown key"),
        (HEAD + "[classes]\nwhy = 'x'", "classes, table: is missing"),
        (HEAD + "[classes]\nwhy = 'x'\ntable = []", "classes, table"),
        (
            HEAD + "[classes]\n" + ROWS % ", { depth = 3 }",
            "classes, table, number 3, size: is missing",
        ),
        (
            HEAD + "[classes]\n" + ROWS % ", { size = 3, deep = 3 }",
            "table, number 3, deep: unknown key",
        ),
        (HEAD + "[classes]\n" + ROWS % ", { size = 0 }", "table, number 3, size: is 0"),
        (
            HEAD + "[classes]\n" + ROWS % ", { size = 3, depth = 'FAST' }",
            "number 3, depth: is 'FAST'",
        ),
        (
            HEAD + "[classes]\n" + ROWS % ", { size = 40 }",
            "class 3 (40 bytes): the size must be a multiple",
        ),
        (HEAD + "[classes", "not valid TOML"),
    ],
)
def test_mistakes_are_named_with_file_and_key(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError) as caught:
        parse(tmp_path, text)
    assert f"{tmp_path}/geometry.toml: " in caught.value.message
    assert said in caught.value.message
    assert caught.value.exit_code == ExitCode.PROFILE
    assert caught.value.hint


def test_a_fault_of_the_default_table_does_not_blame_the_file_of_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "geometry-amd-zen3.toml"
    path.write_text("schema_version = 1\n", encoding="utf-8")
    rows = list(DEFAULT.classes)
    broken = DEFAULT.model_copy(update={"classes": (*rows[1:], rows[0])})
    with pytest.raises(ProfileError, match=r"classes\.def") as caught:
        parse_geometry(path, broken)
    assert path.name not in caught.value.message


def test_the_page_has_the_table_and_an_example_that_is_legal(tmp_path: Path) -> None:
    page = (TREE.root / "docs" / "geometry.md").read_text(encoding="utf-8")
    assert constants_table(DEFAULT) in page
    example = page.split("## The file\n\n")[1].split("\n| key")[0]
    geometry = parse(tmp_path, dedent(example))
    assert geometry.value("small_depth") == 64
    assert [one.depth for one in geometry.classes] == [1024, 512, 151, 4]


def test_differences_name_each_value_and_each_class_that_has_words() -> None:
    told = usual_class(48).model_copy(update={"depth": 99, "why": "nodes"})
    new = usual_class(432).model_copy(update={"why": "buffers", "worth": "RSS -2 %"})
    others = [one for one in DEFAULT.classes if one.size not in (48, 416, 448)]
    classes = sorted([told, new, *others], key=lambda one: one.size)
    geometry = DEFAULT.with_classes(classes, "fewer", "+1 %").with_value("warm_slabs", 2, "w", "v")
    rows = [tuple(row.model_dump().values()) for row in differences(geometry, DEFAULT)]
    briefs = [row.brief for row in differences(geometry, DEFAULT)]
    assert briefs[0] == "warm_slabs (1 -> 2)"
    assert briefs[2:] == ["class 48 (depth 1024 -> depth 99)", "class 432 (pages 1, depth 151)"]
    usual = len(DEFAULT.classes)
    assert rows == [
        ("warm_slabs", "1", "2", "w", "v"),
        (
            "size classes",
            f"{usual}",
            f"{usual - 1}: class 432 new; classes 416, 448 gone; class 48 changed",
            "fewer",
            "+1 %",
        ),
        ("class 48", "depth 1024", "depth 99", "nodes", "+1 %"),
        ("class 432", "", "pages 1, depth 151", "buffers", "RSS -2 %"),
    ]
