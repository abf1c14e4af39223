"""``pipeline init``: one more profile, for a program of yours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import complete_file
from pipeline.commands.say import say
from pipeline.commands.whole_paths import with_whole_paths

if TYPE_CHECKING:
    from pipeline.core.paths import Tree
    from pipeline.profile.schema import Profile


def _without_options(
    context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the command behind NAME; an option there is ours, unless ``--`` stands before it."""
    first = words[0] if words else ""
    if first in context.help_option_names:
        click.echo(context.get_help())
        context.exit()
    if first.startswith("-") and first != "--":
        raise click.NoSuchOption(first, ctx=context)
    return words[1:] if first == "--" else words


@click.command(
    "init",
    context_settings={"allow_interspersed_args": False},
    epilog="Example: pipeline init shop -- ./shop --self-test",
)
@click.argument("name")
@click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    callback=_without_options,
    shell_complete=complete_file,
)
def init_command(name: str, command: tuple[str, ...]) -> None:
    """Write a commented profile NAME for a program of yours.

    COMMAND has to end by itself. It is run once, to say what it does. Without one the profile is
    for two recordings.
    """
    from pipeline.core.files import replace_text
    from pipeline.core.paths import Tree
    from pipeline.profile.load import parse_profile
    from pipeline.profile.missing import missing_files
    from pipeline.profile.template import render_profile
    from pipeline.stages.build.programs import differing_programs, starts_others
    from pipeline.stages.build.tried import FAILED

    tree = Tree.here()
    path = _free_place(tree.profiles, name)
    server = _server_of(command) if command and starts_others(command[0]) else None
    text = render_profile(name, with_whole_paths(command, tree.root), server=server)
    replace_text(path, text)
    profile = parse_profile(path)
    click.echo(f"wrote {path}")
    paths = (f"note: {line}" for line in differing_programs(command))
    gone = (f"note: there is no {word}" for word in command[1:] if _is_gone(word))
    tried = _tried(tree, profile, missing_files(command, tree.root))
    works = True
    for line in chain(paths, gone, _hints(name, command), tried):  # as each comes
        click.echo(line)
        works = works and not line.startswith(FAILED)
    for line in _next_steps(name, bool(command), works):
        say(line)


def _tried(tree: Tree, profile: Profile, missing: Sequence[str]) -> Iterator[str]:
    """Yield what one run of the command shows; nothing where there is none.

    Removes the profile again where the command fails and names files that are ``missing``.
    """
    from pipeline.core.errors import UsageError
    from pipeline.profile.workload import Trace
    from pipeline.stages.build.tried import try_once

    traces = [one for one in profile.workload if isinstance(one, Trace) and one.record]
    try:
        for one in traces:
            yield from try_once(tree, profile.name, one, missing)
    except UsageError:
        (tree.profiles / f"{profile.name}.toml").unlink(missing_ok=True)
        raise


def _free_place(folder: Path, name: str) -> Path:
    from pipeline.core.errors import UsageError
    from pipeline.profile.load import VALID_NAME

    if VALID_NAME.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} is not a valid name for a profile",
            hint="up to 50 small letters, digits, dots and dashes, a letter or digit first",
        )
    path = folder / f"{name}.toml"
    if path.exists():
        raise UsageError(
            f"{path} exists already", hint="edit it, delete it, or choose another name"
        )
    return path


def _server_of(command: tuple[str, ...]) -> str:
    """Return the name of the first compiled program that a script is given; else a placeholder."""
    from pipeline.toolchain.identity import is_binary

    words = (Path(word) for word in command[1:])
    found = (one.name for one in words if os.access(one, os.X_OK) and is_binary(one))
    return next(found, "my-server")


def _is_gone(word: str) -> bool:
    """Return whether a word looks like a file by its whole path, and there is none."""
    return Path(word).is_absolute() and not os.path.lexists(word)


def _hints(name: str, command: tuple[str, ...]) -> list[str]:
    """Say what python keeps from malloc, unless the command has told it otherwise."""
    import re
    import shlex

    python = [w for w in command if re.fullmatch(r"python[0-9.]*", Path(w).name)]
    if not python or any(word.startswith("PYTHONMALLOC=") for word in command):
        return []
    own = f".venv/bin/pipeline versus libc {name}:current,PYTHONMALLOC=malloc"
    return [
        "note: python keeps blocks of up to 512 bytes in pools of its own; malloc never sees them.",
        f"  `env PYTHONMALLOC=malloc {python[0]} ...` switches them off, for training and judging.",
        "  That may cost more than a library gains. So compare with the pools, after the build:",
        f"  {own} -- {shlex.join(command)}",
    ]


def _next_steps(name: str, has_command: bool, works: bool) -> list[str]:
    """Return what to type; a build of a command that fails ends at once."""
    build = f".venv/bin/pipeline build --profile {name} --quick"
    if has_command:
        first = "look it over" if works else "mend the command, look the profile over"
        return [f"next: {first}, then", f"  {build}"]
    record = ".venv/bin/pipeline record -o {}.trace -- YOUR PROGRAM"
    return [
        "next: record two runs with different input, then build",
        f"  {record.format(f'{name}-train')}",
        f"  {record.format(f'{name}-verify')}",
        f"  {build}",
    ]
