"""``pipeline sample`` and ``pipeline import``: weights, corrupt files, drift, the next build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from conftest import Sandbox

from pipeline.cli import cli
from pipeline.core.digest import digest_file
from pipeline.core.errors import DataError
from pipeline.core.lock import tree_lock
from pipeline.core.paths import Tree
from pipeline.fleet.counts import edge_overlap, overlap, parse_overlap, total_count
from pipeline.fleet.merging import Given, combine, merge_counts, merge_edges, read_origin
from pipeline.fleet.samples import Shares, parse_samples, require_busy, sample, together
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.find import find_llvm

PROFDATA = find_llvm() / "llvm-profdata"
SOURCE = """
int twice(int x) { return 2 * x; }
int thrice(int x) { return 3 * x; }
int main(int count, char **words) {
    int sum = 0;
    for (int i = 0; i < 1000 * count; i++) sum += words[0][0] == '/' ? twice(i) : thrice(i);
    return sum == 7;
}
"""


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with raw profiles of one program: short.profraw, long.profraw, other.profraw."""
    folder = tmp_path_factory.mktemp("raw")
    (folder / "a.c").write_text(SOURCE, encoding="utf-8")
    clang = find_llvm() / "clang"
    flags: list[str | Path] = [
        "-O1",
        "-fno-inline",
        "-fprofile-generate",
        folder / "a.c",
        "-o",
        folder / "a",
    ]
    subprocess.run([clang, *flags], check=True)
    runs = {"short": [str(folder / "a")], "long": [str(folder / "a"), *"x" * 99], "other": ["a"]}
    for name, words in runs.items():
        env = {"LLVM_PROFILE_FILE": str(folder / f"{name}.profraw")}
        subprocess.run(words, executable=folder / "a", env=env, check=True)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    """A tree without anything in it."""
    yield Tree(tmp_path)


def counts(path: Path) -> dict[str, int]:
    """Return the entry count of each function."""
    text = subprocess.run(
        [PROFDATA, "show", "--all-functions", "--counts", path], capture_output=True, text=True
    ).stdout
    found = re.finditer(r"^  (\w+):\n(?:    .*\n)*?    Block counts: \[(.*)\]$", text, re.M)
    return {match[1]: max(int(n) for n in match[2].split(", ")) for match in found}


def test_weights_are_shares_whatever_the_length_of_a_run(raw: Path, tree: Tree) -> None:
    files = [Given(raw / "long.profraw", 1), Given(raw / "other.profraw", 3)]
    merged = merge_counts(tree, PROFDATA, "mixed", files)
    found = counts(merged.path)
    assert merged.used == 2
    assert total_count(PROFDATA, raw / "long.profraw") > 50 * total_count(
        PROFDATA, raw / "other.profraw"
    )
    assert found["thrice"] / found["twice"] == pytest.approx(3, rel=0.02)


def test_a_corrupt_profile_is_named_and_skipped(raw: Path, tree: Tree) -> None:
    bad, empty = tree.root / "bad.profraw", tree.root / "empty.profraw"
    bad.write_bytes((raw / "long.profraw").read_bytes()[:200])
    empty.write_bytes(b"")
    files = [Given(p) for p in (bad, raw / "long.profraw", empty)]
    merged = merge_counts(tree, PROFDATA, "mixed", files)
    assert merged.used == 1
    assert [str(path) in text for path, text in zip((bad, empty), merged.skipped, strict=True)]
    with pytest.raises(DataError, match="none of the files can be used"):
        merge_counts(tree, PROFDATA, "mixed", [Given(bad)])


def test_the_reason_is_what_is_wrong_not_the_advice_behind_it(tree: Tree) -> None:
    other = tree.root / "other.profraw"
    other.write_bytes(b"\x89PNG" * 100)
    with pytest.raises(DataError) as caught:
        total_count(PROFDATA, other)
    assert caught.value.message == (
        f"{other}: unrecognized instrumentation profile encoding format"
    )


def test_an_imported_profile_is_known_by_its_files_and_weights(raw: Path, tree: Tree) -> None:
    files = [Given(raw / "long.profraw", 1), Given(raw / "other.profraw", 3)]
    merged = merge_counts(tree, PROFDATA, "mixed", files).path
    origin = read_origin(merged)
    assert origin is not None
    told = [(row["file"], row["weight"], row["sha256"]) for row in origin]
    assert told == [(one.path.name, one.weight, digest_file(one.path)) for one in files]
    merged.write_bytes(merged.read_bytes() + b"x")
    assert read_origin(merged) is None


