"""What every stage is given: the tree, the profile, the tools, the store and the console."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.closure import closure_digest, is_unchanged
from pipeline.core.console import BuildConsole, StageLine
from pipeline.core.errors import BuildError, PipelineError
from pipeline.core.paths import Tree
from pipeline.core.processor import machine
from pipeline.core.receipt import Notes, Parts
from pipeline.core.store import Artifact, Store
from pipeline.core.variant import PRODUCTION, asked_for, line_of, shared_name
from pipeline.profile.schema import Profile
from pipeline.stages.build.because import because
from pipeline.toolchain.find import Toolchain
from pipeline.toolchain.identity import MEMORY, Identities
from pipeline.toolchain.target import NATIVE, Target

if TYPE_CHECKING:
    from pipeline.judge.request import Mode

Work = Callable[[Path, StageLine], Notes]


@dataclass(frozen=True)
class Library:
    """A libhakmem.so that was checked: it is whole, it loads, a program ran with it."""

    path: Path
    digest: str
    artifact: Artifact


class StageDue(Exception):
    """A dry run came to a stage that a build would do; what follows depends on its result."""


@dataclass(frozen=True)
class Options:
    """What the user asked for on the command line, beside the profile.

    ``quick`` and ``thorough`` exclude each other. ``allow_regression`` are names of workloads, or
    "throughput", that may be shown to lose. ``tune_budget_s`` are seconds of tuning before
    all else, None for none; ``scheduler`` is who measures for it. ``verify_s`` are seconds of
    timed runs for the verdict, and for each half of the judge's check of itself, in place of the
    profile's. ``cpu`` is the kind of processor that the library is for: None is this machine's.
    ``variant`` is production, or what is published beside it. ``no_publish`` ends with the report.
    ``dry_run`` ends at the first stage that has something to do.
    """

    quick: bool = False
    redo: frozenset[str] = frozenset()
    explain: bool = False
    allow_neutral: bool = False
    allow_regression: tuple[str, ...] = ()
    branch_stacks: bool = False
    thorough: bool = False
    tune_budget_s: float | None = None
    scheduler: str | None = None
    verify_s: float | None = None
    cpu: str | None = None
    variant: str = PRODUCTION
    no_publish: bool = False
    dry_run: bool = False

    @property
    def processor(self) -> str:
        """Return the name of the kind of processor that the library is for."""
        return self.cpu or machine().name

    @property
    def words(self) -> tuple[str, ...]:
        """Return the options of `pipeline build` that ask for the same result."""
        flags = ("quick", "thorough", "allow_neutral", "branch_stacks", "no_publish")
        times = (("--tune-budget", self.tune_budget_s), ("--verify-time", self.verify_s))
        return (
            *(f"--{name.replace('_', '-')}" for name in flags if getattr(self, name)),
            *(word for name in self.allow_regression for word in ("--allow-regression", name)),
            *(word for name, s in times if s is not None for word in (name, f"{s:g}s")),
            *(("--cpu", self.cpu) if self.cpu else ()),
            *(("--variant", self.variant) if self.variant != PRODUCTION else ()),
        )

    @property
    def mode(self) -> Mode:
        """Return how much is to be measured."""
        return "quick" if self.quick else "thorough" if self.thorough else "default"


@dataclass(frozen=True)
class Workshop:
    """The surroundings of a stage. Stages keep their results in the store, nowhere else."""

    tree: Tree
    profile: Profile
    tools: Toolchain
    store: Store
    console: BuildConsole
    options: Options
    hashed: dict[str, str] = field(default_factory=dict)
    """The sources by kind, as their digests stand in keys; empty before they were read."""
    given: dict[str, str] = field(default_factory=dict)
    """Profile, lists and geometry by name, as they were when this build began."""
    target: Target = NATIVE
    """What the libraries are for: this machine, or what an emulator runs."""

    @property
    def line(self) -> str:
        """The line of versions that this build belongs to: profile and variant."""
        return line_of(self.profile.name, self.options.variant)

    @property
    def command(self) -> str:
        """The command that builds the same, for the same processor, to be copied with more."""
        cpu = f" --cpu {self.options.cpu}" if self.options.cpu else ""
        return f".venv/bin/pipeline build --profile {asked_for(self.line)}{cpu}"

    @property
    def published_name(self) -> str:
        """The name that the library is published under. In artifacts all are libhakmem.so."""
        return shared_name(self.options.variant)

    @property
    def chain(self) -> bool:
        """Whether the chain of builds, random layouts and real programs are measured."""
        return self.profile.gate.chain and not self.options.quick

    @cached_property
    def tool_keys(self) -> dict[str, str]:
        """What keys know of the tools: the version that each one says, and its digest."""
        known = Identities(self.tree.state / MEMORY)
        return {
            tool.name: f"{tool.version}, {known.of(tool.path)[:16]}" for tool in self.tools.tools
        }

    def log(self, stage: str, name: str) -> Path:
        """Return the path of a child process log of this profile."""
        logs = self.tree.logs(self.line) if self.target.is_here else self.store.folder / "logs"
        return logs / stage / f"{name}.log"

    def do(
        self, stage: str, parts: Parts, work: Work, *, summary: Callable[[Notes], str]
    ) -> Artifact:
        """Return the artifact for these parts: the one that is there, or a new one by ``work``.

        ``summary`` turns the receipt's notes into the few words that the console shows.
        """
        keyed = {**parts, "variant": self.options.variant, "recipe": _recipe(work)}
        if not self.target.is_here:
            keyed["target"] = dict(self.target.versions)
        found = None if stage in self.options.redo else self.store.find(stage, keyed)
        if self.options.explain or self.options.dry_run:
            self.console.say(f"{stage}: {self._reason(stage, keyed, found)}")
        if found is None and self.options.dry_run:
            raise StageDue(stage)
        if found is not None:
            if not self.options.dry_run:
                self.console.reused(stage, summary(found.receipt.notes))
            return found
        with self.console.stage(stage) as line:
            made = self._make(stage, keyed, work, line)
            line.done(summary(made.receipt.notes))
        return made

    def library(self, artifact: Artifact, name: str = "libhakmem.so") -> Library:
        """Return the library that an artifact holds."""
        return Library(artifact.path(name), artifact.digest(name), artifact)

    def _make(self, stage: str, parts: Parts, work: Work, line: StageLine) -> Artifact:
        try:
            return self.store.make(stage, parts, lambda room: _by_the_same_code(work, room, line))
        except PipelineError as error:
            error.add_note(stage)
            raise

    def _reason(self, stage: str, parts: dict[str, Any], found: Artifact | None) -> str:
        if found is not None:
            return "unchanged: same inputs as when it was made"
        made = "to be made" if self.options.dry_run else "made"
        if stage in self.options.redo:
            return f"{made} again, as --from asks for"
        last = self.store.latest(stage)
        if last is None:
            return "never made before"
        changed = because(last.parts, parts)
        return f"{made} because of {'; '.join(changed)}" if changed else "its artifact is damaged"


def _by_the_same_code(work: Work, room: Path, line: StageLine) -> Notes:
    """Do the work; BuildError if its code was changed since its key was made.

    Nobody knows then which of both the work was done by: Python reads a module once, when it is
    needed.
    """
    notes = work(room, line)
    if not is_unchanged(work.__module__):
        raise BuildError(
            "the pipeline's own code was changed while this build was at work, so what was made "
            "matches neither state",
            hint="the same command again builds by the code that is there now",
        )
    return notes


def _recipe(work: Work) -> str:
    """Return the digest of the stage's own module and all that it uses: its recipe.

    A changed recipe makes a new artifact.
    """
    return closure_digest(work.__module__)
