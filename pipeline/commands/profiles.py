"""``pipeline profiles`` and ``pipeline init``: which profiles there are, and one more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.options import complete_file
from pipeline.commands.say import say

if TYPE_CHECKING:
    from rich.console import Console

    from pipeline.core.paths import Tree
    from pipeline.profile.schema import Profile

CELLS = 4
UNWRAPPED = 1000
"""Columns, where the output is no terminal."""

INTERPRETERS = ("sh", "bash", "dash", "python3", "python", "perl", "ruby", "lua", "node")
"""Their first word is a file, unless it is an option."""


@click.command("profiles", epilog="Example: pipeline profiles")
def profiles_command() -> None:
    """List the profiles, a row each; * is published.

    One with a geometry.toml of its own says so, and whether that is for this kind of
    processor (docs/geometry.md). Those that are not
    valid are named behind the others.
    """
    from rich.console import Console

    from pipeline.core.errors import ProfileError
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names

    tree = Tree.here()
    rows, broken = [], []
    for name in profile_names(tree):
        try:
            rows.append(_cells(tree, name))
        except ProfileError as error:
            broken.append(error)
    show_rows(rows, Console())
    if any(_is_published(tree, name) for name in profile_names(tree)):
        say("* is published: `.venv/bin/pipeline list` shows its versions")
    if broken:
        raise ProfileError("\n  ".join(e.message for e in broken), hint=broken[0].hint)


def _is_published(tree: Tree, name: str) -> bool:
    return (tree.dist(name) / "current").exists()


def show_rows(rows: Sequence[tuple[str, ...]], console: Console) -> None:
    """Print the rows: in a terminal the last cell is broken within its own column."""
    from rich.table import Table

    table = Table.grid(padding=(0, 1, 0, 0))
    for number in range(CELLS):
        table.add_column(no_wrap=number < CELLS - 1)
    for row in rows:
        table.add_row(*row)
    if not console.is_terminal:
        console.width = UNWRAPPED
    with console.capture() as said:
        console.print(table, markup=False, highlight=False)
    click.echo("\n".join(line.rstrip() for line in said.get().splitlines()))


def _cells(tree: Tree, name: str) -> tuple[str, ...]:
    from pipeline.core.processor import ANY, machine
    from pipeline.geometry.load import load_geometry
    from pipeline.profile.load import load_profile

    profile = load_profile(tree, name)
    mark = "*" if _is_published(tree, name) else " "
    counts = f"{len(profile.training)} train, {len(profile.verifying)} verify"
    geometry = load_geometry(tree, name, machine().name)
    kind = "" if geometry is None or geometry.processor == ANY else f" for {geometry.processor}"
    cut = "default" if geometry is None else f"own geometry{kind}"
    return f"{mark} {name}", counts, cut, profile.description


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
    from pipeline.stages.build.programs import SHELLS, differing_programs

    tree = Tree.here()
    path = _free_place(tree.profiles, name)
    script = bool(command) and Path(command[0]).name in SHELLS
    server = _server_of(command) if script else None
    text = render_profile(name, _absolute(command, tree.root), server=server)
    replace_text(path, text)
    profile = parse_profile(path)
    click.echo(f"wrote {path}")
    paths = (f"note: {line}" for line in differing_programs(command))
    gone = (f"note: there is no {word}" for word in command[1:] if _is_gone(word))
    tried = _tried(tree, profile, missing_files(command, tree.root))
    for line in chain(paths, gone, _hints(command), tried):  # as each comes
        click.echo(line)
    for line in _next_steps(name, bool(command)):
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


def _absolute(command: tuple[str, ...], root: Path) -> tuple[str, ...]:
    """Return the command with files named from here by their whole path: it runs in ``root``."""
    from pipeline.core.errors import UsageError
    from pipeline.stages.build.programs import find_program

    if command and "/" not in command[0] and find_program(command[0]) is None:
        raise UsageError(
            f"there is no program {command[0]}", hint="give its path; PATH does not have it"
        )
    if command and "/" in command[0] and not Path(command[0]).is_file():
        raise UsageError(
            f"there is no program {command[0]}",
            hint="give its path; a name without / is looked up in PATH",
        )
    if command and "/" in command[0] and not os.access(command[0], os.X_OK):
        raise UsageError(
            f"{command[0]} is not executable", hint="put its interpreter in front, or chmod +x it"
        )
    _require_script(command, root)
    _require_text(command)
    first = [str(Path(word).resolve()) if "/" in word else word for word in command[:1]]
    rest = [str(Path(word).resolve()) if _is_here(word, root) else word for word in command[1:]]
    return (*first, *rest)


def _require_script(command: tuple[str, ...], root: Path) -> None:
    """Raise UsageError if an interpreter is to run a file that is neither here nor in the tree."""
    from pipeline.core.errors import UsageError

    interpreter, *words = command or ("",)
    if Path(interpreter).name not in INTERPRETERS or not words or words[0].startswith("-"):
        return
    if not any((folder / words[0]).is_file() for folder in (Path.cwd(), root)):
        raise UsageError(
            f"{interpreter} is to run {words[0]}, and there is no such file", hint="give its path"
        )


def _require_text(command: tuple[str, ...]) -> None:
    """Raise UsageError if a word is not UTF-8, as the name of a file may be: TOML has none such."""
    from pipeline.core.errors import UsageError

    for word in command:
        if word.encode(errors="replace").decode() != word:
            raise UsageError(
                f"{word!r} is not UTF-8, and a profile holds nothing else", hint="rename that file"
            )


def _is_here(word: str, root: Path) -> bool:
    path = Path(word)
    return not path.is_absolute() and path.exists() and Path.cwd() != root


def _is_gone(word: str) -> bool:
    """Tell whether a word looks like a file by its whole path, and there is none."""
    return Path(word).is_absolute() and not os.path.lexists(word)


def _hints(command: tuple[str, ...]) -> list[str]:
    """Say what python keeps from malloc, unless the command has told it otherwise."""
    import re

    python = [w for w in command if re.fullmatch(r"python[0-9.]*", Path(w).name)]
    if not python or any(word.startswith("PYTHONMALLOC=") for word in command):
        return []
    return [
        "note: python keeps blocks of up to 512 bytes in own pools; malloc never sees them.",
        f"  `env PYTHONMALLOC=malloc {python[0]} ...` switches them off; do so in production, too",
    ]


def _next_steps(name: str, has_command: bool) -> list[str]:
    build = f".venv/bin/pipeline build --profile {name} --quick"
    if has_command:
        return ["next: look it over, then", f"  {build}"]
    record = ".venv/bin/pipeline record -o {}.trace -- YOUR PROGRAM"
    return [
        "next: record two runs with different input, then build",
        f"  {record.format(f'{name}-train')}",
        f"  {record.format(f'{name}-verify')}",
        f"  {build}",
    ]
