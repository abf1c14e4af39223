"""``pipeline install`` and ``pipeline uninstall``: a published version below a prefix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import alone_variant_option, version_option
from pipeline.commands.versions import complete_version
from pipeline.core.variant import shared_name

if TYPE_CHECKING:
    from pipeline.release.install_plan import Plan
    from pipeline.release.installed import Place
    from pipeline.release.version import Version

# Here the loader finds a new library only when its cache is made again.
CACHED_PREFIXES = (Path("/usr"), Path("/usr/local"))


def _place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    folder = click.Path(file_okay=False, path_type=Path)
    options = (
        click.option(
            "--prefix",
            type=folder,
            required=True,
            help="Root of the installation, such as /usr/local.",
        ),
        click.option("--destdir", type=folder, help="Write below this folder (for packagers)."),
        click.option("--dry-run", is_flag=True, help="Only say what would be done."),
    )
    for option in reversed(options):
        command = option(command)
    return command


STILL_OLD = (
    "programs that run keep the library that was there until they start again: "
    "`.venv/bin/hakmem check PID` tells which one a process has"
)


@click.command("install")
@version_option
@click.argument("version", required=False, shell_complete=complete_version)
@_place_options
@click.option("--force", is_flag=True, help="Overwrite files that others have put there.")
def install_command(
    profile: str,
    version: str | None,
    prefix: Path,
    destdir: Path | None,
    dry_run: bool,
    force: bool,
) -> None:
    """Install a published version below a prefix.

    That is libraries, header, pkg-config file and CMake package. VERSION is a name (a unique
    beginning will do) or a folder; without it, the current version. It replaces the version that
    is installed there, older or newer; PREFIX/share/hakmem/installed.json says which files are its.
    A hardened version lies beside production: libhakmem-hardened, share/hakmem-hardened/.

    \b
    Examples:
      pipeline install --prefix /usr/local --dry-run
      pipeline install --prefix /usr --destdir debian/tmp 0.1.0-3f2a
    """
    from pipeline.core.lock import folder_lock
    from pipeline.core.paths import Tree
    from pipeline.release.install_plan import check_prefix
    from pipeline.release.installed import Place
    from pipeline.release.marks import require_accepted
    from pipeline.release.mending import require_undamaged
    from pipeline.release.wish import resolve

    profile = line_meant(profile, version)
    found = resolve(Tree.here(), profile, version)
    require_accepted(found)  # a build does not mend what is rejected
    require_undamaged(found)
    if destdir is None:
        _refuse_foreign(found)
    place = Place(prefix, destdir.absolute() if destdir else None, found.variant)
    check_prefix(place)
    if not dry_run:
        place.root.mkdir(parents=True, exist_ok=True)
    with folder_lock(place.root, click.echo):
        _install(found, place, Tree.here().dist(profile), dry_run=dry_run, force=force)


def _install(found: Version, place: Place, dist: Path, *, dry_run: bool, force: bool) -> None:
    """Install a version; a version that does not lie in ``dist`` is not the tree's to prune."""
    from pipeline.release.install import carry_out
    from pipeline.release.install_plan import plan_install
    from pipeline.release.marks import read_marks
    from pipeline.release.prune import remember_place

    replaced = place.replaced_by(found, read_marks(found.folder.parent))
    plan = plan_install(found, place, force=force)
    if replaced:
        click.echo(replaced)
    if plan.is_done:
        click.echo(f"nothing to do: all {len(plan.there)} files are as they shall be")
    if dry_run:
        _tell(plan)
        return
    if found.folder.parent == dist:
        remember_place(dist, place)
    if not plan.is_done:
        carry_out(plan, found, click.echo)
        _tell_installed(plan, found, replaced)


def _tell_installed(plan: Plan, found: Version, replaced: str) -> None:
    place = plan.place
    same = f"; {len(plan.there)} were there already" if plan.there else ""
    click.echo(f"installed {found.name}: {len(plan.write)} files below {place.root}{same}")
    if replaced and place.destdir is None:
        click.echo(STILL_OLD)
    if place.destdir is None:
        _tell_use(place)


def _tell_use(place: Place) -> None:
    """Say how programs get what was installed."""
    from pipeline.core.preload import preloading

    if place.prefix in CACHED_PREFIXES:
        click.echo("run `ldconfig` as root, so that programs find the library by its name")
    library = place.root / "lib" / shared_name(place.variant)
    click.echo(f"use it:  {preloading(library)} your-program")


def _refuse_foreign(version: Version) -> None:
    """Raise UsageError for a version of another architecture: nothing here could load it."""
    from pipeline.core.architecture import HERE
    from pipeline.core.errors import UsageError
    from pipeline.release.mending import line_of_version

    line = line_of_version(version)
    name = (version.manifest.get("made_for") or {}).get("architecture", HERE.name)
    if name != HERE.name:
        raise UsageError(
            f"{version.name} is made for {name}, and this machine is {HERE.name}",
            hint=f"`.venv/bin/pipeline package -p {line} {version.folder}` makes Debian packages "
            "of it; --destdir writes it below a folder",
        )


@click.command("uninstall")
@_place_options
@alone_variant_option
def uninstall_command(prefix: Path, destdir: Path | None, dry_run: bool, variant: str) -> None:
    """Remove what `pipeline install` has installed, and say what.

    Files that were changed since are kept and named. First take the library's path out of what
    preloads it, as LD_PRELOAD in systemd units and container files, and /etc/ld.so.preload.

    \b
    Examples:
      pipeline uninstall --prefix /usr/local --dry-run
      pipeline uninstall --prefix /usr/local
    """
    from pipeline.core.lock import folder_lock
    from pipeline.release.installed import Place

    place = Place(prefix, destdir.absolute() if destdir else None, variant)
    with folder_lock(place.root, click.echo):
        _uninstall(place, dry_run=dry_run)


def _uninstall(place: Place, *, dry_run: bool) -> None:
    from pipeline.release.install import carry_out
    from pipeline.release.install_plan import plan_removal

    plan = plan_removal(place)
    for name in plan.keep:
        click.echo(f"kept, because it was changed: {place.root / name}")
    _tell_who_preloads(plan)
    if dry_run:
        _tell(plan)
    else:
        carry_out(plan, None, click.echo)
        click.echo(f"removed {len(plan.remove)} files below {place.root}")


def _tell_who_preloads(plan: Plan) -> None:
    """Say where the path of the library may still stand; programs there say an error at each start.

    What lies below a --destdir is not where programs look for it.
    """
    library = f"lib/{shared_name(plan.place.variant)}"
    if library in plan.remove and plan.place.destdir is None:
        click.echo(
            f"what still preloads {plan.place.prefix / library} warns at each start once it is "
            "gone: take the path out of LD_PRELOAD in systemd units and container files, and out "
            "of /etc/ld.so.preload"
        )


def _tell(plan: Plan) -> None:
    """Say what a plan would do, in the order in which it would be done."""
    for name in plan.in_order:
        click.echo(f"would install {plan.place.root / name}")
    for name in plan.remove:
        click.echo(f"would remove {plan.place.root / name}")
