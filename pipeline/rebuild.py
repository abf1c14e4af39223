"""A rebuild from a bundle, as one straight page: no training, and the same bytes."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError, DataError, ProfileError, ToolError
from pipeline.core.paths import Tree
from pipeline.core.store import Artifact, Store
from pipeline.core.variant import line_of
from pipeline.geometry.load import parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.profile.load import load_profile
from pipeline.profile.schema import Profile
from pipeline.release.bundle import BUNDLE, Bundle, unpack
from pipeline.release.contents import CONTEXT_PROFDATA, FACTORS, FDATA, GEOMETRY
from pipeline.release.origin import other_sources, other_tools
from pipeline.release.version import PROFILE
from pipeline.stages.bolt.optimize import bolt
from pipeline.stages.bolt.train import EdgeProfile
from pipeline.stages.build.baseline import Baseline, baseline
from pipeline.stages.build.configure import Setup, configure, require_level
from pipeline.stages.build.cut import cut
from pipeline.stages.build.finish import finish
from pipeline.stages.build.record import record
from pipeline.stages.build.slowdown import slowdown
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.pgo.optimize import CONTEXT, FLAVOURS, SECTIONS, WHOLE, Flavour, pgo
from pipeline.stages.pgo.static import Archive, static
from pipeline.stages.proof.candidate import LAID_OUT, Candidate
from pipeline.stages.proof.verify import Verdict, verify
from pipeline.stages.publish.publish import Published, check_writable, publish
from pipeline.stages.publish.release import Release
from pipeline.toolchain.profdata import PROFDATA
from pipeline.toolchain.symbols import read_lists

STAGE = "bundle"
# What a bundle would have this machine execute, beside our own programs.
COMMANDS = "commands"


@dataclass(frozen=True)
class Imported:
    """A bundle that was checked and unpacked into an artifact. ``digest`` is the file's."""

    bundle: Bundle
    artifact: Artifact
    digest: str

    @property
    def profile(self) -> Path:
        """The folder with profiles, weights and symbol lists."""
        return self.artifact.folder / PROFILE

    def has(self, name: str) -> bool:
        """Tell whether the bundle has this profile."""
        return f"{PROFILE}/{name}" in self.artifact.receipt.outputs

    def input(self, name: str) -> tuple[Path, str]:
        """Return path and digest of a profile; DataError if the bundle lacks it."""
        if not self.has(name):
            raise DataError(
                f"the bundle of {self.bundle.version} has no {name}, which it needs",
                hint="export it again: `.venv/bin/pipeline bundle export -p "
                f"{line_of(self.bundle.profile, self.bundle.variant)} {self.bundle.version}`",
            )
        full = f"{PROFILE}/{name}"
        return self.artifact.path(full), self.artifact.digest(full)

    def profdata(self, name: str) -> ProfileData:
        """Return a PGO profile; DataError if the bundle lacks it."""
        return ProfileData(*self.input(name), self.artifact)


def take_in(store: Store, file: Path) -> Imported:
    """Unpack a bundle into the store; DataError if it is damaged."""
    digest = digest_file(file)
    found = store.find(STAGE, {"bundle": digest})

    def work(room: Path) -> dict[str, str]:
        bundle = unpack(file, room)
        (room / BUNDLE).write_text(bundle.model_dump_json(), encoding="utf-8")
        return {"version": bundle.version}

    made = found or store.make(STAGE, {"bundle": digest}, work)
    text = made.path(BUNDLE).read_text(encoding="utf-8")
    return Imported(Bundle.model_validate_json(text), made, digest)


def rebuild(shop: Workshop, imported: Imported, allowed: frozenset[str]) -> Published:
    """Build the bundle's version again and publish it.

    The same bytes carry the verdict that the bundle brings; other bytes are judged anew. What
    differs and is not ``allowed`` is refused: ToolError or DataError.
    """
    check_writable(shop.tree.dist(shop.line))
    setup = imported_setup(shop, imported)
    early = refuse_others(differences(shop, setup, imported.bundle), allowed)
    if early:  # it will be judged: ask before anything is built
        require_consent(shop.tree, shop.profile, allowed)
    plain = baseline(shop, setup)
    profile = imported.profdata(PROFDATA)
    archive = static(shop, setup, profile)
    candidate = compile_step(shop, setup, plain, imported)
    late = refuse_others(_flag_differences(shop, imported.bundle), allowed)
    identical = _compare(
        shop, imported.bundle, candidate, archive, {*early, *late, *allowed} - {COMMANDS}
    )
    kept = kept_verdict(imported, candidate.library) if identical else None
    if kept is None:
        require_consent(shop.tree, shop.profile, allowed)
    release = Release(
        candidate=candidate,
        archive=archive,
        profile=profile,
        factors=json.loads((imported.profile / FACTORS).read_text(encoding="utf-8")),
        verdict=kept or _judge(shop, setup, plain, candidate),
        geometry=setup.geometry,
        inputs=imported.profile,
        rebuilt_from={
            "version": imported.bundle.version,
            "bundle": imported.digest,
            "bit_identical": identical,
            "verdict_kept": kept is not None,
            "differences": {**early, **late},
        },
    )
    return publish(shop, release)


def imported_setup(shop: Workshop, imported: Imported) -> Setup:
    """Return the checked inputs, with the symbol lists and the geometry of the bundle."""
    lists, geometry = read_lists(imported.profile), bundled_geometry(shop, imported)
    require_level(geometry)
    return replace(configure(shop), lists=lists, geometry=geometry)


