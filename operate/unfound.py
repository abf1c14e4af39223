"""Why ``hakmem`` finds no published library: what the error says, and what mends it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from pipeline.core.errors import PipelineError, ProfileError, VersionError
from pipeline.core.nested import read_json
from pipeline.core.spelling import did_you_mean
from pipeline.core.variant import PRODUCTION, line_of, share_folder

MANIFEST, DEFAULT_PROFILE = "manifest.json", "mixed"


def why(
    profile: str | None, roots: Sequence[Path], variant: str, others: Sequence[str]
) -> VersionError | None:
    """Return the error where versions of a profile are published and none can be taken.

    Who names no profile does not get another one in its place without a word. ``others`` are the
    profiles of which one can be taken.
    """
    line = line_of(profile or DEFAULT_PROFILE, variant)
    return _unreadable(line, roots, variant) or _none_current(line, roots, others)


def _unreadable(line: str, roots: Sequence[Path], variant: str) -> VersionError | None:
    """Return the error where the manifest of a current or installed version cannot be read."""
    for root in roots:
        current = root / "dist" / line / "current"
        if current.is_dir() and (reason := _damage(current / MANIFEST)):
            return _of_version(current.resolve(), reason)
        installed = root / share_folder(variant) / MANIFEST
        if installed.exists() and (reason := _damage(installed)):
            return VersionError(
                f"{installed}, the manifest of the installed version, cannot be read: {reason}",
                hint="mend the rights of the file, install again, or name a file by --library",
            )
    return None


def _damage(manifest: Path) -> str | None:
    """Return why a manifest cannot be read; None if it can."""
    try:
        said = read_json(manifest)
    except OSError as error:
        return str(error.strerror)
    except ValueError:
        return "it is not JSON"
    return None if isinstance(said, dict) else "it is not a manifest"


def _of_version(folder: Path, reason: str) -> VersionError:
    name = shlex.quote(folder.parent.name)
    return VersionError(
        f"the manifest of version {folder.name} cannot be read: {folder / MANIFEST}: {reason}",
        hint="mend its rights if they forbid it, else build the version's sources again, which "
        "writes it anew; meanwhile "
        f"`.venv/bin/pipeline rollback -p {name}` makes an older version current, if there is one",
    )


def _none_current(line: str, roots: Sequence[Path], others: Sequence[str]) -> VersionError | None:
    tree = next((one for one in roots if any(one.glob(f"dist/{line}/*/{MANIFEST}"))), None)
    if tree is None or (tree / "dist" / line / "current").exists():
        return None
    name = shlex.quote(line)
    rest = ", ".join(one for one in others if one != line)
    other = f"; --profile takes another profile's library: {rest}" if rest else ""
    return VersionError(
        f"no version of profile {line!r} is current in {tree}",
        hint=f"`.venv/bin/pipeline list -p {name}` shows why; "
        f"`.venv/bin/pipeline rollback -p {name} --to VERSION` makes one current, or, of one that "
        f"was rejected, `.venv/bin/pipeline reject -p {name} VERSION --undo`{other}",
    )


def nothing(
    profile: str | None, roots: Sequence[Path], variant: str, others: Sequence[str]
) -> PipelineError:
    """Return the error of a profile that there is not, or of which nothing is published."""
    known = {file.stem for root in roots for file in root.glob("training/profiles/*.toml")}
    if profile and known and profile not in known.union(others):
        return _unknown(profile, sorted(known.union(others)))
    return _unpublished(profile, roots, variant, others)


def _unknown(profile: str, known: Sequence[str]) -> ProfileError:
    """Return the error in the words of `pipeline`, which knows the same profiles."""
    otherwise = (
        "take one of these; in the repository, `.venv/bin/pipeline init NAME -- YOUR PROGRAM` "
        "makes a new one"
    )
    return ProfileError(
        f"unknown profile {profile!r}; known: {', '.join(known)}",
        hint=did_you_mean(profile, known, otherwise, "--profile {}"),
    )


def _unpublished(
    profile: str | None, roots: Sequence[Path], variant: str, others: Sequence[str]
) -> VersionError:
    """Return the error where nothing is published, or of ``others``, which are profiles, alone.

    One root alone is a prefix that was named: nothing is said of other places.
    """
    where = f"or installed below {roots[0]}" if len(roots) == 1 else "here or installed"
    there = f"; published: {', '.join(others)}" if others else ""
    which = f"for profile {profile!r} " if profile else ""
    production = variant == PRODUCTION
    kind = "" if production else f"{variant} "
    package = " or the package libhakmem" if production else ""
    options = _options(profile, variant)
    return VersionError(
        f"no {kind}library {which}is published {where}{there}",
        hint=f"{_meant(profile, others)}in the repository, `.venv/bin/pipeline build{options}` "
        f"makes one, and `.venv/bin/pipeline install{options} --prefix /usr/local`{package} "
        "brings it to a server; or name a file by --library",
    )


def _meant(profile: str | None, others: Sequence[str]) -> str:
    """Return a question for the profile of ``others`` that is spelt nearly so; "" if none is."""
    meant = did_you_mean(profile or "", others, form="--profile {}")
    return f"{meant} Else, " if meant else ""


def _options(profile: str | None, variant: str) -> str:
    """Return the options of a command that makes what was asked for."""
    by_profile = f" --profile {shlex.quote(profile)}" if profile else ""
    return by_profile + ("" if variant == PRODUCTION else f" --variant {variant}")
