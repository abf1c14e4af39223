"""A bundle that was unpacked, and what it brings to a build."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import PositiveInt, TypeAdapter, ValidationError

from pipeline.core.digest import digest_file
from pipeline.core.errors import DataError
from pipeline.core.store import Artifact, Store
from pipeline.core.variant import line_of
from pipeline.geometry.load import parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.release.bundle import BUNDLE, Bundle, unpack
from pipeline.release.contents import FACTORS, GEOMETRY
from pipeline.release.version import PROFILE
from pipeline.stages.build.configure import Setup, configure, require_level
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.proof.verify import Verdict
from pipeline.toolchain.symbols import read_lists

STAGE = "bundle"


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
        """Return whether the bundle has this profile."""
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


def bundled_factors(imported: Imported) -> dict[str, int]:
    """Return how much each training weighs; DataError where the bundle's file does not say it."""
    path, _ = imported.input(FACTORS)
    try:
        return TypeAdapter(dict[str, PositiveInt]).validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(
            f"the bundle of {imported.bundle.version}: {FACTORS} is not valid: "
            f"{error.errors()[0]['msg']}",
            hint="get it again from where it was exported",
        ) from error


def kept_verdict(imported: Imported, library: Library) -> Verdict | None:
    """Return the verdict that came with the bundle, if it is about the very bytes of ``library``.

    None also where an older judge wrote it.
    """
    verdict = Verdict(imported.artifact)
    try:
        judged = verdict.result().tuned.sha256
    except ValueError:  # of pydantic, or of a text that is none
        return None
    return verdict if judged == library.digest else None
