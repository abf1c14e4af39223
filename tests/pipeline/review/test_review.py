"""`pipeline review`: which builds it holds against each other, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
import report_support
from review_support import BASE, HEAD, keep, review

from pipeline.core.errors import ArtifactError, VersionError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.release.marking import reject
from pipeline.release.version import Version

pytest_plugins = ("review_trees",)


def test_what_got_worse_is_said_first_and_fails(base: Path, tmp_path: Path) -> None:
    code, said = review(base, "--no-measure", "-o", tmp_path / "out")
    assert code == ExitCode.REGRESSION
    heading = next(line for line in said.splitlines() if line.startswith("### "))
    assert f"{HEAD} is worse than {BASE}: gain over the baseline -" in heading
    comment = (tmp_path / "out" / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- hakmem review -->\n")
    assert said.strip() in comment
    assert said.index("**error**") < said.index("**note**")


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


def test_a_build_against_another_tree_without_anything_published(
    tree: Tree, tmp_path: Path
) -> None:
    other = Tree(tmp_path / "main")
    model = report_support.good()
    keep(other, model, BASE, published=False)
    keep(tree, model.model_copy(update={"findings": (), "contract": ()}), HEAD, published=False)
    code, said = review(other.root, "--no-measure")
    assert f"{HEAD} is level with {BASE} in all that was judged" in said
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


@pytest.mark.usefixtures("tree")
def test_a_damaged_version_is_not_reviewed(base: Path) -> None:
    (base / "lib/libhakmem.so").write_bytes(b"other")
    with pytest.raises(ArtifactError, match=r"is damaged: lib/libhakmem.so \(changed\)"):
        review(base, "--no-measure")
