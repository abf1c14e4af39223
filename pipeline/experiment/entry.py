"""One entry of the ledger: a file docs/experiments/SUBJECT/NAME.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from pipeline.core.errors import UsageError
from pipeline.core.paths import Tree
from pipeline.core.processor import TABLE, name_of
from pipeline.core.spelling import did_you_mean
from pipeline.geometry.model import Depth, Which
from pipeline.judge.model import BUSY
from pipeline.profile.load import read_as

Words = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Count = Annotated[int, Field(ge=1)]

SUBJECTS = {
    "hot-path": "The hot path",
    "lanes": "Lanes",
    "magazines": "Magazines and slabs",
    "remote": "Blocks of other threads",
    "purge": "Giving memory back",
    "placement": "Where small blocks lie",
    "large": "Runs, large and huge blocks",
    "huge-pages": "Huge pages of the system",
    "robustness": "Robustness, small processes, the guard",
    "layout": "Layout: PGO, BOLT and the lists",
    "judging": "Judging",
    "tuning": "Tuning",
    "recording": "Recording",
    "ablation": "Ablation",
    "measuring": "Measuring",
}
"""Folders of docs/experiments, each with its heading in the index, in order."""

_INTELS_FAMILY = 6  # of all that the table knows: "Intel model 207" leaves it out
_KIND = re.compile(rf"\b(?:{'|'.join(name for *_, name in TABLE)})(?![\w-])")
_MODEL = re.compile(r"\b(Intel|AMD)\b.*?(?:family (\d+),? )?model (\d+)")
_CPUS = re.compile(r"\b(\d+) (?:CPUs|cores)\b")
_LOAD = re.compile(r"\bload ([\d.]+) before and ([\d.]+) after")  # as trial.py writes it
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Result(_Record):
    """What came out once. ``figures`` are those that matter, ``verdict`` is what became of it.

    ``ran`` is what was measured: the workloads of a profile or a command, with their threads.
    """

    date: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d$")]
    processor: str = ""
    commit: str = ""
    verdict: Words
    figures: str = ""
    ran: str = ""

    @property
    def kind(self) -> str:
        """The kind of processor that was measured on, such as amd-zen4; "" where none is noted."""
        return kind_in(self.processor)

    @property
    def busy(self) -> bool:
        """Whether so much ran beside it that a result of a quiet machine tells more."""
        cpus, loads = _CPUS.search(self.processor), _LOAD.search(self.figures)
        if cpus is None or loads is None:
            return False
        return max(map(float, loads.groups())) > BUSY * int(cpus[1])


class Trial(_Record):
    """What side B has otherwise than side A, which is the tree as it is; and what both run.

    ``run`` is a command; without one the verify workloads of ``profile`` run.
    """

    options: dict[str, str] = Field(default_factory=dict)
    constants: dict[str, int] = Field(default_factory=dict)
    depths: dict[Which, Depth] = Field(default_factory=dict)
    cmake: dict[str, str] = Field(default_factory=dict)
    patch: str = ""
    profile: str = "mixed"
    run: tuple[str, ...] = ()
    threads: Count | None = None

    @model_validator(mode="after")
    def _runs_one_of_two(self) -> Trial:
        if self.run and "profile" in self.model_fields_set:
            raise ValueError("`run` and `profile` do not go together: take one of them out")
        return self

    @property
    def compiles(self) -> bool:
        """Whether side B is a library of its own, and not A's with other options."""
        return bool(self.constants or self.depths or self.cmake or self.patch)


class Content(_Record):
    """What the file says."""

    schema_version: Literal[1]
    title: Words
    hypothesis: str = ""
    more: str = ""
    command: str = ""
    trial: Trial | None = None
    result: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Entry:
    """An entry with its place; ``name`` is unique in the whole ledger."""

    path: Path
    content: Content

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self.path.stem

    @property
    def subject(self) -> str:
        """The folder it lies in."""
        return self.path.parent.name

    @property
    def kind(self) -> str:
        """``trial`` if it can be run again, ``record`` if it only says what was found."""
        return "trial" if self.content.trial else "record"

    @property
    def newest(self) -> tuple[Result, ...]:
        """The newest result of each kind of processor, that of the newest result first.

        It is the newest of a quiet machine, and behind it one of a busy machine if that is newer.
        """
        found: dict[str, dict[bool, Result]] = {}
        for one in reversed(self.content.result):
            of_kind = found.setdefault(one.kind, {})
            if False not in of_kind:
                of_kind.setdefault(one.busy, one)
        return tuple(two[busy] for two in found.values() for busy in (False, True) if busy in two)


def kind_in(processor: str) -> str:
    """Return the kind of processor that a result names, in whichever words; "" for none.

    Results from before kinds had names say "Intel model 207" or "AMD EPYC, family 25 model 17".
    """
    found = _KIND.search(processor) or _MODEL.search(processor)
    if found is None:
        return ""
    if found.re is _KIND:
        return found[0]
    vendor, family, model = found.groups()
    return name_of(vendor.lower(), int(family or _INTELS_FAMILY), int(model))


def ledger(tree: Tree) -> Path:
    """Return the folder of all entries."""
    return tree.root / "docs" / "experiments"


def load_entry(path: Path) -> Entry:
    """Return the entry in a file; ProfileError names the file, the key and what is allowed."""
    return Entry(path, read_as(Content, path, page="docs/experiments.md"))


def load_entries(tree: Tree, subject: str | None = None) -> list[Entry]:
    """Return all entries (of one subject), by subject and name."""
    subjects = (subject,) if subject else tuple(SUBJECTS)
    return [
        load_entry(path) for one in subjects for path in sorted((ledger(tree) / one).glob("*.toml"))
    ]


def find_entry(tree: Tree, name: str) -> Entry:
    """Return the entry called ``name``; UsageError with the nearest name if there is none.

    Whoever has its file in front of them may name that.
    """
    name = Path(name).name.removesuffix(".toml")
    paths = {path.stem: path for path in sorted(ledger(tree).glob("*/*.toml"))}
    if name not in paths:
        raise UsageError(
            f"there is no experiment {name!r}",
            hint=did_you_mean(name, paths, "`.venv/bin/pipeline experiment list` shows them all"),
        )
    return load_entry(paths[name])


def new_place(tree: Tree, subject: str, name: str) -> Path:
    """Return where a new entry goes; UsageError if the name is no name, or is taken."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} is not a valid name for an experiment",
            hint="up to 60 small letters, digits and dashes, a letter or digit first",
        )
    taken = next(iter(ledger(tree).glob(f"*/{name}.toml")), None)
    if taken is not None:
        raise UsageError(f"{taken} exists already", hint="edit it, or choose another name")
    return ledger(tree) / subject / f"{name}.toml"
