"""docs/commands.md names each command of `pipeline` and `hakmem`, and each of their options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import click
import pytest

from operate.cli import COMMANDS, build_parser
from pipeline.cli import cli
from pipeline.core.paths import Tree

PAGE = (Tree.here().root / "docs/commands.md").read_text(encoding="utf-8")
SECTIONS = {"build": "Options of a build", "versus": "One library against another"}
"""Commands whose options stand in a section of their own."""


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


COMMON, OF_PIPELINE = section("All commands of `pipeline`").split("| command |")
OF_HAKMEM = section("All commands of `hakmem`")


def leaves(command: click.Command, *name: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(name), command
        return
    for child, one in sorted(command.commands.items()):
        yield from leaves(one, *name, child)


def row(command: str) -> str:
    """Return the row of a command; several of one group may share a row."""
    group, _, name = command.rpartition(" ")
    rows = OF_PIPELINE.splitlines()
    own = [line for line in rows if re.match(rf"\| `pipeline {command}[ `]", line)]
    shared = [
        line for line in rows if line.startswith(f"| `pipeline {group}") and f"`{name}" in line
    ]
    return "\n".join([*own, *(shared if group and not own else [])])


def forms(command: click.Command) -> Iterator[list[str]]:
    """Return of each option all ways to write it."""
    for one in command.params:
        if isinstance(one, click.Option) and not one.hidden and "--help" not in one.opts:
            yield [*one.opts, *one.secondary_opts]


def unnamed(options: Iterator[list[str]], text: str) -> list[str]:
    """Return the options of which the text has no way to write them."""
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    return [ways[0] for ways in options if named.isdisjoint(ways)]


@pytest.mark.parametrize(("name", "command"), list(leaves(cli)))
def test_each_option_of_pipeline_is_named(name: str, command: click.Command) -> None:
    found = row(name)
    assert found
    more = section(SECTIONS[name]) if name in SECTIONS else ""
    assert unnamed(forms(command), COMMON + found + more) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_of_hakmem_is_named(name: str) -> None:
    found = next(line for line in OF_HAKMEM.splitlines() if line.startswith(f"| `hakmem {name}"))
    commands = build_parser([name])._subparsers
    assert commands is not None
    choices = commands._group_actions[0].choices
    assert isinstance(choices, dict)
    parser = choices[name]
    assert isinstance(parser, argparse.ArgumentParser)
    options = ([*one.option_strings] for one in parser._actions if one.option_strings)
    assert unnamed((ways for ways in options if "-h" not in ways), found) == []
