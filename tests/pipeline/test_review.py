"""`pipeline review` and .ci/review: a change held against the version it came from."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
import report_support
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.commands import report
from pipeline.core.errors import ArtifactError, ExitCode, VersionError
from pipeline.core.paths import Tree
from pipeline.geometry.model import Difference
from pipeline.layout.check import Finding
from pipeline.release.contents import write_sums
from pipeline.release.marks import reject
from pipeline.release.version import Version
from pipeline.report.compare import compare_versions
from pipeline.report.compared_model import ComparedRow, Comparison, Judgement
from pipeline.report.files import read_report, write_reports
from pipeline.report.model import Finding as Doubt
from pipeline.report.model import ReportModel, Source
from pipeline.review import known
from pipeline.review.model import RULES, SAME_PLAIN, Lists, Review
from pipeline.review.render import OWN_TITLE, markdown

ROOT = Path(__file__).resolve().parents[2]
BASE, HEAD = "0.1.0-base", "0.1.0-head"


def seal(folder: Path) -> None:
    """Write the digests of a version's files as they are now."""
    (folder / "SHA256SUMS").unlink(missing_ok=True)
    write_sums(folder)


def keep(
    tree: Tree, model: ReportModel, version: str, *, published: bool, line: str = "mixed"
) -> Path:
    """Keep a report as a build does; its library lies where it was judged, or is published."""
    library = tree.root / f"{version}.so"
    library.parent.mkdir(exist_ok=True)
    library.touch()
    tuned = model.verify.tuned.model_copy(update={"path": str(library), "sha256": version})
    verify = model.verify.model_copy(update={"tuned": tuned})
    named = model.model_copy(update={"version": version, "verify": verify})
    folder = tree.dist(line) / version if published else tree.reports(line) / version
    write_reports(folder, named)
    if published:
        (folder / "lib").mkdir()
        (folder / "lib" / "libhakmem.so").touch()
        (folder / "manifest.json").write_text("{}", encoding="utf-8")
        seal(folder)
    else:
        (folder.parent / "last").unlink(missing_ok=True)
        (folder.parent / "last").symlink_to(version)
    return folder


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A tree whose last build was not published, and lists of two symbols."""
    tree = Tree(tmp_path / "head")
    lists = tree.layout("mixed")
    lists.mkdir(parents=True)
    (lists / "hot.txt").write_text("# first\nhak_malloc\nhak_free # why\n", encoding="utf-8")
    (lists / "cold.txt").write_text("hak_fatal\n", encoding="utf-8")
    tree.profiles.mkdir(parents=True)
    profile = (ROOT / "training/profiles/mixed.toml").read_text(encoding="utf-8")
    (tree.profiles / "mixed.toml").write_text(profile, encoding="utf-8")
    (tree.root / "VERSION").write_text("0.1.0\n", encoding="utf-8")
    contract = (
        Finding(rule="line", symbol="hak_free", text="starts at 0x10", broken=True),
        Finding(rule="cold", symbol="hak_fatal", text="lies in the hot range", broken=True),
        Finding(rule="listed", symbol="pop", text="12 % of all calls", broken=False),
    )
    head = report_support.bad().model_copy(update={"contract": contract})
    keep(tree, head, HEAD, published=False)
    monkeypatch.setattr(Tree, "here", classmethod(lambda _: tree))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tree


@pytest.fixture
def base(tree: Tree, tmp_path: Path) -> Path:
    """The folder of a published version of another tree."""
    assert tree.root != tmp_path / "main"
    return keep(Tree(tmp_path / "main"), report_support.good(), BASE, published=True)


def review(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["review", *map(str, words)], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.return_value, result.output


def test_what_got_worse_is_said_first_and_fails(base: Path, tmp_path: Path) -> None:
    code, said = review(base, "--no-measure", "-o", tmp_path / "out")
    assert code == ExitCode.REGRESSION
    heading = next(line for line in said.splitlines() if line.startswith("### "))
    assert f"{HEAD} is worse than {BASE}: gain over the baseline -" in heading
    comment = (tmp_path / "out" / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- hakmem review -->\n")
    assert said.strip() in comment
    assert said.index("**error**") < said.index("**note**")


def test_what_is_said_of_the_own_baseline_stands_apart(base: Path) -> None:
    """Two lines on throughput, one beside BASE and one beside the baseline, looked alike."""
    _, said = review(base, "--no-measure")
    before, _, own = said.partition(OWN_TITLE)
    assert f"is worse than in {BASE}" in before
    assert "**warning**" not in before
    assert "**warning**" in own


def test_a_variant_is_held_against_the_same_variant(tree: Tree, base: Path, tmp_path: Path) -> None:
    """Its builds lie beside production's; profile and lists are the same."""
    line, main = "mixed+hardened", Tree(tmp_path / "main")
    keep(tree, report_support.bad(), "0.1.0-hard", published=False, line=line)
    keep(main, report_support.good(), "0.1.0-before", published=False, line=line)
    for words in (("--variant", "hardened"), ("-p", line)):
        _, said = review(main.root, "--no-measure", *words)
        assert "0.1.0-hard" in said
        assert "0.1.0-before" in said
    _, said = review(base, "--no-measure")
    assert HEAD in said


