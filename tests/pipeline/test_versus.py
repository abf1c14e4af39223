"""`pipeline versus`: sides by name or path with variables of their own, and what is shown."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner
from judge_support import pair, request_of

from pipeline.cli import cli
from pipeline.core.errors import (
    ArtifactError,
    PipelineError,
    UsageError,
    VersionError,
    WorkloadError,
)
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.judge import environment
from pipeline.judge.keys import throughput_key
from pipeline.judge.memory_key import memory_key, rss_guard
from pipeline.judge.samples import PairSample
from pipeline.judge.statistics import Interval
from pipeline.judge.summarise import summarise
from pipeline.judge.verdict import Verdict
from pipeline.release.contents import write_sums
from pipeline.versus import compare
from pipeline.versus.compare import rows_of
from pipeline.versus.logs import logs_of_errors
from pipeline.versus.model import Compared, Ran, VersusResult
from pipeline.versus.ran import Watch
from pipeline.versus.show import duration, longer, next_step, render, sentence
from pipeline.versus.side import parse_side
from pipeline.versus.workloads_of import workloads_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that tells which side runs it: it writes a file that its variable names."""
    folder = tmp_path_factory.mktemp("library")
    source = folder / "lib.c"
    source.write_text(
        "#include <stdlib.h>\n#include <stdio.h>\n"
        "__attribute__((constructor)) static void tell(void) {\n"
        '    const char *name = getenv("VERSUS_TELL");\n'
        '    FILE *file = name == NULL ? NULL : fopen(name, "a");\n'
        "    if (file != NULL) { fputc('x', file); fclose(file); }\n}\n",
        encoding="utf-8",
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "lib.so", source], check=True)
    return folder / "lib.so"


def versus(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline", "versus", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_each_side_has_its_own_variables_and_warm_up_does_not_count(
    library: Path, tmp_path: Path
) -> None:
    told = tmp_path / "a", tmp_path / "b"
    sides = [f"{library},VERSUS_TELL={file}" for file in told]
    done = versus(*sides, "--pairs", "10", "--warmup", "2", "--export", "json", "--", "true")
    assert done.returncode in (0, 16), done.stderr
    found = json.loads(done.stdout)
    assert [found[side]["env"]["VERSUS_TELL"] for side in "ab"] == [str(file) for file in told]
    row = found["rows"][0]
    assert (row["workload"], row["a"]["count"], row["b"]["count"]) == ("true", 10, 10)
    assert {"mean", "sigma", "median"} <= row["a"].keys()
    # bench/command and the program it starts load the library: two for each run. One run of A
    # comes first, which asks for the number of threads.
    assert [file.stat().st_size for file in told] == [2 * (1 + 2 + 10), 2 * (2 + 10)]


@pytest.mark.parametrize(
    "said",
    [
        "HAKMEM_DELY is no option; did you mean HAKMEM_DELAY?",
        "HAKMEM_DELY=x is not a number from 0 to 9; using 5",
    ],
)
def test_a_variable_that_the_library_does_not_use_is_refused(said: str, tmp_path: Path) -> None:
    """The library says so on stderr, which no run shows: the verdict was about nothing."""
    source, library = tmp_path / "lib.c", tmp_path / "lib.so"
    tell = f'if (getenv("HAKMEM_DELY")) fputs("hakmem: {said}\\n", stderr);'
    constructor = f"__attribute__((constructor)) static void tell(void) {{ {tell} }}\n"
    source.write_text(f"#include <stdio.h>\n#include <stdlib.h>\n{constructor}", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = versus(library, f"{library},HAKMEM_DELY=x", "--pairs", "10", "--", "true")
    assert (done.returncode, said in done.stderr) == (ExitCode.USAGE, True), done.stderr


def test_a_command_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "LONG_S", 0.2)
    said: list[str] = []
    hanging = subprocess.Popen(["sh", "-c", "sleep 600; true"], start_new_session=True)
    try:
        with compare._named(said.append):
            while not said[1:]:
                time.sleep(0.05)
    finally:
        os.killpg(hanging.pid, signal.SIGKILL)
        hanging.wait()
    first, later = said[0], said[-1]
    assert first == "a first run, which does not count"
    assert re.search(r"the command has not ended; still running: .*\bsleep\b", later)


