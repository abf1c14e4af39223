"""The ledger of experiments: each entry that is there, and the page that is made from them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from prose import LONGEST_CELL, LONGEST_SENTENCE

from pipeline.core.paths import Tree
from pipeline.experiment.entry import SUBJECTS, Entry, load_entries
from pipeline.experiment.page import MARK, page_of, render
from pipeline.experiment.sides import require_trial

ROOT = Path(__file__).resolve().parents[2]
TREE = Tree(ROOT)
ENTRIES = load_entries(TREE)


def test_the_index_is_made_from_the_entries() -> None:
    text = page_of(TREE).read_text(encoding="utf-8")
    assert MARK in text
    stale = "the page lacks what entries say: give `.venv/bin/python -m pipeline.experiment.page`"
    assert render(text, ENTRIES) == text, stale


def test_every_file_lies_in_the_folder_of_a_subject_and_has_a_name_of_its_own() -> None:
    files = sorted((ROOT / "docs" / "experiments").rglob("*.toml"))
    assert sorted(one.path for one in ENTRIES) == files
    assert len({path.stem for path in files}) == len(files) > 100
    assert {one.subject for one in ENTRIES} == set(SUBJECTS)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda one: one.name)
def test_an_entry_is_short_and_in_short_sentences(entry: Entry) -> None:
    content = entry.content
    brief = [content.title]
    brief += [words for one in content.result for words in (one.verdict, one.figures)]
    assert all(len(words.split()) <= LONGEST_CELL for words in brief)
    for part in (content.hypothesis, content.more):
        assert not part or part.endswith((".", "?"))
        for sentence in re.split(r"(?<=[.?!])\s", part):
            assert len(sentence.split()) <= LONGEST_SENTENCE, sentence


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.kind == "trial"], ids=str)
def test_a_trial_changes_something_that_is_there(entry: Entry) -> None:
    changed = require_trial(entry)
    constants = (ROOT / "allocator" / "base" / "constants.def").read_text(encoding="utf-8")
    assert all(f"HAK_{name.upper()}," in constants for name in changed.constants)
    options = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in options for name in changed.options)
    assert not changed.patch or (entry.path.parent / changed.patch).is_file()


PATCHED = [one for one in ENTRIES if one.content.trial and one.content.trial.patch]


@pytest.mark.parametrize("entry", PATCHED, ids=lambda one: one.name)
def test_a_patch_fits_the_sources(entry: Entry) -> None:
    """A change of the sources that makes a patch rot is told at once, not at its next run."""
    patch = entry.path.parent / require_trial(entry).patch
    check = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"mend {patch.name}: {done.stderr}"


def test_each_processor_of_the_ledger_is_of_a_known_kind() -> None:
    named = [one for entry in ENTRIES for one in entry.content.result if one.processor]
    assert named and all(one.kind for one in named)