def test_import_waits_for_a_build_that_may_read_what_it_writes(
    raw: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    monkeypatch.setattr("pipeline.profile.load.load_profile", lambda *_: None)
    arguments = ["import", str(raw / "long.profraw")]
    target = tree.imported("mixed") / "hakmem.profdata"
    with ThreadPoolExecutor(1) as pool, tree_lock(tree.state, wait=False, say=print):
        told = threading.Event()
        monkeypatch.setattr(click, "echo", lambda *_, **__: told.set())
        later = pool.submit(CliRunner().invoke, cli, arguments)
        assert told.wait(600)
        there_before = target.exists()
    assert later.result().exit_code == 0
    assert (there_before, target.exists()) == (False, True)


def test_drift_is_held_against_the_published_version(raw: Path, tree: Tree) -> None:
    files = [Given(raw / "long.profraw")]
    assert merge_counts(tree, PROFDATA, "mixed", files).drift is None
    published = tree.dist("mixed") / "current" / "profile"
    published.mkdir(parents=True)
    shutil.copy(tree.imported("mixed") / "hakmem.profdata", published)
    same = merge_counts(tree, PROFDATA, "mixed", [Given(raw / "short.profraw")]).drift
    other = merge_counts(tree, PROFDATA, "mixed", [Given(raw / "other.profraw")]).drift
    assert same is not None
    assert other is not None
    assert same.alike > 0.98
    assert other.alike < 0.2  # the loop takes its other branch


def test_training_and_imported_profile_weigh_the_same(raw: Path, tree: Tree) -> None:
    for name in ("long", "other"):
        flags: list[str | Path] = [
            "merge",
            raw / f"{name}.profraw",
            "-o",
            tree.root / f"{name}.profdata",
        ]
        subprocess.run([PROFDATA, *flags], check=True)
    output = tree.root / "both.profdata"
    factors = combine(PROFDATA, tree.root / "long.profdata", tree.root / "other.profdata", output)
    assert factors["imported"] > 50 * factors["training"]
    found = counts(output)
    assert found["thrice"] / found["twice"] == pytest.approx(1, rel=0.02)
    assert overlap(PROFDATA, output, output).alike == 1


def test_overlap_reads_what_llvm_prints() -> None:
    text = "  Edge profile overlap: 70.589%\n  Mismatched count percentage (Edge): 0.070%\n"
    assert parse_overlap(text).alike == pytest.approx(0.70589)
    assert parse_overlap(text).mismatched == pytest.approx(0.0007)
    with pytest.raises(DataError):
        parse_overlap("nothing of the kind")


def edges(path: Path, *counted: int) -> Path:
    """Write a BOLT profile with a branch for each count."""
    lines = [f"1 f {place} 1 f {place}0 0 {count}\n" for place, count in enumerate(counted, 1)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_edges_are_merged_by_weight(tree: Tree) -> None:
    first = edges(tree.root / "a.fdata", 1000, 1000)
    second = edges(tree.root / "b.fdata", 2, 0)
    bad = tree.root / "c.fdata"
    bad.write_text("hello\n", encoding="utf-8")
    merged = merge_edges(tree, "mixed", [Given(first), Given(second, 2), Given(bad)])
    assert (merged.used, merged.drift) == (2, None)
    assert merged.skipped == (f"{bad}: not a profile of BOLT's edge counts",)
    found = Edges()
    assert found.add_file(merged.path, 1)
    shares = [count / found.taken.total() for count in found.taken.values()]
    assert shares == pytest.approx([5 / 6, 1 / 6], rel=0.01)


def test_overlap_of_edges(tree: Tree) -> None:
    profiles = []
    for name, numbers in (("a", (3, 1)), ("b", (30, 10)), ("c", (1, 3)), ("d", (0, 0, 5))):
        found = Edges()
        assert found.add_file(edges(tree.root / name, *numbers), 1)
        profiles.append(found)
    alike = [edge_overlap(profiles[0], other).alike for other in profiles]
    assert alike == pytest.approx([1, 1, 0.5, 0])


def test_samples_of_several_hosts_count_by_weight() -> None:
    hosts = [(3.0, Shares(0.2, {"hak_malloc": 0.2})), (1.0, Shares(0.4, {"hak_free": 0.4}))]
    share, functions = together(hosts)
    assert share == pytest.approx(0.25)
    assert functions == pytest.approx({"hak_malloc": 0.15, "hak_free": 0.1})


def test_an_interrupted_sample_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(argv: list[object], **_: object) -> None:
        Path(str(argv[argv.index("-o") + 1])).write_bytes(b"PERFILE2 and no more")
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.fleet.samples.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sample(Path("perf"), os.getpid(), 30, tmp_path / "perf.data")
    assert list(tmp_path.iterdir()) == []


def test_a_sample_says_at_its_start_how_long_it_takes(
    fresh: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.commands.sample.find_perf", lambda: Path("perf"))
    monkeypatch.setattr("pipeline.fleet.samples.sample", interrupted)
    _, output = fresh.run("sample", "--pid", str(os.getpid()), "--seconds", "30")
    assert output.startswith(f"sampling process {os.getpid()} for 30 s\n")


def test_samples_of_a_process_that_ends_meanwhile_are_kept(tmp_path: Path) -> None:
    perf, output = tmp_path / "perf", tmp_path / "perf.data"
    perf.write_text(
        '#!/bin/sh\n[ "$1" = evlist ] && echo cpu-clock:u && exit\n'
        'while [ "$1" != -o ]; do shift; done; echo PERFILE2 > "$2"; kill -TERM $$\n',
        encoding="utf-8",
    )
    perf.chmod(0o755)
    assert sample(perf, os.getpid(), 30, output).startswith("cpu-clock:u")
    assert output.read_text(encoding="utf-8") == "PERFILE2\n"


def test_an_idle_process_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    """It ended with 0, and with a perf.data of no sample in the current folder."""
    perf, output = tmp_path / "perf", tmp_path / "perf.data"
    perf.write_text("#!/bin/sh\n", encoding="utf-8")
    perf.chmod(0o755)
    output.write_text("PERFILE2", encoding="utf-8")
    with pytest.raises(DataError, match=r"was idle: perf took no sample in 3 s\. It runs without"):
        require_busy(perf, os.getpid(), 3, output)
    assert not output.exists()


def test_samples_of_perf_are_read() -> None:
    text = """
 PERF_RECORD_MMAP2 7/7: [0x7f0000001000(0x5000) @ 0x1000 08:02 11 0]: r-xp /x/libhakmem.so
 PERF_RECORD_MMAP2 7/7: [0x7f0000100000(0x5000) @ 0 08:02 12 0]: r-xp /usr/lib/libc.so.6
    7f0000001010 [unknown] (/x/libhakmem.so)
    7f0000001010 hak_free (/x/libhakmem.so)
    7f0000100010 memcpy (/usr/lib/libc.so.6)
    555500000010 main+0x10 (deleted) (/x/program)
"""
    found = parse_samples(text)
    assert (found.total, found.inside, str(found.library)) == (4, 2, "/x/libhakmem.so")
    assert dict(found.offsets) == {0x1010: 2}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("import",), 2, "Missing argument"),
        (("import", "no-such.profraw"), 2, "there is no file no-such.profraw"),
        (("import", "VERSION"), 2, "neither *.profraw"),
        (("import", "VERSION=-1"), 2, "a weight is a number above 0"),
        (("import", "-p", "none", "VERSION"), 3, "unknown profile 'none'"),
        (("sample",), 2, "Missing option"),
        (("sample", "--pid", "0"), 2, "--pid"),
        (("sample", "--pid", "1", "-o", "VERSION"), 2, "exists already"),
        (("sample", "--pid", "1", "-o", "no/a.data"), 2, "there is no folder no"),
        (("record", "-o", "no/a.trace", "--", "true"), 2, "there is no folder no"),
        (("import", "no-such.profraw"), 2, "give the path of a profile"),
        (("sample", "--pid", "4194304", "--seconds", "0.1"), 2, "there is no process 4194304"),
        (("import", "{bad}"), 7, "no file has samples that can be read"),
    ],
)
def test_bad_wishes(fresh: Sandbox, arguments: tuple[str, ...], code: int, words: str) -> None:
    bad = fresh.root / "bad.data"
    bad.write_bytes(b"PERFILE2" + bytes(200))
    got, output = fresh.run(*(word.format(bad=bad) for word in arguments))
    assert (got, words in output) == (code, True), output
