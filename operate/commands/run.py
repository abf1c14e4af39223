"""``hakmem run``: starts a program with the published library that fits, or says why none does."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from operate import elf, libraries, options, programs, rejections
from operate.libraries import Library
from pipeline.core import processor
from pipeline.core.errors import PipelineError, UnfitError, UsageError
from pipeline.core.preload import check_preloadable
from pipeline.core.spelling import did_you_mean
from pipeline.core.variant import PRODUCTION, VARIANTS

_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*=")
_EXAMPLES = """\
Options of the library are words like purge-delay=100, before the program: docs/options.md.

Examples:
  hakmem run -- redis-server redis.conf
  hakmem run --profile server -- purge-delay=100 huge-pages=1 -- nginx
  hakmem run --show -- python3 app.py     # what would be done
  hakmem run --variant hardened -- nginx  # docs/hardening.md

Exit codes: those of the program; 126 and 127 as a shell has them; else docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "hakmem run [options] [--] [NAME=VALUE ...] [--] PROGRAM [ARGUMENT ...]"
    parser.add_argument(
        *("--profile", "-p"),
        metavar="NAME",
        help="of what is published, the library for this workload",
    )
    parser.add_argument("--cpu", help='for this kind of processor, or "any"; default: this one')
    parser.add_argument("--variant", choices=VARIANTS, default=PRODUCTION, help="which build of it")
    parser.add_argument("--prefix", type=Path, metavar="DIR", help="what is installed below DIR")
    parser.add_argument("--library", type=Path, metavar="FILE", help="this file, and no other")
    parser.add_argument("--show", action="store_true", help="print what would be done, do nothing")
    parser.add_argument("--quiet", "-q", action="store_true", help="no remarks")
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.epilog = _EXAMPLES


def run(args: argparse.Namespace) -> int:
    """Replace this process by the program; returns only with --show."""
    settings, command = split(args.words)
    machine = processor.machine()
    try:
        library = _library(args, machine.name)
    except PipelineError as error:
        error.hint = _stray(args.parser, command) or error.hint
        raise
    require_instructions(library, machine)
    check_preloadable(library.path)
    environment = {**os.environ, **variables(settings, library.path), **preload(library.path)}
    require_values(environment, library.path)
    try:
        program = programs.look_up(command[0])
        libs = read_library(library.path)
        programs.require_fit(program, library.path, libs)
        if not args.quiet:
            _remark(filter(None, [library.damage(), rejections.warning(library)]))
            _remark(programs.remarks(program, preloaded(os.environ)))
        if args.show:
            _show(environment, command)
            return 0
        sys.stdout.flush()
        os.execvpe(command[0], command, environment)
    except programs.NoProgram as error:
        print(f"error: {error.message}", file=sys.stderr)
        return error.code


def _stray(parser: argparse.ArgumentParser, command: Sequence[str]) -> str:
    """Return the hint where an option of ours stands behind the program, and is the program's."""
    ours = [name for name in parser._option_string_actions if name.startswith("--")]
    stray = next((word for word in command[1:] if word.partition("=")[0] in ours), "")
    if not stray:
        return ""
    name = stray.partition("=")[0]
    return (
        f"{name} stands behind {command[0]}, so it is an option of {command[0]}: options of "
        f"`hakmem run` go before the program, as in `hakmem run {name} ... -- {command[0]}`"
    )


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the settings and the command of what stands behind our own options."""
    rest = list(words)
    settings = []
    if rest[:1] == ["--"]:
        rest = rest[1:]
    while rest and _OPTION.match(rest[0]):
        settings.append(rest.pop(0))
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if not rest:
        raise UsageError(
            "no program is named",
            hint="name one: `hakmem run -- PROGRAM`; `hakmem run --help` has more",
        )
    return settings, rest


def variables(settings: Sequence[str], library: Path) -> dict[str, str]:
    """Return settings as variables of the environment; UsageError for a name it does not know."""
    known = options.names(library.read_bytes())
    found = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        name = options.variable(name)
        if known and name not in known:
            raise UsageError(
                f"{setting}: {library} has no option {name}",
                hint=did_you_mean(name, known, "docs/options.md has all options"),
            )
        found[name] = value
    return found


def require_values(environment: Mapping[str, str], library: Path) -> None:
    """Raise UsageError for a value that the library would refuse, and go on without."""
    known = options.ranges(library.read_bytes())
    for name, value in environment.items():
        options.require(name, value, known)


def require_instructions(library: Library, machine: processor.Processor) -> None:
    """Raise UnfitError if the library needs instructions that this processor lacks: SIGILL."""
    levels = machine.architecture.levels
    missing = machine.missing(library.level) if library.level in levels else ()
    if missing:
        raise UnfitError(
            f"{library.path} is compiled for {library.level}, and this processor "
            f"({machine.described}) lacks {', '.join(missing)}",
            hint="take one for all processors: --cpu any, another --profile, or build it again",
        )


def read_library(path: Path) -> elf.Elf:
    """Return what the library's file says of itself; UsageError if it is no library."""
    try:
        return elf.read(path)
    except elf.NotElf as error:
        raise UsageError(str(error), hint="give the path of a libhakmem.so by --library") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}",
            hint="give yourself the right to read it, or name another file by --library",
        ) from error


def preloaded(environment: Mapping[str, str]) -> list[str]:
    """Return the files of LD_PRELOAD, which spaces and colons keep apart."""
    return [path for path in re.split("[ :]+", environment.get("LD_PRELOAD", "")) if path]


def preload(library: Path) -> dict[str, str]:
    """Return LD_PRELOAD with the library in front of what was there."""
    others = [path for path in preloaded(os.environ) if path != str(library)]
    return {"LD_PRELOAD": ":".join([str(library), *others])}


def _library(args: argparse.Namespace, this_cpu: str) -> Library:
    if args.library is not None:
        return libraries.named(args.library)
    cpu = args.cpu if args.cpu is None else processor.require_known(args.cpu)
    roots = libraries.usual_roots() if args.prefix is None else [args.prefix]
    return libraries.find(args.profile, cpu, this_cpu, roots, args.variant)


def _remark(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"hakmem: {line}", file=sys.stderr)


def _show(environment: Mapping[str, str], command: Sequence[str]) -> None:
    import shlex

    names = ["LD_PRELOAD", *sorted(name for name in environment if name.startswith(options.PREFIX))]
    print(shlex.join(["env", *(f"{name}={environment[name]}" for name in names), *command]))