def test_a_base_of_another_mode_is_told(base: Path, tree: Tree, tmp_path: Path) -> None:
    """A full build may have chosen another step of the chain than a quick one can."""
    told = f"{BASE} was built in mode default, which may choose another step of the chain"
    for mode, expected in (("quick", True), ("default", False)):
        head = report_support.bad()
        verify = head.verify.model_copy(update={"mode": mode})
        keep(tree, head.model_copy(update={"verify": verify}), f"{HEAD}-{mode}", published=False)
        _, said = review(base, "--no-measure", "-o", tmp_path / mode)
        assert (told in " ".join(said.split())) is expected


def test_the_layout_contract_is_named_by_file_and_line(base: Path, tmp_path: Path) -> None:
    review(base, "--no-measure", "-o", tmp_path)
    log = json.loads((tmp_path / "review.sarif").read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    found = {
        one["message"]["text"]: (one["level"], one["locations"][0]["physicalLocation"])
        for one in log["runs"][0]["results"]
        if one["ruleId"] == "layout"
    }
    level, place = found["hak_free: line: starts at 0x10"]
    assert (level, place["artifactLocation"]["uri"]) == ("error", "layouts/mixed/hot.txt")
    assert place["region"]["startLine"] == 3
    level, place = found["hak_fatal: cold: lies in the hot range"]
    assert (level, place["artifactLocation"]["uri"]) == ("error", "layouts/mixed/cold.txt")
    assert found["pop: not listed: 12 % of all calls"][0] == "note"
    known = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in log["runs"][0]["results"]} <= known


@pytest.mark.parametrize(("symbol", "said"), [("pop", "not listed"), ("hak_fatal", "in cold.txt")])
def test_what_ran_often_is_told_where_base_does_not_have_it(
    symbol: str, said: str, tree: Tree, base: Path
) -> None:
    often = Finding(rule="listed", symbol=symbol, text="12 % of all calls", broken=False)
    keep(
        tree, report_support.good().model_copy(update={"contract": (often,)}), HEAD, published=False
    )
    note = f"**note**: {symbol}: {said}"
    assert note in review(base, "--no-measure")[1]
    write_reports(base, read_report(base).model_copy(update={"contract": (often,)}))
    seal(base)
    assert note not in review(base, "--no-measure")[1]


def test_a_change_of_lists_is_told_and_warned_of_where_the_function_ran_often(
    tree: Tree, base: Path, tmp_path: Path
) -> None:
    good = report_support.good()
    assert good.code is not None
    sides = tuple(
        side.model_copy(
            update={
                "functions": tuple(
                    one.model_copy(update={"listed": "cold" if one.name == "hak_free" else None})
                    if one.name in ("hak_free", "hak_malloc")
                    else one
                    for one in side.functions
                )
            }
        )
        for side in good.code
    )
    often = Finding(rule="listed", symbol="hak_malloc", text="12 % of all calls", broken=False)
    moved = good.model_copy(update={"code": sides, "contract": (often,), "findings": ()})
    keep(tree, moved, HEAD, published=False)
    _, said = review(base, "--no-measure", "-o", tmp_path)
    assert "**warning**: hak_malloc: another list: hot.txt → no list; 12 % of all calls" in said
    assert "**note**: hak_free: another list: hot.txt → cold.txt" in said
    assert "hak_malloc: not listed" not in said