def bundled_geometry(shop: Workshop, imported: Imported) -> Geometry | None:
    """Return how the bundle's version was cut; None where it has no file of that."""
    if not imported.has(GEOMETRY):
        return None
    return parse_geometry(imported.profile / GEOMETRY, default_geometry(shop.tree))


def _compare(
    shop: Workshop, bundle: Bundle, candidate: Candidate, archive: Archive, expected: set[str]
) -> bool:
    """Tell whether both libraries have the bundle's bytes; ArtifactError if they had to."""
    identical = (candidate.library.digest, archive.digest) == (bundle.library, bundle.archive)
    if not identical and not expected:
        raise ArtifactError(
            "the rebuilt library is not bit-identical to the one that the bundle was made with, "
            "though sources, tools and flags are the same",
            hint="`--allow tools` takes it as a new build all the same, and judges it",
        )
    alike = "bit-identical to" if identical else "other bytes than"
    shop.console.say(f"the rebuilt library: {alike} {bundle.version}")
    return identical


def _judge(shop: Workshop, setup: Setup, plain: Baseline, candidate: Candidate) -> Verdict:
    slowed = slowdown(shop, setup)
    return verify(shop, record(shop, setup), plain, candidate.library, slowed)


def compile_step(shop: Workshop, setup: Setup, plain: Baseline, imported: Imported) -> Candidate:
    """Do the step that the bundle's version ended with, and those that it stands on."""
    step = imported.bundle.step
    plain = cut(shop, setup, plain)
    if step == "tune":
        return Candidate(step, finish(shop, plain.library))
    flavour = FLAVOURS.get(step) or best_flavour(imported)
    profile = None if flavour is SECTIONS else profile_for(imported, flavour)
    linked = pgo(shop, setup, plain, profile, flavour)
    if step not in LAID_OUT:
        return Candidate(step, finish(shop, linked), profile)
    path, digest = imported.input(FDATA)
    edges = EdgeProfile(path, digest, imported.artifact)
    return Candidate(step, bolt(shop, setup, linked, edges, step), profile, edges)


def best_flavour(imported: Imported) -> Flavour:
    """Return how the library that BOLT lays out is compiled: by all profiles that there are."""
    return CONTEXT if imported.has(CONTEXT_PROFDATA) else WHOLE


def profile_for(imported: Imported, flavour: Flavour) -> ProfileData:
    """Return the bundle's profile that a flavour is compiled by."""
    return imported.profdata(CONTEXT_PROFDATA if flavour is CONTEXT else PROFDATA)


def kept_verdict(imported: Imported, library: Library) -> Verdict | None:
    """Return the verdict that came with the bundle, if it is about the very bytes of ``library``.

    None also where an older judge wrote it.
    """
    verdict = Verdict(imported.artifact)
    try:
        judged = verdict.result().tuned.sha256
    except ValidationError:
        return None
    return verdict if judged == library.digest else None


def require_consent(tree: Tree, profile: Profile, allowed: frozenset[str]) -> None:
    """Raise DataError unless the user allows what judging by a bundle's profile would execute.

    Commands that the tree's own profile of that name has as well need no consent.
    """
    foreign = [one for one in _executed(profile) if one not in _own_commands(tree, profile.name)]
    if foreign and COMMANDS not in allowed:
        lines = "; ".join(shlex.join(command) for command in foreign)
        raise DataError(
            f"to judge this bundle, commands of its profile would be executed: {lines}",
            hint=f"if you trust them: `--allow {COMMANDS}`",
        )


def _executed(profile: Profile) -> list[tuple[str, ...]]:
    """Return the command lines that judging by a profile executes beside our own programs."""
    found = []
    for one in profile.verifying:
        command = getattr(one, "argv", None) or getattr(one, "record", None)
        if command:
            variables = sorted(f"{name}={value}" for name, value in one.env.items())
            found.append((*(("env", *variables) if variables else ()), *command))
    return found


def _own_commands(tree: Tree, name: str) -> list[tuple[str, ...]]:
    try:
        return _executed(load_profile(tree, name))
    except ProfileError:
        return []


def refuse_others(
    differing: dict[str, str],
    allowed: frozenset[str],
    then: str = "the result is then judged as a new build",
) -> dict[str, str]:
    """Return ``differing`` if all of it is allowed; else raise an error that names the rest."""
    for kind, sentence in differing.items():
        if kind not in allowed:
            error = ToolError if kind == "tools" else DataError
            raise error(
                f"the bundle was made with other {kind}: {sentence}",
                hint=f"use the same, or `--allow {kind}`: {then}",
            )
    return differing


def differences(shop: Workshop, setup: Setup, bundle: Bundle) -> dict[str, str]:
    """Return what differs before anything is built: sources and tools."""
    found = {
        "sources": other_sources(bundle.sources, setup.sources),
        "tools": other_tools(bundle.tools, shop.tools.versions),
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def _flag_differences(shop: Workshop, bundle: Bundle) -> dict[str, str]:
    """Return how the flags of the stages that were just done differ from the bundle's."""
    now = {a.receipt.stage: a.receipt.parts.get("flags", []) for a in shop.store.used}
    lines = [
        f"{stage}: {' '.join(changed)}"
        for stage, flags in bundle.flags.items()
        if (changed := sorted(set(flags) ^ set(now.get(stage, ()))))
    ]
    return {"flags": "; ".join(lines)} if lines else {}
