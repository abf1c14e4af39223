"""Lines of the sources in heap profiles: of each call, joined by function or told apart."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from test_heap import line_of, profiled, write

from pipeline.commands.heap import heap_command
from pipeline.heap.html import render_page
from pipeline.heap.stacks import Frame, Stack, at_calls, at_functions, without_folders
from pipeline.heap.text import call_tree, folded, top

__all__ = ["profiled"]

SUMS: dict[Stack, float] = {
    (Frame("main", "a.cc:1"), Frame("f", "a.cc:7")): 1.0,
    (Frame("main", "a.cc:2"), Frame("f", "a.cc:8")): 5.0,
    (Frame("main", "a.cc:3"), Frame("g"), Frame("f", "a.cc:9")): 2.0,
}


def rows(shown: str) -> list[str]:
    return [line.rpartition("%")[2].strip() for line in shown.splitlines()]


def test_a_function_is_one_row_with_the_line_that_has_the_most() -> None:
    assert rows(top(SUMS))[1:] == ["f  a.cc:8 and 2 more", "main  a.cc:2 and 2 more", "g"]
    assert rows(call_tree(SUMS)) == [
        "all",
        "main  a.cc:2 and 2 more",
        "f  a.cc:8 and 1 more",
        "g",
        "f  a.cc:9",
    ]


def test_lines_are_rows_if_asked() -> None:
    assert rows(top(SUMS, lines=True))[1:4] == ["f  a.cc:8", "f  a.cc:9", "f  a.cc:7"]
    assert rows(call_tree(SUMS, lines=True)) == [
        *("all", "main  a.cc:2", "f  a.cc:8", "main  a.cc:3", "g", "f  a.cc:9"),
        *("main  a.cc:1", "f  a.cc:7"),
    ]


def test_lines_that_moved_between_two_builds_are_no_growth() -> None:
    moved: dict[Stack, float] = {(Frame("f", "a.cc:1"),): 4.0, (Frame("f", "a.cc:2"),): -4.0}
    assert at_calls(moved) == at_functions(moved) == {}


def test_a_line_is_the_same_in_whichever_folder_it_was_compiled() -> None:
    first, later = (Frame("f", "a.cc:1", folder) for folder in ("/build/1", "/build/2"))
    assert without_folders({(first,): -4.0, (later,): 4.0}) == {}


def test_other_tools_get_functions_alone_unless_asked() -> None:
    assert folded(SUMS) == "main;f 6\nmain;g;f 2\n"
    assert "main a.cc:3;g;f a.cc:9 2\n" in folded(SUMS, lines=True)


def titles(page: str) -> list[str]:
    graph = ElementTree.fromstring(page[page.index("<svg") : page.rindex("</svg>") + 6])
    return [title.text or "" for title in graph.iter("title")]


def test_the_page_has_lines_in_its_table_and_its_tooltips() -> None:
    page = render_page("p", "live memory", [], SUMS)
    assert "main: 8 B, 100.0 %; a.cc:2 and 2 more" in titles(page)
    assert '<td class="words" title="f; a.cc:8 and 2 more">f  a.cc:8 and 2 more</td>' in page
    page = render_page("p", "live memory", [], SUMS, lines=True)
    assert '<td class="words" title="f; a.cc:8">f  a.cc:8</td>' in page


@pytest.mark.parametrize("tool", ["llvm-addr2line", "addr2line"])
def test_lines_are_those_of_the_calls(
    profiled: Path, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not here")
    monkeypatch.setattr("pipeline.heap.symbols._tool", lambda: Path(found))
    path = tmp_path / "a.heap"
    write(profiled, path, "1: 1000000 [1: 1000000]", "2: 4000000 [3: 6000000]")
    shown = CliRunner().invoke(heap_command, [str(path), "--lines"], catch_exceptions=False).output
    places = dict(re.findall(r"(\w+)  profiled\.c:(\d+)$", shown, re.M))
    assert places["leaks"] == str(line_of("leaf("))
    assert places["keeps"] == str(line_of("leaf(", 2))
    calls = {int(n) for n in re.findall(r"main  profiled\.c:(\d+)$", shown, re.M)}
    assert calls == {line_of("leaks();"), line_of("keeps();")}


def test_without_debug_information_there_are_names_alone(profiled: Path, tmp_path: Path) -> None:
    bare, path = tmp_path / "bare", tmp_path / "a.heap"
    subprocess.run(["strip", "--strip-debug", "-o", bare, profiled], check=True)
    write(bare, path, "1: 1000000 [1: 1000000]", "0: 0 [0: 0]")
    shown = CliRunner().invoke(heap_command, [str(path), "--lines"], catch_exceptions=False).output
    assert rows(shown)[-2:] == ["leaks", "main"]


def test_growth_names_the_samples_that_it_stands_on(profiled: Path, tmp_path: Path) -> None:
    first, later, page = tmp_path / "1.heap", tmp_path / "2.heap", tmp_path / "page.html"
    write(profiled, first, "1: 1000000 [1: 1000000]", "5: 4000000 [6: 6000000]")
    write(profiled, later, "9: 9000000 [9: 9000000]", "2: 1600000 [8: 8000000]")
    asked = [str(first), str(later)]
    said = CliRunner().invoke(heap_command, asked, catch_exceptions=False).output
    words = "11 samples: 8 more, 3 fewer"
    assert f"the growth has       {words}\n" in said
    assert "9 live, of 9 since the start, in the later file\n" in said
    assert max(map(len, said.splitlines())) <= 80
    CliRunner().invoke(heap_command, [*asked, "--html", str(page)], catch_exceptions=False)
    assert words in page.read_text(encoding="utf-8")
    said = CliRunner().invoke(heap_command, [*asked, "--what", "allocated"]).output
    assert "10 samples: 10 more, 0 fewer" in said