def test_a_program_that_fails_is_no_result(library: Path) -> None:
    done = versus(library, library, "--pairs", "10", "--", "false")
    assert done.returncode == ExitCode.WORKLOAD
    assert "workload false: exit code 1\n" in done.stderr  # bench/command is not the user's
    log = ROOT / Path(done.stderr.split("log: ")[1].strip())
    assert "false" in log.read_text(encoding="utf-8").splitlines()[0]
    assert log.parent == ROOT / "build" / "pipeline" / "errors"
    log.unlink()


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError("?"), UsageError("?"), UsageError("?", log=Path("log"))]
)
def test_the_folder_for_logs_is_gone_after_any_error(error: BaseException) -> None:
    with pytest.raises(type(error)), logs_of_errors("versus-test-") as logs:
        (logs / "a.log").touch()
        raise error
    assert not logs.exists()


def test_a_log_that_an_error_names_is_kept_in_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: Tree(tmp_path)))
    for words in ("first", "second"):
        with pytest.raises(UsageError) as told, logs_of_errors("versus-test-") as logs:
            (logs / "deep").mkdir()
            (logs / "deep" / "a.log").write_text(words, encoding="utf-8")
            raise UsageError("?", log=logs / "deep" / "a.log")
        assert not logs.exists()
        assert told.value.log is not None and told.value.log.is_relative_to(tmp_path)
        assert told.value.log.read_text(encoding="utf-8") == words
        assert len([*told.value.log.parent.iterdir()]) == 1


def test_a_refusal_leaves_no_folder_for_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = versus("libc", "libc", "--profile", "nosuch", "--pairs", "10")
    assert (done.returncode, [*tmp_path.iterdir()]) == (ExitCode.PROFILE, []), done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--pairs", "11", "--", "true"), "11 is not an even number from 10 to 100,000"),
        (("--", "no-such-program"), "there is no program no-such-program"),
        (("-o", "x.csv", "--", "true"), "-o needs to know what to write: add --export"),
        (("--threads", "1"), "--threads is for a COMMAND"),
        (("--export", "html", "--", "true"), "'json', 'csv', 'markdown'"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused(
    library: Path, words: tuple[str, ...], says: str
) -> None:
    done = versus(library, library, *words)
    assert done.returncode == ExitCode.USAGE
    assert says in done.stderr


def test_a_side_is_a_file_a_folder_or_a_name(library: Path, tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.profiles.mkdir(parents=True)
    for name in ("mixed", "shop"):
        (tree.profiles / f"{name}.toml").touch()
        folder = tree.dist(name) / "0.1.0-aa" / "lib"
        folder.mkdir(parents=True)
        shutil.copy(library, folder / "libhakmem.so")
        (folder.parent / "manifest.json").write_text("{}", encoding="utf-8")
        write_sums(folder.parent)
        (tree.dist(name) / "current").symlink_to("0.1.0-aa")
    file = tree.dist("shop") / "0.1.0-aa" / "lib" / "libhakmem.so"
    for words in (str(file), str(file.parents[1]), "shop:current", "shop:0.1.0-a", "shop:"):
        assert parse_side(tree, "mixed", words).library == file, words
    side = parse_side(tree, "mixed", "current,HAKMEM_A=1,2,HAKMEM_B=x=y")
    assert side.library == tree.dist("mixed") / "0.1.0-aa/lib/libhakmem.so"
    assert side.name == "mixed:0.1.0-aa"
    assert side.env == {"HAKMEM_A": "1,2", "HAKMEM_B": "x=y"}
    file.write_bytes(b"other")
    for words in (str(file.parents[1]), "shop:current"):
        with pytest.raises(ArtifactError, match=r"lib/libhakmem.so \(changed\)"):
            parse_side(tree, "mixed", words)


@pytest.mark.parametrize(
    ("a", "b", "profile"),
    [
        ("libc", "shop:current", "shop"),
        ("shop:0.1,HAKMEM_A=1:2", "libc", "shop"),
        ("libc", "shop+hardened:current", "shop"),
        ("libc", "{dist}/shop/0.1.0-aa", "shop"),
        ("libc", "{dist}/shop+hardened/current/lib/libhakmem.so", "shop"),
        ("libc", "current", "mixed"),
        ("libc", "/a:b.so", "mixed"),
    ],
)
def test_without_a_command_the_profile_that_a_side_names_has_the_workloads(
    tmp_path: Path, a: str, b: str, profile: str
) -> None:
    """They were those of mixed, whose programs take minutes to compile."""
    tree = Tree(tmp_path)
    tree.profiles.mkdir(parents=True)
    for name in ("mixed", "shop"):
        (tree.profiles / f"{name}.toml").touch()
    assert workloads_of(tree, a, b.format(dist=tree.dists)) == profile
    with pytest.raises(UsageError, match="A is of profile mixed, and B of shop") as caught:
        workloads_of(tree, "mixed:current", "shop:current")
    assert caught.value.hint == "`-p mixed` or `-p shop` says which ones run"


def test_libc_is_a_side(tmp_path: Path) -> None:
    side = parse_side(Tree(tmp_path), "mixed", "libc,MALLOC_ARENA_MAX=1")
    assert side.library.is_file()
    assert (side.name, side.env) == ("libc", {"MALLOC_ARENA_MAX": "1"})


def test_a_misspelt_profile_of_a_side_has_the_one_that_was_meant(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.profiles.mkdir(parents=True)
    (tree.profiles / "shop.toml").touch()
    with pytest.raises(UsageError, match="there is no profile 'shp'; known: shop") as caught:
        parse_side(tree, "mixed", "shp:current")
    assert caught.value.hint == "did you mean shop?"


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        ("nowhere.so", UsageError, "there is no library nowhere.so"),
        ("./folder", UsageError, "there is no library ./folder"),
        ("libc,FOO", UsageError, "behind a comma a variable is missing its value"),
        ("shop:current", UsageError, "there is no profile 'shop'"),
        ("current", VersionError, "nothing is published"),
    ],
)
def test_a_side_that_is_not_there_is_named(
    tmp_path: Path, words: str, error: type[PipelineError], says: str
) -> None:
    with pytest.raises(error, match=re.escape(says)):
        parse_side(Tree(tmp_path), "mixed", words)


def test_a_profile_in_place_of_a_version_gets_its_current_one_proposed(tmp_path: Path) -> None:
    profiles = tmp_path / "training" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "kv.toml").touch()
    for wish in ("kv", "kv+hardened"):
        with pytest.raises(UsageError, match="that is a profile") as caught:
            parse_side(Tree(tmp_path), "mixed", wish)
        assert caught.value.hint == f"did you mean {wish}:current?"


