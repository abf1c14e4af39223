"""``pipeline heap``: reading, naming, sums, and what the command shows."""

from __future__ import annotations

import gzip
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from pipeline.commands.heap import NO_SAMPLES, NOTHING_GREW
from pipeline.core.errors import DataError
from pipeline.heap.html import boxes
from pipeline.heap.pprof import encode
from pipeline.heap.read import MOST_CALLS, estimate, read
from pipeline.heap.stacks import Frame, Stack
from pipeline.heap.text import call_tree, folded, top
from pipeline.heap.tree import What, by_stack, functions, growth, tree

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
HEAD = "heap profile: 3: 3000 [5: 5000] @ heap_v2/1024\n# lost samples: 2\n"
SITES = "1: 1048576 [2: 2097152] @ 0x10 0x20\n1: 1048576 [1: 1048576] @ 0x30 0x20 0x20\n"
TAIL = """
MAPPED_LIBRARIES:
10-20 r--p 00000000 00:00 0 /a
20-40 r-xp 00001000 fe:01 7 /a b (deleted)
"""
NAMES = {
    0x10: (Frame("inner", "a.cc:7"), Frame("caller", "a.cc:9")),
    0x20: (Frame("main"),),
    0x30: (Frame("other"),),
}


def stack(*names: str) -> Stack:
    """Return the frames of functions, outermost first, whose lines nobody knows."""
    return tuple(map(Frame, names))


