"""The helps of the commands of bench/ fit a terminal, and their examples can be pasted."""

from __future__ import annotations

import re
from itertools import pairwise

import click
import pytest

from bench.harness import compare, instructions, memory, places, rates, recorded, result
from bench.harness.programs import command as programs
from bench.harness.servers import command as servers

COMMANDS = {
    "compare": compare.main,
    "instructions": instructions.main,
    "memory": memory.main,
    "places": places.main,
    "programs": programs.main,
    "recorded": recorded.main,
    "result": result.main,
    "servers": servers.main,
    "verdict_rates": rates.main,
}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns(name: str) -> None:
    command = COMMANDS[name]
    text = command.get_help(click.Context(command, info_name=f"bench/{name}", terminal_width=80))
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "\\b" not in text


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_what_it_is_for_beside_it(name: str, columns: int) -> None:
    """Only one that shows what can be chosen may be too long for that."""
    context = click.Context(COMMANDS[name], info_name=f"bench/{name}", terminal_width=columns)
    text = COMMANDS[name].get_help(context)
    rows = [line for line in text.splitlines() if line.startswith("  -")]
    assert [row for row in rows if not re.search(r"\S {2,}\S|\[.*\|.*\]", row)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_goes_on_behind_a_backslash_alone(name: str) -> None:
    """Pasted, its second line would be a command of its own."""
    command = COMMANDS[name]
    text = command.get_help(click.Context(command, info_name=f"bench/{name}", terminal_width=80))
    examples = re.search(r"^ *Examples:\n(.*?)(?:\n\n|\Z)", text, re.S | re.M)
    lines = examples[1].splitlines() if examples else []
    for before, line in pairwise(lines):
        assert before.endswith(" \\") or line.strip().startswith(f"bench/{name}"), line
