"""``hakmem completion``: what a shell needs to complete the command, as a script."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

_BASH = """\
_hakmem() {{
    local words
    case ${{COMP_WORDS[1]}} in
{cases}
    *) words="{commands}" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o bashdefault -o default -F _hakmem hakmem
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=("bash",))
    parser.epilog = 'Example:\n  eval "$(hakmem completion bash)"'


def run(_args: argparse.Namespace) -> int:
    """Print the script."""
    print(script(), end="")
    return 0


def script() -> str:
    """Return the script for bash, which also offers files."""
    from operate.cli import COMMANDS, build_parser

    top = build_parser(list(COMMANDS))
    cases = "\n".join(f'    {name}) words="{" ".join(words)}" ;;' for name, words in _options(top))
    commands = " ".join([*COMMANDS, "--help", "--version"])
    return _BASH.format(cases=cases, commands=commands)


def _options(top: argparse.ArgumentParser) -> Iterator[tuple[str, list[str]]]:
    """Yield each subcommand with its options and the choices of its arguments."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, parser in action.choices.items():
                options = (o for one in parser._actions for o in one.option_strings)
                yield name, sorted([*options, *_choices(parser)])


def _choices(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if not action.option_strings:
            yield from map(str, action.choices or ())
