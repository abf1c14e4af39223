"""Where the ``pipeline`` command begins: ctrl-C is heard also while its modules are loaded."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; see :mod:`pipeline.cli`."""
    try:
        from pipeline import cli
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main()