def pipeline(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``pipeline`` as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments], cwd=ROOT, capture_output=True, text=True
    )


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "a.heap"
    path.write_text(HEAD + SITES + TAIL, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("clang") or "clang-22"
    program = tmp_path_factory.mktemp("heap") / "profiled"
    source = HERE / "profiled.c"
    subprocess.run([compiler, "-O1", "-g", "-w", "-o", program, source], check=True)
    return program


def line_of(words: str, which: int = 1) -> int:
    """Return the number of the line that begins with these words, of those that are calls."""
    lines = (HERE / "profiled.c").read_text(encoding="utf-8").splitlines()
    return [n for n, line in enumerate(lines, 1) if line.strip().startswith(words)][which - 1]


def test_stacks_that_were_cut_are_told(written: Path, tmp_path: Path) -> None:
    """Their outermost call stands as a root in the graph, as if somebody had started there."""
    header = (ROOT / "allocator/sampling/stack.h").read_text(encoding="utf-8")
    assert f"HAK_STACK_MOST = {MOST_CALLS} " in header
    deep = tmp_path / "deep.heap"
    site = f"1: 1048576 [2: 1048576] @{' 0x10' * MOST_CALLS}\n"
    deep.write_text(HEAD + SITES + site + TAIL, encoding="utf-8")
    assert read(deep).cut_samples == 2
    assert "stacks cut           2: they begin in mid-program" in pipeline("heap", deep).stdout
    assert "stacks cut" not in pipeline("heap", written).stdout


def test_readers_are_told_how_far_a_row_may_be_off(written: Path, tmp_path: Path) -> None:
    """With a sample in each KiB a row of 100 KiB has 100 samples, and so an error of 10 %."""
    page = tmp_path / "out.html"
    pipeline("heap", written, "--html", page)
    shown = [pipeline("heap", written, "--show", show).stdout for show in ("top", "tree")]
    for text in (*shown, page.read_text(encoding="utf-8")):
        assert "about 1 / sqrt(samples): 10 % at 100 KiB" in text, text


def write(program: Path, path: Path, leaks: str, keeps: str) -> None:
    subprocess.run([program, path, leaks, keeps], check=True)


def test_a_profile_is_read(written: Path) -> None:
    profile = read(written)
    assert (profile.rate, profile.samples, profile.live_samples, profile.lost) == (1024, 5, 3, 2)
    assert [site.stack for site in profile.sites] == [(0x10, 0x20), (0x30, 0x20, 0x20)]
    assert [round(site.live) for site in profile.sites] == [1048576, 1048576]
    (mapping,) = profile.mappings  # where code lies, alone
    assert (mapping.start, mapping.end, mapping.offset) == (0x20, 0x40, 0x1000)
    assert mapping.file == Path("/a b")


@pytest.mark.parametrize("size", [16, 1000, 4096, 100_000])
def test_estimates_come_near_the_truth(size: int) -> None:
    """Blocks are drawn as the library draws them; six standard errors, and a fixed seed."""
    rate, blocks, random = 4096, 20_000, Random(7)
    chance = -math.expm1(-size / rate)
    samples = sum(random.random() < chance for _ in range(blocks))
    truth = blocks * size
    error = size * math.sqrt(blocks * chance * (1 - chance)) / chance
    assert abs(estimate(samples, samples * size, rate) - truth) <= 6 * error + 1e-6 * truth


def test_no_sample_stands_for_nothing() -> None:
    assert estimate(0, 0, 1024) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no heap profile"),
        ("heap_v2/524288\n", "is no heap profile"),
        (HEAD.replace("/1024", "/0") + TAIL, "is no heap profile"),
        (HEAD + "1: 2 [3: x] @ 0x1\n" + TAIL, ":3: neither a site"),
        (HEAD + SITES, "ends before its list of mappings"),
        (HEAD.replace("/1024", f"/{'1' * 5000}") + TAIL, "is no heap profile"),
        (HEAD + f"1: 1 [1: {'1' * 400}] @ 0x1\n" + TAIL, ":3: neither a site"),
        (HEAD + f"1: 1 [1: 1] @{' 0x1' * 1000}\n" + TAIL, ":3: a stack of 1,000 calls"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.heap"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        read(path)
    assert words in refused.value.message
    assert refused.value.hint


def test_a_mapping_that_is_a_pipe_by_now_is_not_waited_for(tmp_path: Path) -> None:
    path, pipe = tmp_path / "one.heap", tmp_path / "pipe"
    os.mkfifo(pipe)
    text = f"{HEAD}1: 1 [1: 1] @ 0x1001\n\nMAPPED_LIBRARIES:\n1000-2000 r-xp 0 00:00 1 {pipe}\n"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pipeline", "heap", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert "pipe+0x0" in done.stdout, done


def test_a_mapping_whose_name_is_damaged_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "bad.heap"
    path.write_text(HEAD + SITES + TAIL.replace("/a b", "/a\0b"), encoding="utf-8")
    assert read(path).mappings == ()


def test_sums_by_stack_and_function(written: Path) -> None:
    profile = read(written)
    live = by_stack(profile, NAMES, What.LIVE)
    mebi = 1 << 20
    inner = (Frame("main"), Frame("caller", "a.cc:9"), Frame("inner", "a.cc:7"))
    assert {one: round(value) for one, value in live.items()} == {
        inner: mebi,
        stack("main", "main", "other"): mebi,
    }
    found = {one.frame.name: (round(one.own), round(one.total)) for one in functions(live)}
    assert found["main"] == (0, 2 * mebi)  # it calls itself: once
    assert found["inner"] == (mebi, mebi)
    allocated = by_stack(profile, NAMES, What.ALLOCATED)
    assert round(allocated[inner]) == 2 * mebi


def test_growth_has_what_came_and_what_went() -> None:
    before: dict[Stack, float] = {stack("a"): 4.0, stack("b"): 5.0, stack("c"): 6.0}
    after: dict[Stack, float] = {stack("a"): 7.0, stack("b"): 5.0, stack("d"): 1.0}
    grown = growth(before, after)
    assert grown == {stack("a"): 3.0, stack("c"): -6.0, stack("d"): 1.0}
    assert folded(grown) == "a 3\nd 1\n"
    assert "-6 B" in top(grown)
    assert [line.split()[-1] for line in call_tree(grown).splitlines()] == ["all", "c", "a", "d"]


@pytest.mark.parametrize("show", [top, call_tree])
def test_a_name_without_room_goes_on_below(show: Callable[..., str]) -> None:
    """A terminal of 80 columns broke it at its edge, and continued in the first column."""
    name = "a_function_with_a_long_name::" * 4
    sums: dict[Stack, float] = {stack("main", name): 4.0}
    lines = show(sums, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert "".join(" ".join(lines).split()) == "".join(show(sums).split())


def test_what_shrank_as_a_whole_is_not_shared_out() -> None:
    shrunk = {stack("a"): 3.0, stack("c"): -6.0}
    assert "%" not in top(shrunk) + call_tree(shrunk)


def test_what_cancels_out_is_not_left_out_of_the_tree() -> None:
    pair = {stack("f", "a"): 100.0, stack("f", "b"): -100.0}
    shown = call_tree(pair | {stack("g"): 2.0, stack("h", "x"): 0.1})
    assert [line.split()[-1] for line in shown.splitlines()][:4] == ["all", "g", "f", "a"]
    assert "calls below 0.5% of all: 1" in shown


def test_boxes_lie_within_their_callers() -> None:
    sums = {stack("m", "a", "x"): 30.0, stack("m", "a"): 10.0, stack("m", "b"): 60.0}
    sums[stack("t")] = 1e-9
    found = {b.title.split(":")[0]: b for b in boxes(tree(sums.items()), 100.0, 0.0, 0)}
    assert set(found) == {"all", "m", "a", "b", "x"}
    assert {name: round(box.width) for name, box in found.items()} == {
        **{"all": 1200, "m": 1200},
        **{"a": 480, "b": 720, "x": 360},
    }
    assert found["b"].left == 0 and round(found["a"].left) == round(found["x"].left) == 720
    assert found["all"].top < found["m"].top < found["a"].top < found["x"].top


def test_functions_of_a_real_program_are_named(profiled: Path, tmp_path: Path) -> None:
    """It is position independent: its addresses are others in each run, and its names the same."""
    first, later = tmp_path / "1.heap", tmp_path / "2.heap"
    write(profiled, first, "1: 1000000 [1: 1000000]", "2: 4000000 [3: 6000000]")
    write(profiled, later, "9: 9000000 [9: 9000000]", "2: 4000000 [7: 14000000]")
    lines = pipeline("heap", first, "--show", "folded").stdout.splitlines()
    assert Counter(lines) == Counter(["main;leaks 1000000", "main;keeps 4000000"])
    grown = pipeline("heap", first, later, "--show", "folded").stdout
    assert grown == "main;leaks 8000000\n"
    grown = pipeline("heap", first, later, "--show", "folded", "--what", "allocated").stdout
    assert grown == "main;keeps 8000000\nmain;leaks 8000000\n"
    shown = pipeline("heap", later).stdout
    assert "12.4 MiB" in shown
    tree_lines = pipeline("heap", later, "--show", "tree").stdout.splitlines()
    shown_calls = [line.split("%")[1].split() for line in tree_lines[-4:]]
    assert shown_calls == [
        ["all"],
        ["main", f"profiled.c:{line_of('leaks();')}", "and", "1", "more"],
        ["leaks", f"profiled.c:{line_of('leaf(')}"],
        ["keeps", f"profiled.c:{line_of('leaf(', 2)}"],
    ]


@pytest.mark.slow
def test_pprof_reads_the_same(profiled: Path, tmp_path: Path) -> None:
    """Estimates and names are those of the pprof that comes with Go."""
    if shutil.which("go") is None:
        pytest.skip("there is no go, which brings pprof")
    path = tmp_path / "a.heap"
    write(profiled, path, "1: 1000 [1: 1000]", "2: 40000 [3: 60000]")
    command = ["go", "tool", "pprof", "-top", "-unit=B", "-sample_index=inuse_space"]
    said = subprocess.run([*command, profiled, path], check=True, capture_output=True, text=True)
    rows = [line.split() for line in said.stdout.splitlines() if line.endswith(("leaks", "keeps"))]
    theirs = {row[5]: int(row[0].removesuffix("B")) for row in rows}
    ours = pipeline("heap", path, "--show", "folded").stdout.splitlines()
    assert {f"main;{name}": value for name, value in theirs.items()} == {
        stack: pytest.approx(int(value), abs=1) for stack, value in map(str.split, ours)
    }


def test_a_file_that_is_gone_leaves_name_and_offset(profiled: Path, tmp_path: Path) -> None:
    copy, path = tmp_path / "gone", tmp_path / "a.heap"
    shutil.copy2(profiled, copy)
    write(copy, path, "1: 1000000 [1: 1000000]", "0: 0 [0: 0]")
    copy.unlink()
    line = pipeline("heap", path, "--show", "folded").stdout
    assert line.startswith("gone+0x") and line.endswith(" 1000000\n")


def test_page_is_self_contained(profiled: Path, tmp_path: Path) -> None:
    path, page = tmp_path / "a.heap", tmp_path / "page.html"
    write(profiled, path, "1: 1000000 [1: 1000000]", "2: 4000000 [3: 6000000]")
    assert pipeline("heap", path, "--html", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    for outside in ("http://", "https://", "src=", "href=", "@import", "<script"):
        assert outside not in text
    graph = ElementTree.fromstring(text[text.index("<svg") : text.rindex("</svg>") + 6])
    titles = [title.text or "" for title in graph.iter("title")]
    assert [title.split(":")[0] for title in titles] == ["all", "main", "keeps", "leaks"]


def test_a_page_of_growth_is_titled_with_both_files(profiled: Path, tmp_path: Path) -> None:
    first, later, page = (tmp_path / name for name in ("a.heap", "b.heap", "page.html"))
    write(profiled, first, "1: 1000000 [1: 1000000]", "2: 4000000 [3: 6000000]")
    write(profiled, later, "1: 1000000 [1: 1000000]", "3: 6000000 [4: 8000000]")
    assert pipeline("heap", first, later, "--html", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>a.heap to b.heap</h1>" in text
    assert "<title>a.heap to b.heap: live memory, growth</title>" in text


def test_names_fit_their_boxes_by_a_wide_font() -> None:
    root = tree([(stack("answer" * 40), 3), (stack("reply" * 40), 1)])
    found = list(boxes(root, root.total, 0.0, 0))
    assert [one.label[-1] for one in found] == ["l", "…", "…"]
    assert all(6.7 * len(one.label) + 3 <= one.width for one in found)


def test_names_are_escaped(tmp_path: Path) -> None:
    path, page = tmp_path / "a.heap", tmp_path / "page.html"
    path.write_text(
        HEAD
        + "1: 1000000 [1: 1000000] @ 0x25\n\nMAPPED_LIBRARIES:\n"
        + "20-40 r-xp 00000000 fe:01 7 /no/<script>\n",
        encoding="utf-8",
    )
    assert pipeline("heap", path, "--html", page).returncode == 0
    assert "<script" not in page.read_text(encoding="utf-8")
    assert "&lt;script&gt;+0x4" in page.read_text(encoding="utf-8")


def test_the_command_refuses_other_files(tmp_path: Path) -> None:
    path = tmp_path / "bad.heap"
    path.write_text("nothing\n", encoding="utf-8")
    done = pipeline("heap", path)
    assert done.returncode != 0
    assert "is no heap profile" in done.stderr and "what to do" in done.stderr


@pytest.mark.skipif(shutil.which("go") is None, reason="go tool pprof is not there")
@pytest.mark.parametrize(("kind", "leaked"), [("inuse_space", 1000000), ("alloc_space", 3000000)])
def test_pprof_reads_what_is_written(
    profiled: Path, tmp_path: Path, kind: str, leaked: int
) -> None:
    heap, out = tmp_path / "1.heap", tmp_path / "1.pb.gz"
    write(profiled, heap, "1: 1000000 [3: 3000000]", "2: 4000000 [3: 6000000]")
    assert pipeline("heap", heap, "--pprof", out).returncode == 0
    command = ["go", "tool", "pprof", "-top", "-unit=B", f"-sample_index={kind}", str(out)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (row,) = (line.split() for line in said.splitlines() if line.endswith("leaks"))
    assert row[0] == f"{leaked}B"


def test_pprof_takes_growth_and_stacks_without_names() -> None:
    plain = gzip.decompress(encode({stack("a"): 5.0}, {stack("a"): -1.0, (): 2.0}, 64))
    assert b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" in plain
    assert b"?" in plain and encode({}, {}, 1) == encode({}, {}, 1)


def test_lost_samples_are_no_small_error(tmp_path: Path) -> None:
    path = tmp_path / "full.heap"
    head = HEAD.replace("heap_v2/1024", "heap_v2/1")
    path.write_text(f"{head}3: 3000 [5: 5000] @ 0x10\n\n{TAIL}")
    said = pipeline("heap", path).stdout
    assert "error of a row       unknown" in said and "samples lost         2: " in said


def test_a_program_that_has_freed_all_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "end.heap"
    path.write_text("heap profile: 0: 0 [ 2: 200] @ heap_v2/64\n0: 0 [2: 200] @ 0x10\n\n" + TAIL)
    done = pipeline("heap", path)
    assert "nothing of what was sampled lived" in done.stderr
    assert "function" not in done.stdout and "0 live, of 2" in done.stdout
    assert pipeline("heap", path, "--what", "allocated").stderr == ""


def test_two_files_alike_are_told_so_in_place_of_an_empty_table(
    written: Path, tmp_path: Path
) -> None:
    done = pipeline("heap", written, written)
    assert done.stderr == f"{NOTHING_GREW}\n" and "function" not in done.stdout
    page = tmp_path / "a.html"
    assert pipeline("heap", written, written, "--html", page).stderr == f"{NOTHING_GREW}\n"
    text = page.read_text(encoding="utf-8")
    assert "there is nothing to show" in text and "<svg" not in text and "<th>" not in text


def test_a_profile_without_a_sample_says_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "none.heap"
    path.write_text("heap profile: 0: 0 [ 0: 0] @ heap_v2/524288\n\n" + TAIL)
    assert pipeline("heap", path).stderr == f"{NO_SAMPLES}\n"


def test_where_each_block_is_a_sample_no_row_is_called_inexact(tmp_path: Path) -> None:
    path = tmp_path / "each.heap"
    path.write_text("heap profile: 1: 100 [ 1: 100] @ heap_v2/1\n1: 100 [1: 100] @ 0x10\n\n" + TAIL)
    said = pipeline("heap", path).stdout
    assert "one sample           for nearly each block\n" in said
    assert "sqrt" not in said and "in 1 bytes" not in said


def test_the_command_tells_live_samples_from_all(written: Path) -> None:
    assert "3 live, of 5 since the start\n" in pipeline("heap", written).stdout


def test_more_than_allowed_has_an_exit_code(written: Path) -> None:
    assert pipeline("heap", written, "--fail-above", str(2 << 20)).returncode == 0
    said = pipeline("heap", written, "--fail-above", str(1 << 20))
    assert said.returncode == 19 and "by itself" in said.stdout
