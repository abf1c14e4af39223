"""A release of the sources: the notes under "Unreleased" get a version and a date, and a tag."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import UsageError
from pipeline.core.files import replace_text
from pipeline.core.process import run
from pipeline.release.commit import commit_of

CHANGELOG, VERSION = "CHANGELOG.md", "VERSION"
NAMING = ("pyproject.toml", "packaging/rust/Cargo.toml", "packaging/vcpkg/hakmem/vcpkg.json")
"""Files of other tools that name the version, on a line of its own."""

UNRELEASED = "## Unreleased"
LIMIT_S = 60.0
_LINE = re.compile(r"""^( *"?version"? ?[=:] )"[^"]*\"""", re.M)
_NUMBERS = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True)
class SourceRelease:
    """A planned release: its version, and its notes in Markdown without their heading."""

    version: str
    notes: str

    @property
    def tag(self) -> str:
        """The name of its tag."""
        return f"v{self.version}"


def plan_release(root: Path, version: str) -> SourceRelease:
    """Check that ``version`` can be released from the tree at ``root``, and return the plan.

    UsageError: the version is no X.Y.Z or not above the last one, files are not committed, or
    nothing stands under "Unreleased" in CHANGELOG.md.
    """
    before = (root / VERSION).read_text(encoding="utf-8").strip()
    if _numbers(version) <= _numbers(before):
        raise UsageError(
            f"{version} is not above {before}, the version of this tree",
            hint="name a higher one",
        )
    commit = commit_of(root)
    if commit is None:
        raise UsageError(
            "this tree is not a git checkout, so there is nothing to tag",
            hint="release from a clone",
        )
    if not commit["clean"]:
        changed = ", ".join(commit["changed"][:5])
        raise UsageError(f"not all files are committed: {changed}", hint="commit them first")
    return SourceRelease(version, _notes(root))


def carry_out_release(root: Path, release: SourceRelease, date: str) -> None:
    """Write the version and the notes' heading, commit both, and tag the commit.

    ``date`` is a day, as 2026-01-31. Nothing is pushed.
    """
    changelog = (root / CHANGELOG).read_text(encoding="utf-8")
    heading = f"{UNRELEASED}\n\n## {release.version} ({date})"
    replace_text(root / CHANGELOG, changelog.replace(UNRELEASED, heading, 1))
    replace_text(root / VERSION, f"{release.version}\n")
    for name in NAMING:
        text = (root / name).read_text(encoding="utf-8")
        replace_text(root / name, _LINE.sub(rf'\g<1>"{release.version}"', text, count=1))
    _git(root, "commit", "-q", "-m", f"Release {release.version}", CHANGELOG, VERSION, *NAMING)
    message = f"hakmem {release.version}\n\n{release.notes}"
    _git(root, "tag", "--annotate", "--cleanup=verbatim", release.tag, "-m", message)


def _numbers(version: str) -> tuple[int, ...]:
    match = _NUMBERS.fullmatch(version)
    if match is None:
        raise UsageError(f"{version!r} is no version", hint="three numbers are, as in 1.2.3")
    return tuple(int(number) for number in match.groups())


def _notes(root: Path) -> str:
    """Return what stands under "Unreleased", up to the heading of the last release."""
    _, found, rest = (root / CHANGELOG).read_text(encoding="utf-8").partition(f"{UNRELEASED}\n")
    notes = re.split(r"^## ", rest, maxsplit=1, flags=re.M)[0].strip()
    if not found or not notes:
        raise UsageError(
            f"{CHANGELOG} has nothing under `{UNRELEASED}`",
            hint="write there what users will notice",
        )
    return notes


def _git(root: Path, *arguments: str) -> None:
    run(["git", "-C", root, *arguments], timeout_s=LIMIT_S)