def result_of(ratio: float, rss: tuple[int, int] = (4096, 4096)) -> VersusResult:
    """Return a comparison of two noiseless sides, of which B does ``ratio`` times as much."""
    request = request_of(["loop"])
    samples: dict[str, list[PairSample]] = {
        "loop": [pair(number, 1e7, 1e7 * ratio, rss) for number in range(20)]
    }
    found = summarise(request, samples, share=1.0, looks=1, seconds=1.0)
    side = Compared(name="a|b.so", library="/a.so", sha256="0", text_bytes=1, env={"X": "1"})
    return VersusResult(
        created="2026-01-01T00:00:00+00:00",
        a=side,
        b=side,
        command=("/bin/true",),
        profile=None,
        rows=rows_of(found),
        throughput=found,
        speed=throughput_key(found, request.margins),
        memory=memory_key(found, request.seed),
        guard=rss_guard(found, request.margins),
        environment=environment.record({}, 0.0),
    )


@pytest.mark.parametrize(
    ("ratio", "rss", "worse", "says"),
    [
        (1.0, (4096, 4096), False, "B is as fast as A, and is as lean."),
        (1.1, (4096, 4096), False, "B is faster than A, and is as lean."),
        (0.9, (4096, 4096), True, "B is slower than A, and is as lean."),
        (1.0, (40960, 20480), False, "B is as fast as A, and takes less memory."),
        (
            1.0,
            (40960, 41370),
            False,
            "B is as fast as A, and takes a little more memory, +1.00 % at most.",
        ),
        (1.0, (40960, 61440), True, "B is as fast as A, and takes more memory; loop peaks"),
    ],
)
def test_the_verdict_is_a_sentence(
    ratio: float, rss: tuple[int, int], worse: bool, says: str
) -> None:
    result = result_of(ratio, rss)
    assert sentence(result).startswith(says)
    assert result.worse is worse
    assert says in render(result, "term")
    assert says in render(result, "markdown")
    assert "; in all" not in render(result, "term"), "there is one workload"


@pytest.mark.parametrize(
    ("rss", "told"),
    [((6000, 6512), "512 KiB"), ((6000, 6100), ""), ((6000, 9000), ""), ((6512, 6000), "")],
)
def test_a_little_more_memory_may_be_the_library_itself(rss: tuple[int, int], told: str) -> None:
    said = render(result_of(1.0, rss), "term")
    assert ("that may be the library itself" in said) is bool(told)
    assert f"note: B takes at most {told} more" in said or not told