def test_what_is_about_the_whole_build_has_no_place_in_the_change(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, said = review(base, "--no-measure", "-o", tmp_path)
    assert "::error title=" in said and "file=training/" not in said
    assert "training/profiles" not in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert "training/profiles/mixed.toml" in (tmp_path / "review.sarif").read_text(encoding="utf-8")


def test_figures_that_were_measured_now_are_told_from_those_of_the_reports(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "The table is of this run, BASE against this change"
    assert told not in review(base, "--no-measure")[1]
    monkeypatch.setattr(report, "judged", lambda *_, **__: report_support.judged())
    assert told in review(base)[1]


def test_junit_counts_what_fails(base: Path, tmp_path: Path) -> None:
    review(base, "--no-measure", "-o", tmp_path)
    suite = ET.parse(tmp_path / "junit.xml").getroot()
    cases = list(suite)
    failed = [case for case in cases if case.find("failure") is not None]
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(len(failed)))
    broken = next(case for case in failed if "layouts/" in (case.get("name") or ""))
    assert "layouts/mixed/hot.txt:3: hak_free" in (broken[0].text or "")
    never = {"What was measured is decided.", RULES["regression"]}
    assert not never & {case.get("name") for case in cases}


def test_annotations_are_printed_in_a_job_alone(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "::error" not in review(base, "--no-measure")[1]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    said = review(base, "--no-measure")[1]
    assert "::error file=layouts/mixed/hot.txt,line=3,title=hak_free%3A line::starts at" in said
    lines = [line for line in said.splitlines() if line.startswith("::")]
    assert all(line.count("::") >= 2 for line in lines)


def test_a_build_against_another_tree_without_anything_published(
    tree: Tree, tmp_path: Path
) -> None:
    other = Tree(tmp_path / "main")
    model = report_support.good()
    keep(other, model, BASE, published=False)
    keep(tree, model.model_copy(update={"findings": (), "contract": ()}), HEAD, published=False)
    code, said = review(other.root, "--no-measure")
    assert f"{HEAD} is not shown to be worse than {BASE}" in said
    assert code == ExitCode.OK


def test_a_build_against_itself_has_nothing_to_compare(tree: Tree) -> None:
    good = report_support.good().model_copy(update={"findings": (), "contract": ()})
    for published in (True, False):
        keep(tree, good, HEAD, published=published)
    code, said = review(HEAD)
    assert f"BASE ({HEAD}) and HEAD ({HEAD}) are the same library." in said
    assert "There is nothing to compare." in said and "| change |" not in said
    assert code == ExitCode.OK


def test_what_is_not_there_is_named(tree: Tree, base: Path, tmp_path: Path) -> None:
    with pytest.raises(VersionError, match="is no folder of a version"):
        review(f"{tmp_path}/nowhere", "--no-measure")
    with pytest.raises(VersionError) as refused:
        review("main", "--no-measure")
    assert "`.ci/review main` builds the revision" in str(refused.value.hint)
    (tree.root / f"{HEAD}.so").unlink()
    with pytest.raises(ArtifactError, match=f"the library of {HEAD} is gone"):
        review(base, "--no-measure")


def test_a_build_that_was_rejected_is_not_fit_to_land(tree: Tree, base: Path) -> None:
    good = report_support.good().model_copy(update={"findings": (), "contract": ()})
    keep(tree, good, HEAD, published=False)
    assert review(base, "--no-measure")[0] == ExitCode.OK
    folder = keep(tree, good, HEAD, published=True)
    reject(Version(folder), "uses more memory")
    code, said = review(base, "--no-measure")
    assert code == ExitCode.REGRESSION
    heading = next(line for line in said.splitlines() if line.startswith("### "))
    assert f"{HEAD} is not fit to land: REJECTED on " in heading
    assert ": uses more memory" in heading


def test_what_is_said_beside_another_version_is_left_out(tree: Tree, base: Path) -> None:
    """A finding beside the version before stood below "its own baseline"."""
    good = report_support.good()
    assert good.previous is not None
    before = good.previous.version
    beside = [
        Doubt(kind="regression", what=f"memory is worse than in {name}", detail="", anchor="")
        for name in (before, "the baseline")
    ]
    keep(tree, good.model_copy(update={"findings": tuple(beside)}), HEAD, published=False)
    _, said = review(base, "--no-measure")
    assert "memory is worse than in the baseline" in said
    assert f"memory is worse than in {before}" not in said


def test_a_comment_says_what_the_builds_are_made_of(tree: Tree, base: Path) -> None:
    good = report_support.good()
    source = Source(commit="0123456789abcdef", clean=False, command=None, changed=("VERSION",))
    depth = Difference(what="small_depth", before="32", after="8", why="", worth="")
    keep(Tree(base.parents[2]), good.model_copy(update={"geometry": ()}), BASE, published=False)
    changed = good.model_copy(update={"source": source, "geometry": (depth,)})
    keep(tree, changed, HEAD, published=False)
    _, said = review(base.parents[2], "--no-measure")
    assert f"BASE is version {BASE}, of commit 0123abcd. This change" in said
    assert f"version {HEAD}, of commit 0123456789ab with files not committed." in said
    assert "Geometry, then → now: small_depth 32 → 8." in said


@pytest.mark.usefixtures("tree")
def test_the_commit_of_a_side_may_stand_in_its_manifest_alone(base: Path) -> None:
    write_reports(base, read_report(base).model_copy(update={"source": None}))
    text = json.dumps({"git": {"commit": "fedcba9876543210"}})
    (base / "manifest.json").write_text(text, encoding="utf-8")
    seal(base)
    said = review(base, "--no-measure")[1]
    assert f"BASE is version {BASE}, of commit fedcba987654. This change is" in said


@pytest.mark.usefixtures("tree")
def test_a_damaged_version_is_not_reviewed(base: Path) -> None:
    (base / "lib/libhakmem.so").write_bytes(b"other")
    with pytest.raises(ArtifactError, match=r"is damaged: lib/libhakmem.so \(changed\)"):
        review(base, "--no-measure")


def model_of(row: ComparedRow, *more: ComparedRow) -> Review:
    """A review of two builds that differ in these rows."""
    comparison = Comparison(
        version=BASE, created="", measured=True, rows=(row,), workloads=more, functions=(),
        code=None, notes=(),
    )  # fmt: skip
    head = report_support.good().model_copy(update={"version": HEAD, "contract": ()})
    return Review(BASE, "default", head, comparison, "mixed.toml", Lists("hot", "cold", {}, {}))


def row(name: str, judgement: Judgement, *changes: float) -> ComparedRow:
    ratio, low, high = (*changes, None, None)[:3]
    return ComparedRow(
        name=name, unit="", before=1, after=1, ratio=ratio, low=low, high=high,
        judgement=judgement, why="why",
    )  # fmt: skip


def test_the_headline_has_the_interval_of_what_is_undecided() -> None:
    said = model_of(row("throughput", "unclear", 0.99, 0.9851, 1.0065)).sentence
    assert said == (
        f"{HEAD} is not shown to be worse than {BASE}; throughput undecided: -1.49 % to +0.65 %."
    )


def test_the_headline_of_a_bad_review_has_figures() -> None:
    worse = (row("throughput", "worse", 0.87, 0.861, 0.881), row("instructions", "worse", 1.89))
    more = [row(f"workload {number}", "worse", 1.5) for number in range(8)]
    assert model_of(*worse).sentence == (
        f"{HEAD} is worse than {BASE}: throughput -13.00 % [-13.90 %, -11.90 %], "
        "instructions +89.00 %."
    )
    assert model_of(*worse, *more).sentence.endswith("instructions +89.00 %; 8 more below.")


def test_what_is_on_record_says_what_it_rests_on(base: Path) -> None:
    said = review(base, "--no-measure")[1]
    model = compare_versions(read_report(base), report_support.bad())
    assert all(one.why in said for one in model.rows if one.judgement != "info")
    assert "- by record, peak memory: margin" in said


def test_notes_of_a_comparison_stand_in_the_review() -> None:
    model = model_of(row("throughput", "same", 1.0))
    noted = replace(model, comparison=model.comparison.model_copy(update={"notes": ("odd",)}))
    assert "- note: odd" in markdown(noted)


def test_plain_builds_of_the_same_bytes_are_said_to_be(tree: Tree, base: Path) -> None:
    assert SAME_PLAIN in review(base, "--no-measure")[1]
    good = report_support.good()
    other = good.verify.baseline.model_copy(update={"sha256": "0"})
    verify = good.verify.model_copy(update={"baseline": other})
    keep(tree, good.model_copy(update={"verify": verify}), HEAD, published=False)
    assert SAME_PLAIN not in review(base, "--no-measure")[1]


def test_the_table_has_intervals(base: Path) -> None:
    said = review(base, "--no-measure")[1]
    assert "| | BASE | this change | change | interval | is |" in said
    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("| ")][1:]
    assert all(len(row) == 6 for row in rows)
    assert any(re.fullmatch(r"\[[+-].+ %, [+-].+ %\]", row[4]) for row in rows)


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
    build = '#!/bin/sh\n[ -t 0 ] && echo asked\necho built\nexit "$(cat "$(dirname "$0")/code")"\n'
    (root / "bootstrap").write_text(build, encoding="utf-8")
    (root / "bootstrap").chmod(0o755)
    author = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (("init", "-q"), (*author, "commit", "-qm", "x", "--allow-empty")):
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
    assert said in done.stderr


@pytest.mark.parametrize("code", [ExitCode.PROFILE, ExitCode.INTERRUPTED])
def test_the_script_ends_with_the_code_of_the_build(code: ExitCode, scripted: Path) -> None:
    (scripted / "code").write_text(str(code.value), encoding="utf-8")
    done = script("HEAD", at=scripted)
    assert done.returncode == code
    assert "built" in done.stdout


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
