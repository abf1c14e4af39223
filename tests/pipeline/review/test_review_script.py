"""`.ci/review`: it finds a wrong BASE before it builds, and versions that are published."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from review_support import ROOT

from pipeline.core.exit_codes import ExitCode
from pipeline.release.contents import write_sums
from pipeline.release.marking import reject
from pipeline.release.version import Version
from pipeline.review import known


def _published_at(dist: Path, commit: str) -> tuple[Path, str]:
    folder = dist / "1.0-aa11"
    folder.mkdir(parents=True)
    git = {"commit": commit, "clean": True}
    text = json.dumps({"git": git, "verdict": {"mode": "quick"}})
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    write_sums(folder)
    return folder, text


def test_a_version_is_named_whose_commit_differs_in_pages_alone(tmp_path: Path) -> None:
    def commit(file: str) -> str:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("new", encoding="utf-8")
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        for words in (("init", "-q"), ("add", file), (*who, "commit", "-qm", file)):
            subprocess.run(["git", "-C", tmp_path, *words], check=True)
        return subprocess.check_output(["git", "-C", tmp_path, "rev-parse", "HEAD"], text=True)[:-1]

    dist = tmp_path / "dist" / "mixed"
    folder, _ = _published_at(dist, commit("allocator/a.c"))
    pages = [commit("docs/page.md"), commit("tests/test_a.py"), commit("CHANGELOG.md")]
    found = [known.built_at(dist, one, "quick") for one in pages]
    assert [one and one.folder for one in found] == [folder] * 3
    assert known.built_at(dist, commit("allocator/b.c"), "quick") is None


def test_a_published_version_of_the_commit_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, text = _published_at(tmp_path / "mixed", "0123")
    known.main(str(folder.parent), "0123", "quick")
    assert f"`.ci/review {folder} mixed`" in capsys.readouterr().out
    for commit, mode in (("4567", "quick"), ("0123", "default")):
        assert known.built_at(folder.parent, commit, mode) is None
    (folder / "manifest.json").write_text(f"{text} ", encoding="utf-8")
    assert known.built_at(folder.parent, "0123", "quick") is None


def script(*words: str, at: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([at / ".ci/review", *words], capture_output=True, text=True, check=False)


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    """A tree of git with the script, and with builds that end as the file `code` says."""
    root = tmp_path / "scripted"
    (root / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/review", root / ".ci/review")
    said = "[ -t 0 ] && echo asked\necho built, brief: $PIPELINE_BRIEF"
    build = f'#!/bin/sh\n{said}\nexit "$(cat "$(dirname "$0")/code")"\n'
    (root / "bootstrap").write_text(build, encoding="utf-8")
    (root / "bootstrap").chmod(0o755)
    (root / "training/profiles").mkdir(parents=True)
    (root / "training/profiles/mixed.toml").touch()
    author = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (("init", "-q"), ("add", "training"), (*author, "commit", "-qm", "x")):
        subprocess.run(["git", "-C", root, *words], check=True)
    return root


def test_the_script_says_what_it_does() -> None:
    for word in ("-h", "--help"):
        done = script(word)
        assert done.returncode == 0
        assert ".ci/review BASE [PROFILE]" in done.stdout


@pytest.mark.parametrize("words", [(), ("",)])
def test_the_script_needs_a_base(words: tuple[str, ...]) -> None:
    done = script(*words)
    assert done.returncode == ExitCode.USAGE
    assert "BASE is missing or empty" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("nosuch", "there is no revision, file or folder 'nosuch'"),
        ("bootstrap", "bootstrap is no bundle of a version"),
        (".ci", ".ci is no folder of a version, and no build of 'mixed' was judged in it"),
    ],
)
def test_the_script_finds_a_wrong_base_before_it_builds(
    base: str, said: str, scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scripted)
    done = script(base, at=scripted)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert done.stderr.startswith(f"error: {said}\n  what to do: name a git revision")


def test_the_script_finds_an_unknown_profile_before_it_builds(scripted: Path) -> None:
    done = script("HEAD", "mixd+hardened", at=scripted)
    assert (done.returncode, done.stdout) == (ExitCode.PROFILE, "")
    assert done.stderr.startswith("error: unknown profile 'mixd'; known: mixed")


def test_the_script_wants_the_profile_in_the_revision(scripted: Path) -> None:
    (scripted / "training/profiles/shop.toml").touch()
    done = script("HEAD", "shop", at=scripted)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    told = "name one that has its file, or the folder of a version: `.venv/bin/pipeline list`"
    said = f"error: revision 'HEAD' has no profile 'shop'\n  what to do: {told}"
    assert done.stderr.startswith(said)


def test_a_tree_without_that_build_gets_what_to_do_there(scripted: Path, tmp_path: Path) -> None:
    """It was told to name a tree, which it had done; PROFILE may be what it forgot."""
    other = tmp_path / "other"
    (other / "bootstrap").mkdir(parents=True)
    done = script(str(other), at=scripted)
    assert done.returncode == ExitCode.USAGE
    told = f"build 'mixed' there first, or name another profile: `.ci/review {other} PROFILE`\n"
    assert done.stderr.endswith(f"what to do: {told}")


def test_the_script_takes_the_profile_of_a_folder(scripted: Path) -> None:
    version = scripted / "dist/shop/0.2.0-1"
    version.mkdir(parents=True)
    (version / "manifest.json").write_text('{\n  "profile": "shop",\n  "schema": 1\n}\n')
    done = script(str(version), at=scripted)
    assert done.returncode == ExitCode.PROFILE
    assert done.stderr.startswith("error: unknown profile 'shop'; known: mixed")


def test_a_tree_of_which_the_version_was_rejected_is_told(
    scripted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scripted)
    (scripted / ".gitignore").write_text("*\n", encoding="utf-8")
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    folder, _ = _published_at(Path("dist/mixed"), commit)
    known.main("dist/mixed")
    assert not capsys.readouterr().out
    reject(Version(folder), "redis grows")
    known.main("dist/mixed")
    said = capsys.readouterr().out
    assert "note: 1.0-aa11 was built from the files of this tree, and was rejected on " in said
    assert "redis grows. So the review ends with exit code 16" in said


@pytest.mark.parametrize("code", [ExitCode.PROFILE, ExitCode.INTERRUPTED])
def test_the_script_ends_with_the_code_of_the_build(code: ExitCode, scripted: Path) -> None:
    (scripted / "code").write_text(str(code.value), encoding="utf-8")
    done = script("HEAD", at=scripted)
    assert done.returncode == code
    assert "built" in done.stdout


def test_what_is_published_already_is_named_before_anything_is_built(scripted: Path) -> None:
    (scripted / "code").write_text("3", encoding="utf-8")
    python = scripted / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "asked for $4 $5 in $3"\n', encoding="utf-8")
    python.chmod(0o755)
    commit = ["git", "-C", str(scripted), "rev-parse", "HEAD"]
    head = subprocess.check_output(commit, text=True).strip()
    lines = script("HEAD", at=scripted).stdout.splitlines()
    assert lines[0] == f"asked for {head} quick in dist/mixed"
    assert lines[-1] == "built, brief: 1"


def test_the_script_says_that_a_tree_is_compared_with_itself(scripted: Path) -> None:
    (scripted / "code").write_text("3", encoding="utf-8")
    assert "compared with itself" not in script("HEAD", at=scripted).stdout
    (scripted / ".gitignore").write_text("*\n", encoding="utf-8")
    said = script("HEAD", at=scripted).stdout
    assert said.startswith("note: HEAD is the commit of this tree")
    assert "`.ci/review HEAD~1`" in said


def test_ctrl_c_leaves_the_last_words_of_base(scripted: Path) -> None:
    """A terminal sends it to the whole group, as `kill 0` does."""
    text = (scripted / ".ci/review").read_text(encoding="utf-8")
    prefix = next(line for line in text.splitlines() if line.startswith("of_base()"))
    base = "pipeline_of() { trap 'echo interrupted' INT; sleep 0.5; kill -INT 0; }"
    done = subprocess.run(
        ["bash", "-c", f"trap : INT\nout=\n{base}\n{prefix}\nof_base"],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.stdout == "BASE: interrupted\n"


def test_the_script_asks_nothing_on_a_terminal(scripted: Path) -> None:
    (scripted / "code").write_text("3", encoding="utf-8")
    ours, theirs = os.openpty()
    done = subprocess.run(
        [scripted / ".ci/review", "HEAD"], stdin=theirs, capture_output=True, text=True, check=False
    )
    os.close(ours)
    os.close(theirs)
    assert "built" in done.stdout
    assert "asked" not in done.stdout
