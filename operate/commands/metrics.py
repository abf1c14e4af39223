"""``hakmem metrics``: the figures of all processes with the library, as Prometheus reads them."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from pathlib import Path

from operate import exporter, scrape
from pipeline.core.errors import UsageError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.files import replacing

_EXAMPLES = """\
Each process must have been started with HAKMEM_STATS_SOCKET=/FOLDER/%p.sock. Those of other
users are left out, unless this runs as root: docs/statistics.md.

Examples:
  hakmem metrics
  hakmem metrics --listen 9199            # http://127.0.0.1:9199/metrics, until ctrl-C
  hakmem metrics -o /var/lib/prometheus/node-exporter/hakmem.prom

Exit codes: 0 also where no process told anything; 130 after ctrl-C; else docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--listen",
        type=_address,
        metavar="[ADDRESS:]PORT",
        help=f"answer each question of Prometheus, at {exporter.DEFAULT_ADDRESS} by default",
    )
    ways.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="write there, all of it at once"
    )
    parser.epilog = _EXAMPLES


def _address(word: str) -> tuple[str, int]:
    try:
        return exporter.address(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(args: argparse.Namespace) -> int:
    """Look once, or whenever somebody asks."""
    if args.listen:
        return _serve(*args.listen)
    text, told = scrape.text()
    if not told:
        print(
            "hakmem: no process told anything: start programs with HAKMEM_STATS_SOCKET, and run "
            "this as their user or as root",
            file=sys.stderr,
        )
    if args.output:
        write(args.output, text)
    else:
        print(text, end="", flush=True)
    return ExitCode.OK


def _serve(host: str, port: int) -> int:
    with exporter.Server(host, port, lambda: scrape.text()[0]) as server:
        print(f"hakmem: {server.url} answers until ctrl-C", file=sys.stderr, flush=True)
        server.serve_forever()
    return ExitCode.OK


def write(path: Path, text: str) -> None:
    """Write a file that others see whole or not at all; it keeps the rights that it had."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file in it, such as hakmem.prom")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", hint="make it, or write elsewhere")
    if path.exists() and not path.is_file():  # such as /dev/stdout
        path.write_text(text, encoding="utf-8")
        return
    with replacing(path) as fresh:
        made = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(made, _mode(path))


def _mode(path: Path) -> int:
    """Return the rights of the file that is replaced, or of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
