"""Experiments: entries are written, read and found; trials run. Real ones: test_ledger.py."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import CliRunner
from conftest import Sandbox
from test_versus import result_of as versus_of

from pipeline.commands.experiment import _request, experiment_command
from pipeline.core.errors import ProfileError, UsageError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.lock import tree_lock
from pipeline.core.paths import Tree
from pipeline.experiment import trial
from pipeline.experiment.entry import (
    SUBJECTS,
    Result,
    Trial,
    find_entry,
    kind_in,
    load_entries,
    load_entry,
    new_place,
)
from pipeline.experiment.listing import as_row, lines
from pipeline.experiment.page import MARK, render
from pipeline.experiment.sides import geometry_of, require_trial
from pipeline.experiment.write import HYPOTHESIS, TITLE, add_result, write_template
from pipeline.geometry.load import changed_geometry
from pipeline.geometry.tables import default_geometry
from pipeline.judge.verdict import Verdict
from pipeline.stages.build.workshop import Workshop
from pipeline.versus.model import VersusResult

ROOT = Path(__file__).resolve().parents[2]
TREE = Tree(ROOT)


def test_a_new_entry_is_a_template_that_can_be_read(tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "half")
    write_template(path)
    entry = load_entry(path)
    assert (entry.subject, entry.name, entry.kind, entry.newest) == (
        "magazines",
        "half",
        "trial",
        (),
    )
    assert entry.content.trial is not None


def test_a_template_that_nobody_has_filled_in_is_not_run(tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "half")
    write_template(path)
    with pytest.raises(UsageError, match="the trial changes nothing"):
        require_trial(load_entry(path))
    text = path.read_text(encoding="utf-8").replace("# depths", "depths")
    for written in (text, text.replace(TITLE, "Half"), text.replace(HYPOTHESIS, "None.")):
        path.write_text(written, encoding="utf-8")
        with pytest.raises(UsageError, match="are the template's"):
            require_trial(load_entry(path))
    path.write_text(text, encoding="utf-8")
    assert "half.toml" not in render(MARK, [load_entry(path)])
    written = text.replace(TITLE, "Half").replace(HYPOTHESIS, "None.")
    path.write_text(written, encoding="utf-8")
    assert "half.toml" in render(MARK, [load_entry(path)])
    assert require_trial(load_entry(path)).depths == {64: 512}


def test_a_depth_may_be_that_of_all_classes(tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "shallow")
    path.parent.mkdir(parents=True)
    path.write_text(TRIAL.format(depths="{ all = 16, 64 = 512 }"), encoding="utf-8")
    asked = require_trial(load_entry(path)).depths
    assert asked == {"all": 16, 64: 512}
    default = default_geometry(Tree(ROOT))
    changed = changed_geometry(default, path, {}, asked, "why")
    depths = {one.size: one.depth for one in changed.classes}
    assert depths.pop(64) == 512
    assert set(depths.values()) == {16}


@pytest.mark.parametrize("depth", ["0.5", "-1", "1", "1025", "true", '"half"'])
def test_a_depth_is_a_number_of_blocks_and_no_factor(depth: str, tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "shallow")
    path.parent.mkdir(parents=True)
    path.write_text(TRIAL.format(depths=f"{{ all = {depth} }}"), encoding="utf-8")
    with pytest.raises(ProfileError, match=r"from 2 to 1024, which .* up to 64.* no factor"):
        load_entry(path)


@pytest.mark.parametrize(
    ("depth", "patch", "refused"), [(256, "", True), (128, "", False), (256, "a.patch", False)]
)
def test_a_depth_that_a_class_has_already_is_not_run(
    depth: int, patch: str, refused: bool, tmp_path: Path
) -> None:
    path = new_place(Tree(tmp_path), "magazines", "same")
    path.parent.mkdir(parents=True)
    trial = f'[trial]\ndepths = {{ 256 = {depth} }}\nprofile = "tiny"\n'
    trial += f'patch = "{patch}"\n' if patch else ""
    path.write_text(f'schema_version = 1\ntitle = "Same"\n{trial}', encoding="utf-8")
    if refused:
        with pytest.raises(UsageError, match="the default already"):
            geometry_of(TREE, load_entry(path))
    else:
        assert geometry_of(TREE, load_entry(path)) is not None


def test_a_new_entry_says_what_writes_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry with a title and without a run made the test of the index fail."""
    monkeypatch.setattr(Tree, "here", lambda: Tree(tmp_path))
    done = CliRunner().invoke(experiment_command, ["new", "magazines", "half"])
    assert (tmp_path / "docs" / "experiments" / "magazines" / "half.toml").exists()
    assert "experiment run half\nwhich also writes its row" in done.output
    assert done.output.endswith("  .venv/bin/python -m pipeline.experiment.page\n")