def test_a_longer_budget_is_longer_than_what_was_used() -> None:
    """The fewest pairs may take more than the budget; four times that measured no more then."""
    found = result_of(1.0)
    slow = found.throughput.model_copy(update={"seconds": 250.0})
    assert longer(found, 60.0) == "--budget 240s"
    assert longer(found.model_copy(update={"throughput": slow}), 60.0) == "--budget 1000s"


def test_one_workload_alone_is_not_called_all_workloads() -> None:
    for form in ("term", "markdown"):
        assert "the verdict is on all workloads together" not in render(result_of(1.0), form)


@pytest.mark.parametrize(("load", "told"), [(1.0, False), (9.0, True)])
def test_a_busy_machine_is_told(load: float, told: bool) -> None:
    found = result_of(1.0)
    other = found.b.model_copy(update={"sha256": "another"})
    found = found.model_copy(update={"b": other})
    around = found.environment.model_copy(update={"load_after": load, "cores": 2})
    said = render(found.model_copy(update={"environment": around}), "term")
    assert ("the machine was busy (load 9 on 2 CPUs)" in said) is told
    noise = "To see what noise alone does, let `versus` compare a library with itself"
    assert (noise in " ".join(said.split())) is told
    assert "time: processor time of one operation" in said


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (1.016, 1.039, "takes more memory (by 1.6 to 3.9 %)."),
        (0.961, 0.984, "takes less memory (by 1.6 to 3.9 %)."),
        (0.961, 1.039, "is not shown to take more or less memory."),
    ],
)
def test_memory_that_changes_by_less_than_the_margin_is_told(
    low: float, high: float, says: str
) -> None:
    found = result_of(1.0)
    ratio = Interval(value=(low + high) / 2, low=low, high=high, confidence=0.95)
    update = {"verdict": Verdict.INCONCLUSIVE, "ratio": ratio}
    told = found.model_copy(update={"memory": found.memory.model_copy(update=update)})
    assert sentence(told) == f"B is as fast as A, and {says}"


def test_the_loss_of_a_single_command_has_one_interval() -> None:
    found = result_of(0.9)
    assert "all of it below -1.0 %" in found.speed.reason and found.worse


def test_an_undecided_speed_names_what_decides_it_and_what_is_known() -> None:
    found = result_of(1.0)
    assert next_step(found, "`more`", "`one`") == ""
    ratio = Interval(value=1.003, low=0.996, high=1.012, confidence=0.95)
    update = {"verdict": Verdict.INCONCLUSIVE, "ratio": ratio}
    told = found.model_copy(update={"speed": found.speed.model_copy(update=update)})
    assert next_step(told, "`more`", "`one`").startswith("next: `more` measures 4 times as much")
    assert "[-0.40 %, +1.20 %] is excluded already" in next_step(told, "`more`", "`one`")
    wide = replace(ratio, low=0.704, high=1.094)
    speed = found.speed.model_copy(update=update | {"ratio": wide})
    said = next_step(found.model_copy(update={"speed": speed}), "`more`", "`one`")
    assert said.startswith("next: `more`") and "excluded" not in said


@pytest.mark.parametrize(("seconds", "short"), [(0.005, True), (0.9, False)])
def test_a_command_that_ends_soon_is_said_to_be_mostly_start(seconds: float, short: bool) -> None:
    found = result_of(1.0)
    times = found.rows[0].a.model_copy(update={"mean": seconds})
    rows = (found.rows[0].model_copy(update={"a": times, "b": times}),)
    told = found.model_copy(update={"rows": rows})
    loops = told.model_copy(update={"command": None, "profile": "mixed"})
    for result, is_told in ((told, short), (loops, False)):
        said = " ".join(render(result, "term").split())
        assert ("takes up to a millisecond to start with a library" in said) is is_told


def test_a_client_without_the_library_that_takes_the_time_and_the_peak_is_named(
    library: Path, tmp_path: Path
) -> None:
    """The judge said NO-GO for a client that the library had not touched."""
    (tmp_path / "client.py").write_text("b = bytearray(90 << 20)", encoding="utf-8")
    driver = tmp_path / "drive.sh"
    driver.write_text(
        f"python3 -c pass; env -u LD_PRELOAD {sys.executable} {tmp_path}/client.py\n",
        encoding="utf-8",
    )
    words = ("--pairs", "10", "--export", "json", "--")
    done = versus(library, library, *words, "sh", driver)
    assert done.returncode in (0, 16), done.stderr
    ran = [Ran.model_validate(one) for one in json.loads(done.stdout)["ran"]]
    client = next(one for one in ran if not one.library and one.peak_kib > 60 << 10)
    assert client.name == Path(sys.executable).name
    assert not any(one.name.startswith("command") for one in ran)


