"""``hakmem completion``: what a shell needs to complete the command, as a script."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator

_PROGRAM = "run"
"""The subcommand whose words are a program and its arguments."""

_BASH = """\
_hakmem() {{
    local words programs before="${{COMP_WORDS[COMP_CWORD - 1]}}"
    case "$COMP_CWORD ${{COMP_WORDS[1]}} $before" in
    "1 "*) words="{commands}" ;;
    *" {program} --") programs=-c ;;
{cases}
    esac
    COMPREPLY=($(compgen $programs -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o bashdefault -o default -F _hakmem hakmem
"""

_ZSH = """\
#compdef hakmem
_hakmem_program() {{
    [[ $words[1] == -- ]] && shift words && (( CURRENT-- ))
    _normal
}}
_hakmem() {{
    if (( CURRENT == 2 )); then
        local -a commands=({commands})
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{cases}
    esac
}}
if [[ $funcstack[1] == _hakmem ]]; then _hakmem "$@"; else compdef _hakmem hakmem; fi
"""

_FISH = """\
function __hakmem_program
    if set -l line (string match -rg ' run (?:.* )??-- (.*)$' -- (commandline -cp))
        complete -C "$line"
    else
        __fish_complete_subcommand --fcs-skip=2
    end
end
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=SHELLS)
    parser.epilog = (
        'Examples:\n  eval "$(hakmem completion bash)"\n'
        '  eval "$(hakmem completion zsh)"      # after compinit\n'
        "  hakmem completion fish | source"
    )


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    print(SHELLS[args.shell](), end="")
    return 0


def _bash() -> str:
    """Return the script for bash, which also offers files."""
    cases = []
    for name, parser in _parsers().items():
        options = list(_options(parser))
        values = [(flag, _choices(one)) for one in options for flag in one.option_strings]
        cases += [
            f'    *" {name} {flag}") words="{" ".join(some)}" ;;' for flag, some in values if some
        ]
        words = sorted(flag for one in options for flag in one.option_strings)
        said = f'words="{" ".join([*words, *_positional(parser)])}"'
        if name == _PROGRAM:
            cases.append(f'    *" {name} {name}") programs=-c {said} ;;')
        cases.append(f'    *" {name} "*) {said} ;;')
    commands = " ".join([*_parsers(), "--help", "--version"])
    return _BASH.format(cases="\n".join(cases), commands=commands, program=_PROGRAM)


def _zsh() -> str:
    """Return the script for zsh, for `eval` and for a folder of `fpath`."""
    from operate.cli import COMMANDS

    cases = []
    for name, parser in _parsers().items():
        specs = [spec for action in _options(parser) for spec in _zsh_specs(parser, action)]
        rest = f"'1: :({' '.join(_positional(parser))})'"
        rest = "'*::program:_hakmem_program'" if name == _PROGRAM else rest
        cases.append(f"    {name}) _arguments -S {' '.join([*specs, rest])} ;;")
    commands = " ".join(_quoted(f"{name}:{line}") for name, line in COMMANDS.items())
    return _ZSH.format(cases="\n".join(cases), commands=commands)


def _zsh_specs(parser: argparse.ArgumentParser, action: argparse.Action) -> Iterator[str]:
    for flag in action.option_strings:
        about = re.sub(r"([][:])", r"\\\1", _help(parser, action))
        spec = f"{flag}[{about}]"
        if action.nargs != 0:
            spec += f":value:({' '.join(_choices(action))})" if action.choices else ":value:_files"
        yield _quoted(spec)


def _fish() -> str:
    """Return the script for fish."""
    from operate.cli import COMMANDS

    lines = [
        f"complete -c hakmem -f -n __fish_use_subcommand -a {name} -d {_quoted(line)}"
        for name, line in COMMANDS.items()
    ]
    for name, parser in _parsers().items():
        there = f"complete -c hakmem -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{there} {_fish_option(parser, action)}" for action in _options(parser)]
        if name == _PROGRAM:
            lines.append(f"{there} -x -a '(__hakmem_program)'")
        elif words := _positional(parser):
            lines.append(f"{there} -x -a '{' '.join(words)}'")
    return _FISH + "\n".join(lines) + "\n"


def _fish_option(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    words = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        for flag in action.option_strings
    ]
    if action.choices:
        words.append(f"-x -a '{' '.join(_choices(action))}'")
    elif action.nargs != 0:
        words.append("-r")
    return " ".join([*words, "-d", _quoted(_help(parser, action))])


SHELLS: dict[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""Each shell with what makes its script."""


def _parsers() -> dict[str, argparse.ArgumentParser]:
    """Return each subcommand with its parser."""
    from operate.cli import COMMANDS, build_parser

    top = build_parser(list(COMMANDS))
    subcommands = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    return dict(subcommands.choices)


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return (action for action in parser._actions if action.option_strings)


def _positional(parser: argparse.ArgumentParser) -> list[str]:
    """Return the choices of the arguments that are no options."""
    return [word for a in parser._actions if not a.option_strings for word in _choices(a)]


def _choices(action: argparse.Action) -> list[str]:
    return [str(word) for word in action.choices or ()]


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action)


def _quoted(text: str) -> str:
    """Return a word in single quotes, as zsh and fish both read it."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