def test_the_list_fits_its_width() -> None:
    rows = [as_row(one) for one in load_entries(TREE)]
    assert max(map(len, "\n".join(lines(rows, 80)).splitlines())) <= 80
    assert all("\n" not in line for line in lines(rows, sys.maxsize))


def test_the_help_names_all_subjects() -> None:
    said = " ".join(CliRunner().invoke(experiment_command, ["new", "--help"]).output.split())
    assert f"SUBJECT is one of: {', '.join(SUBJECTS)}." in said


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    write_template(new_place(Tree(tmp_path), "magazines", "half"))
    for subject in ("magazines", "purge"):  # a name is unique in the whole ledger
        with pytest.raises(UsageError, match="exists already"):
            new_place(Tree(tmp_path), subject, "half")


@pytest.mark.parametrize("name", ["", "Half", "../half", "a b", "x" * 61])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a valid name for an experiment"):
        new_place(Tree(tmp_path), "magazines", name)


def test_a_result_goes_below_earlier_ones(tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "half")
    write_template(path)
    before = path.read_text(encoding="utf-8")
    first = Result(date="2026-01-02", processor="x, 2 CPUs", verdict='B is "as fast" as A.')
    second = Result(date="2026-01-03", verdict="B is slower.", figures="-3 % \\ [-4 %, -2 %]")
    add_result(path, first)
    add_result(path, second)
    assert load_entry(path).content.result == (first, second)
    assert path.read_text(encoding="utf-8").startswith(before.rstrip("\n"))


def test_figures_of_another_kind_of_processor_stay_beside(tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "half")
    write_template(path)
    path.write_text(path.read_text(encoding="utf-8").replace(TITLE, "Half"), encoding="utf-8")
    for processor, verdict in (
        ("Intel model 207, 2 cores, VM", "old"),
        ("intel-emeraldrapids, Intel(R) Xeon(R) Processor (family 6, model 207), 2 CPUs", "slower"),
        ("amd-zen4, AMD EPYC (family 25, model 17), 2 CPUs", "as fast"),
    ):
        figures = f"speed of {verdict}"
        result = Result(date="2026-01-02", processor=processor, verdict=verdict, figures=figures)
        add_result(path, result)
    entry = load_entry(path)
    assert [(one.kind, one.verdict) for one in entry.newest] == [
        ("amd-zen4", "as fast"),
        ("intel-emeraldrapids", "slower"),
    ]
    rows = [
        line for line in render(MARK, [entry]).splitlines() if line.startswith(("| [", "| the"))
    ]
    assert rows == [
        "| [Half](experiments/magazines/half.toml) | amd-zen4 | speed of as fast | as fast |",
        "| the same | intel-emeraldrapids | speed of slower | slower |",
    ]


def test_a_busy_run_does_not_replace_the_figures_of_a_quiet_machine(tmp_path: Path) -> None:
    path = new_place(Tree(tmp_path), "magazines", "half")
    write_template(path)
    path.write_text(path.read_text(encoding="utf-8").replace(TITLE, "Half"), encoding="utf-8")

    def ran(load: str, verdict: str) -> tuple[list[str], str]:
        figures = f"speed +1 %; 20 pairs; load {load} before and 1.0 after"
        processor = "amd-zen4, AMD EPYC (family 25, model 17), 2 CPUs"
        result = Result(date="2026-01-02", processor=processor, verdict=verdict, figures=figures)
        add_result(path, result)
        entry = load_entry(path)
        return [one.verdict for one in entry.newest], render(MARK, [entry])

    assert ran("9.0", "busy alone")[0] == ["busy alone"]
    assert ran("0.5", "quiet")[0] == ["quiet"]
    ran("9.0", "busy again")
    said, page = ran("9.0", "busy last")
    assert said == ["quiet", "busy last"]
    assert "| the same, on a busy machine | amd-zen4 | speed +1 %; 20 pairs; load 9.0" in page
    assert ran("4.0", "quiet again")[0] == ["quiet again"]