def test_a_child_that_runs_nothing_of_its_own_yet_is_not_looked_at(tmp_path: Path) -> None:
    """On a busy machine the judge named itself: "the peak is that of python"."""
    watch = Watch("/a/runner", tmp_path)
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    with watch.watching(), subprocess.Popen(["sleep", "0.3"]) as sleeper:
        sleeper.wait()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert [one.name for one in watch.found()] == ["sleep"]


@pytest.mark.parametrize(
    ("client", "time", "peak"),
    [
        (Ran(name="curl", library=False, seconds=0.6, peak_kib=9000), True, True),
        (Ran(name="curl", library=False, seconds=0.1, peak_kib=9000), False, True),
        (Ran(name="curl", library=False, seconds=0.6, peak_kib=900), True, False),
        (Ran(name="curl", library=True, seconds=0.2, peak_kib=9000), False, False),
    ],
)
def test_who_has_no_library_is_told_with_the_option_that_leaves_it_out(
    client: Ran, time: bool, peak: bool
) -> None:
    server = Ran(name="notes", library=True, seconds=0.3, peak_kib=5000)
    ran = tuple(sorted((client, server), key=lambda one: -one.seconds))
    said = render(result_of(1.0).model_copy(update={"ran": ran}), "markdown")
    assert (
        "note: 67% of the processor time is of processes without the library (curl): add "
        "`--time-of notes`" in said
    ) is time
    assert ("note: the peak is that of curl, which runs without the library" in said) is peak


def test_exports_can_be_read_by_programs() -> None:
    result = result_of(1.0)
    assert VersusResult.model_validate_json(render(result, "json")) == result
    rows = list(csv.DictReader(io.StringIO(render(result, "csv"))))
    assert [row["side"] for row in rows] == ["A", "B"]
    assert float(rows[0]["median"]) == pytest.approx(1e-7)
    assert rows[0]["count"] == "20"
    table = [line for line in render(result, "markdown").splitlines() if line.startswith("|")]
    assert len(table) == 3 and len({line.count(" | ") for line in table}) == 1


@pytest.mark.parametrize(
    ("seconds", "sigma", "words"),
    [
        (2.5, None, "2.50 s"),
        (0.0243, 0.0008, "24.30 ± 0.80 ms"),
        (3e-8, None, "30.00 ns"),
        (4e-10, None, "0.40 ns"),
    ],
)
def test_a_time_has_the_unit_that_fits(seconds: float, sigma: float | None, words: str) -> None:
    assert duration(seconds, sigma) == words


def test_both_sides_are_looked_at_before_anything_runs(library: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.so"
    words.write_text("no library", encoding="utf-8")
    ran = tmp_path / "ran"
    for other, says in (
        (words, f"{words} is no library that can be preloaded here: it is no ELF file"),
        (Path(sys.executable).resolve(), "it is a program"),
        (tmp_path / "nowhere.so", "there is no library"),
    ):
        for sides in ((library, other), (other, library)):
            done = versus(*sides, "--pairs", "10", "--", "touch", ran)
            assert done.returncode == ExitCode.USAGE
            assert says in done.stderr
            assert "give libc, a library's file such as" in done.stderr
    assert not ran.exists()


def test_a_folder_for_the_export_is_there_before_anything_runs(
    library: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    words = ("--export", "json", "-o", tmp_path / "none" / "x.json", "--", "touch", ran)
    done = versus(library, library, *words)
    assert done.returncode == ExitCode.USAGE
    assert "there is no folder" in done.stderr
    assert not ran.exists()


def test_no_build_works_in_the_tree_while_its_programs_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    @contextmanager
    def held(*_: object) -> Iterator[None]:
        seen.append("lock")
        yield
        seen.append("free")

    def compare(*_: object) -> NoReturn:
        seen.append("compare")
        raise WorkloadError("enough")

    monkeypatch.setattr("pipeline.commands.workshop.open_to_judge", held)
    monkeypatch.setattr("pipeline.versus.on_profile.profile_request", lambda *_: None)
    monkeypatch.setattr("pipeline.versus.compare.compare", compare)
    monkeypatch.setattr("pipeline.versus.side.parse_side", lambda *_: None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = CliRunner().invoke(cli, ["versus", "a", "b"])
    assert isinstance(found.exception, WorkloadError)
    assert seen == ["lock", "compare"]
    assert "the workloads are those of profile mixed; -p takes another one's" in found.output
