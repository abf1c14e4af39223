"""How an error that was foreseen is told: what happened, then what to do."""

from __future__ import annotations

import sys

from pipeline.core.errors import PipelineError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paste import runnable, what_to_do


def tell(error: PipelineError) -> ExitCode:
    """Tell an error on stderr, and return its exit code."""
    print(runnable(f"error: {error.message}"), file=sys.stderr)
    print(what_to_do(error.hint or error.exit_code.cure), file=sys.stderr)
    return error.exit_code
