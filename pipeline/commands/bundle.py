"""``pipeline bundle``: what a version was compiled by as one file, and the way back."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import EXISTING_FILE, output_option
from pipeline.commands.line_meant import line_meant
from pipeline.commands.options import Word, verbose_option
from pipeline.commands.profile_options import version_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version
from pipeline.core.architecture import ALL, HERE

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole
    from pipeline.profile.schema import Profile
    from pipeline.release.bundle import Bundle
    from pipeline.release.version import Version
    from pipeline.stages.build.workshop import Workshop
    from pipeline.stages.publish.abroad import Abroad


@click.group("bundle")
def bundle_command() -> None:
    """Export the profile of a version; rebuild it byte for byte."""


@bundle_command.command("export", short_help="Write a bundle: what a version was compiled by.")
@version_option
@click.argument("version", required=False, shell_complete=complete_version)
@output_option("The file to write.  [default: hakmem-PROFILE-VERSION.tar.gz]")
@click.option(
    "--sign",
    "key",
    type=EXISTING_FILE,
    metavar="KEY",
    help="Sign it with this OpenSSH key; the signature is a file beside it, FILE.sig.",
)
def export_command(
    profile: str, version: str | None, output: Path | None, key: Path | None
) -> None:
    """Write a bundle: profiles, weights, symbol lists, manifest and verdict of a version.

    VERSION is a name (a unique beginning will do) or a folder; without it, the current version.
    Equal versions give files with equal bytes.

    \b
    Examples:
      pipeline bundle export
      pipeline bundle export 0.1.0-3f2a -o mixed.tar.gz
      pipeline bundle export --sign ~/.ssh/id_ed25519
    """
    from pipeline.core.paths import Tree
    from pipeline.release.bundle import pack, require_replaceable
    from pipeline.release.marks import require_accepted
    from pipeline.release.mending import require_undamaged
    from pipeline.release.wish import resolve

    found = resolve(Tree.here(), line_meant(profile, version), version)
    require_accepted(found)
    require_undamaged(found)
    target = output or Path(f"{_file_name(found)}.tar.gz")
    require_replaceable(target)
    data = pack(found)
    signature = _write(target, data, key)
    click.echo(f"{target}: {len(data) / 1024:.0f} KiB, the bundle of {found.name}")
    if signature is not None:
        click.echo(f"signed: {signature}")
    verified = "" if signature is None else " --verify SIGNERS"
    way_back = f"`.venv/bin/pipeline bundle import {shlex.quote(str(target.resolve()))}{verified}`"
    say(f"{way_back} rebuilds that version, also in another checkout")


def _write(target: Path, data: bytes, key: Path | None) -> Path | None:
    """Write a bundle and its signature, if there is a key; neither where it cannot be signed."""
    from pipeline.core.files import replacing

    with replacing(target) as fresh:
        fresh.write_bytes(data)
        if key is None:
            return None
        from pipeline.release.signature import sign, signature_of

        return sign(fresh, key, target).replace(signature_of(target))


@bundle_command.command("import")
@click.argument("file", type=EXISTING_FILE)
@click.option(
    "--allow",
    type=click.Choice(["sources", "tools", "flags", "commands"]),
    multiple=True,
    help="Go on though these differ; the manifest says so, and the result is judged. `commands`: "
    "run the commands that the bundle's profile names, to judge it.",
)
@click.option(
    "--verify",
    "signers",
    type=EXISTING_FILE,
    metavar="SIGNERS",
    help="Refuse it unless FILE.sig was made by one of the signers in this file (its form: ALLOWED "
    "SIGNERS in `man ssh-keygen`).",
)
@click.option(
    "--cpu",
    type=Word([one.kernel for one in ALL if one != HERE]),
    metavar="NAME",
    help="Build it for another architecture, such as aarch64: tried under an emulator, and not "
    "judged. It is never current.",
)
@click.option(
    "--bolt-runtime",
    "runtime",
    type=EXISTING_FILE,
    metavar="FILE",
    help="With --cpu: BOLT's run-time library for that, libbolt_rt_instr.a. Without it BOLT is "
    "left out.",
)
@click.option("--quick", is_flag=True, help="If it has to be judged: with fewer runs.")
@click.option("--allow-neutral", is_flag=True, help="If it has to be judged: also when neutral.")
@click.option(
    "--allow-regression",
    multiple=True,
    metavar="NAME",
    help="If it has to be judged: also when NAME is shown to lose, as `pipeline build` has it.",
)
@verbose_option
def import_command(
    file: Path,
    allow: tuple[str, ...],
    signers: Path | None,
    cpu: str | None,
    runtime: Path | None,
    quick: bool,
    allow_neutral: bool,
    allow_regression: tuple[str, ...],
    verbose: bool,
) -> None:
    """Rebuild the version of a bundle and publish it, without training.

    With the same sources, tools and flags the library has the same bytes as the original, wherever
    the tree lies, and keeps its verdict. Anything else is refused unless it is allowed by name, and
    is judged; what the bundle's own build was allowed to lose counts no more then.

    \b
    Examples:
      pipeline bundle import hakmem-mixed-0.1.0-3f2a90c1b2d4.tar.gz
      pipeline bundle import mixed.tar.gz --allow tools
      pipeline bundle import mixed.tar.gz --verify allowed_signers
      pipeline bundle import mixed.tar.gz --cpu aarch64
    """
    if cpu is None and runtime is not None:
        raise click.UsageError("--bolt-runtime needs --cpu")
    if cpu is not None and (quick or allow_neutral or allow_regression):
        raise click.UsageError(
            "nothing is judged with --cpu: leave out --quick, --allow-neutral, --allow-regression"
        )
    import time

    from pipeline.commands.build_result import conclude
    from pipeline.commands.may_lose import refuse_unknown
    from pipeline.commands.workshop import open_workshop
    from pipeline.core.console import open_console
    from pipeline.core.paths import Tree
    from pipeline.rebuild.from_bundle import rebuild
    from pipeline.rebuild.imported import take_in
    from pipeline.stages.build.workshop import Options

    started, console = time.monotonic(), open_console(verbose)
    if signers is not None:
        file = _verified(file, signers, console)
    bundle, profile = _look_into(file)
    refuse_unknown(profile, allow_regression)
    options = Options(
        quick or bundle.quick,
        allow_neutral=allow_neutral,
        allow_regression=allow_regression,
        variant=bundle.variant,
    )
    with open_workshop(Tree.here(), profile, options, console, wait=True) as shop:
        if cpu is not None:
            made = _cross(shop, file, frozenset(allow), cpu, runtime)
            _tell_made(console, made, cpu, time.monotonic() - started)
            return
        published = rebuild(shop, take_in(shop.store, file), frozenset(allow))
    conclude(console, published, time.monotonic() - started)


def _verified(file: Path, signers: Path, console: BuildConsole) -> Path:
    """Return a copy of the bundle that is ours until the command ends, and say who signed it."""
    import tempfile

    from pipeline.release.signature import verified_copy

    room = click.get_current_context().with_resource(tempfile.TemporaryDirectory())
    own, who = verified_copy(file, signers, Path(room))
    console.say(f"{file} is signed by {who}")
    return own


def _cross(
    shop: Workshop, file: Path, allowed: frozenset[str], cpu: str, runtime: Path | None
) -> Abroad:
    from pipeline.cross import cross_build, workshop_for

    architecture = next(one for one in ALL if one.kernel == cpu)
    return cross_build(workshop_for(shop, architecture), file, allowed, runtime)


def _tell_made(console: BuildConsole, made: Abroad, cpu: str, seconds: float) -> None:
    """Say where the version for another architecture lies, and what nobody knows of it."""
    from pipeline.core.paths import from_here

    what = "made" if made.fresh else "nothing to do: it was there"
    console.say(f"{what} (in {seconds:.1f} s): {from_here(made.folder)}")
    console.prose(
        f"for {cpu}, step {made.step}; it was tried under an emulator, not timed and not judged; "
        "`current` is as it was"
    )


def _file_name(version: Version) -> str:
    """Return the usual name of a version's bundle: hakmem-PROFILE[+VARIANT]-VERSION."""
    from pipeline.core.variant import line_of

    return f"hakmem-{line_of(version.manifest['profile'], version.variant)}-{version.name}"


def _look_into(file: Path) -> tuple[Bundle, Profile]:
    """Check a bundle, and return what it says and its profile."""
    import tempfile

    from pipeline.profile.load import parse_profile
    from pipeline.release.bundle import unpack
    from pipeline.release.version import PROFILE

    with tempfile.TemporaryDirectory() as folder:
        bundle = unpack(file, Path(folder))
        return bundle, parse_profile(Path(folder) / PROFILE / f"{bundle.profile}.toml")