@pytest.mark.parametrize(
    ("processor", "kind"),
    [
        ("", ""),
        ("Intel model 207, 2 cores, VM, Linux 6.18", "intel-emeraldrapids"),
        ("Intel server processor, family 6 model 167", "intel-rocketlake"),
        ("AMD EPYC, family 25 model 17, 2 cores, VM", "amd-zen4"),
        ("AMD family 25 model 17 (amd-zen4), 2 cores", "amd-zen4"),
        ("amd-zen4, 2 cores, VM", "amd-zen4"),
        ("intel-skylake-x, 2 cores", "intel-skylake-x"),
        ("intel, Intel(R) of tomorrow (family 6, model 999), 8 CPUs", "intel"),
    ],
)
def test_the_kind_of_a_processor_is_known_by_older_words_too(processor: str, kind: str) -> None:
    assert kind_in(processor) == kind


def test_a_mistake_in_an_entry_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('schema_version = 1\ntitle = "x"\nverdikt = "kept"\n', encoding="utf-8")
    with pytest.raises(ProfileError, match=r"wrong\.toml.*verdikt"):
        load_entry(path)


@pytest.mark.parametrize("profile", ["", 'profile = "mixed"\n'])
def test_a_command_and_a_profile_do_not_go_together(profile: str, tmp_path: Path) -> None:
    """The profile was passed over without a word."""
    path = tmp_path / "both.toml"
    trial = f'[trial]\n{profile}run = ["true"]\n'
    path.write_text(f'schema_version = 1\ntitle = "x"\n{trial}', encoding="utf-8")
    if profile:
        with pytest.raises(ProfileError, match=r"both\.toml: trial: `run` and `profile` do not go"):
            load_entry(path)
    else:
        assert load_entry(path).content.trial is not None


def test_a_variable_without_quotes_is_told_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    trial = "[trial]\noptions = { HAKMEM_PURGE_DELAY = 100 }\n"
    path.write_text(f'schema_version = 1\ntitle = "x"\n{trial}', encoding="utf-8")
    with pytest.raises(ProfileError, match=r"HAKMEM_PURGE_DELAY: is 100; .*write it in quotes"):
        load_entry(path)


def test_a_record_cannot_be_run_and_an_unknown_name_has_a_hint() -> None:
    with pytest.raises(UsageError, match="is a record"):
        require_trial(find_entry(TREE, "hidden-visibility"))
    with pytest.raises(UsageError) as raised:
        find_entry(TREE, "hidden-visibilty")
    assert raised.value.hint == "did you mean hidden-visibility?"


def test_an_entry_is_found_by_its_file_too() -> None:
    entry = find_entry(TREE, "half-depth-64")
    assert find_entry(TREE, str(entry.path)) == entry


PATCH = """\
--- a/VERSION
+++ b/VERSION
@@ -1 +1 @@
-{version}
+9.9.9
"""
TRIAL = """
schema_version = 1
title = "All at once"
[trial]
options = {{ HAKMEM_PURGE_DELAY = "100" }}
constants = {{ small_depth = 24 }}
depths = {depths}
patch = "all.patch"
run = ['sh', '-c', 'test -z "$HAKMEM_PURGE_DELAY" || seq 1000000 >/dev/null']
"""


