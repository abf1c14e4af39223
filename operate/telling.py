"""How an error that was foreseen is told: what happened, then what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from operate.processes import Process
from pipeline.core.errors import PipelineError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paste import runnable, what_to_do


def tell(error: PipelineError) -> ExitCode:
    """Tell an error on stderr, and return its exit code."""
    print(runnable(f"error: {error.message}"), file=sys.stderr)
    print(what_to_do(error.hint or error.exit_code.cure), file=sys.stderr)
    return error.exit_code


def each(pids: Sequence[int], asked: Callable[[Process], str]) -> int:
    """Tell what each process did; where one cannot, the others do it all the same.

    Returns the exit code of the last error that was told, or that of success.
    """
    code = ExitCode.OK
    for pid in pids:
        try:
            print(f"process {pid}: {asked(Process(pid))}")
        except PipelineError as error:
            sys.stdout.flush()
            code = tell(error)
    return code