def write_trial(fresh: Sandbox, patch_of: str = "", depths: str = "{ 64 = 512 }") -> Path:
    """Write the entry ``all`` and return its folder; with a patch of the version ``patch_of``."""
    folder = fresh.root / "docs" / "experiments" / "magazines"
    folder.mkdir(parents=True)
    text = TRIAL.format(depths=depths)
    if patch_of:
        (folder / "all.patch").write_text(PATCH.format(version=patch_of), encoding="utf-8")
    else:
        text = text.replace('patch = "all.patch"', "")
    (folder / "all.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_trial_builds_both_sides_and_notes_its_verdict(fresh: Sandbox) -> None:
    """Its option makes the command slower by far, so that the first look decides."""
    version = (fresh.root / "VERSION").read_text(encoding="utf-8").strip()
    folder = write_trial(fresh, patch_of=version)
    code, output = fresh.run("experiment", "run", "all", "--budget", "30s")
    assert code == ExitCode.REGRESSION, output
    libraries = [one.read_bytes() for one in _sides(fresh)]
    assert re.search(r"A: as it is, build/pipeline/mixed/experiment/\w+/libhakmem\.so\n", output)
    assert sorted(b"9.9.9" in one for one in libraries) == [False, True]
    assert all(version.encode() in one for one in libraries if b"9.9.9" not in one)
    found = tomllib.loads((folder / "all.toml").read_text(encoding="utf-8"))["result"]
    assert [set(one) >= {"date", "processor", "verdict", "figures"} for one in found] == [True]
    assert found[0]["verdict"].startswith("slower")
    assert found[0]["ran"].endswith("seq 1000000 >/dev/null', threads unknown")
    figures = (
        r"speed [+-]\d.*; peak memory [+-]\d.*; \d+ pairs; load [\d.]+ before and [\d.]+ after"
    )
    assert re.fullmatch(figures, found[0]["figures"])
    code, output = fresh.run("experiment", "list", "--json")
    assert json.loads(output)["experiments"][0]["verdict"] == found[0]["verdict"]
    assert f"ran {found[0]['ran']}\n" in fresh.run("experiment", "list")[1]


@pytest.mark.parametrize("program", ["sh", "./task"])
def test_a_command_runs_in_the_root_of_the_tree(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are found from there, wherever somebody types."""
    root, elsewhere = tmp_path / "tree", tmp_path / "elsewhere"
    (root / "bench").mkdir(parents=True)
    elsewhere.mkdir()
    for source in (ROOT / "bench").glob("command*.[ch]"):
        shutil.copy(source, root / "bench")
    (root / "task").write_text("#!/bin/sh\ntest -f task\n", encoding="utf-8")
    (root / "task").chmod(0o755)
    text = TRIAL.format(depths="{ 64 = 512 }").replace('patch = "all.patch"', "")
    words = f"run = {[program, *(['task'] if program == 'sh' else [])]}"
    (root / "all.toml").write_text(re.sub("run = .*", words, text), encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    shop = cast("Workshop", SimpleNamespace(tree=Tree(root)))
    request = _request(shop, load_entry(root / "all.toml"), 30.0, tmp_path)
    subprocess.run(request.benches[0].argv, check=True)


def _sides(fresh: Sandbox) -> list[Path]:
    return sorted((fresh.root / "build" / "pipeline").glob("*/experiment/*/libhakmem.so"))


def test_a_side_that_was_compiled_is_not_compiled_again(fresh: Sandbox) -> None:
    write_trial(fresh)
    made = []
    for _ in range(2):
        code, output = fresh.run("experiment", "run", "all", "--budget", "30s")
        assert code == ExitCode.REGRESSION, output
        made.append({one: one.stat().st_mtime_ns for one in _sides(fresh)})
    assert made[0] == made[1]
    assert len(made[0]) == 2


def test_a_class_that_is_not_there_is_refused_before_anything_is_compiled(fresh: Sandbox) -> None:
    write_trial(fresh, depths="{ 65 = 512 }")
    with tree_lock(Tree(fresh.root).state, wait=False, say=print):  # nor does it wait for this
        child = fresh.start("experiment", "run", "all")
        output, _ = child.communicate(timeout=60)
    assert child.returncode == ExitCode.PROFILE, output
    assert "65" in output
    assert _sides(fresh) == []


def test_a_patch_that_does_not_fit_says_so(fresh: Sandbox) -> None:
    write_trial(fresh, patch_of="never")
    code, output = fresh.run("experiment", "run", "all")
    assert code == 5
    assert "all.patch does not fit the sources" in output
    assert "git diff allocator" in output  # without docs/experiments.md, which `new` changes


def test_an_option_that_the_library_does_not_know_is_no_trial(fresh: Sandbox) -> None:
    """A misspelt one was judged all the same, and noise became a verdict in the ledger."""
    file = write_trial(fresh) / "all.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("HAKMEM_PURGE_DELAY =", "HAKMEM_PURGE_DELY ="), encoding="utf-8")
    code, output = fresh.run("experiment", "run", "all", "--budget", "30s")
    assert code == ExitCode.USAGE, output
    assert "HAKMEM_PURGE_DELY is no option; did you mean HAKMEM_PURGE_DELAY?" in output
    assert "[[result]]" not in file.read_text(encoding="utf-8")


def test_a_patch_that_is_in_the_tree_already_is_told_so(fresh: Sandbox) -> None:
    """Who tries a change first has it there, and was told to mend the patch."""
    write_trial(fresh, patch_of=(fresh.root / "VERSION").read_text(encoding="utf-8").strip())
    (fresh.root / "VERSION").write_text("9.9.9\n", encoding="utf-8")
    code, output = fresh.run("experiment", "run", "all")
    assert code == 2, output
    assert "which is side A, has the change of" in output
    assert "git apply -R" in output


def _ran(*timed: tuple[str, int | None], command: tuple[str, ...] | None = None) -> VersusResult:
    """Return a comparison in which workloads of such names and threads ran."""
    found = versus_of(1.0)
    one = found.throughput.workloads[0]
    some = tuple(one.model_copy(update={"name": n, "threads": count}) for n, count in timed)
    throughput = found.throughput.model_copy(update={"workloads": some})
    said = {"command": command, "profile": None if command else "mixed", "throughput": throughput}
    return found.model_copy(update=said)


def test_a_result_says_which_workloads_and_threads_ran(tmp_path: Path) -> None:
    mixed = _ran(("strings", 1), ("server", 2), ("redis", None), ("tree", 1))
    said = "profile mixed; 1 thread: strings, tree; 2 threads: server; threads unknown: redis"
    assert trial.result_of("", mixed).ran == said
    command = _ran(("sh", 2), command=("sh", "-c", "a b"))
    result = trial.result_of("", command)
    assert result.ran == "sh -c 'a b', 2 threads"
    path = new_place(Tree(tmp_path), "magazines", "half")
    write_template(path)
    add_result(path, result)
    assert load_entry(path).content.result == (result,)
    assert "\nran = " in path.read_text(encoding="utf-8")


def test_a_result_says_whether_what_is_compiled_was_as_committed(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    for name in ("allocator/slab.c", "docs/any.md", "training/profiles/mixed.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old", encoding="utf-8")
    git = ("git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    (tmp_path / "docs" / "any.md").write_text("new", encoding="utf-8")
    (tmp_path / "training" / "profiles" / "mine.toml").write_text("new", encoding="utf-8")
    assert re.fullmatch(r"[0-9a-f]{12}", trial.commit_now(tree, "mixed"))
    assert re.fullmatch(r"[0-9a-f]{12}", trial.commit_now(tree, None))
    assert trial.commit_now(tree, "mine").endswith("+")
    (tmp_path / "allocator" / "slab.c").write_text("new", encoding="utf-8")
    assert trial.commit_now(tree, "mixed").endswith("+")


def test_a_trial_of_depths_that_shows_nothing_says_that_it_may_not_be_reached() -> None:
    depths = Trial(depths={64: 512})
    alike = versus_of(1.0)
    alike = alike.model_copy(
        update={
            name: getattr(alike, name).model_copy(update={"verdict": Verdict.NEUTRAL})
            for name in ("speed", "memory")
        }
    )
    slower = alike.speed.model_copy(update={"verdict": Verdict.NO_GO})
    assert "may not reach these depths" in trial.unreached(depths, alike)
    assert not trial.unreached(depths, alike.model_copy(update={"speed": slower}))
    assert not trial.unreached(Trial(options={"HAKMEM_PURGE_DELAY": "9"}), alike)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["my-idea"], "Missing argument 'NAME'"),
        (["magazine", "my-idea"], "there is no subject 'magazine'"),
    ],
)
def test_a_subject_or_a_name_that_is_left_out_or_misspelt_is_told(
    typed: list[str], said: str
) -> None:
    done = CliRunner().invoke(experiment_command, ["new", *typed])
    assert said in done.output + str(done.exception)
