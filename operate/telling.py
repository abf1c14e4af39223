"""How an error that was foreseen is told: what happened, then what to do."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from operate.processes import Process
from pipeline.core.errors import PipelineError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paste import runnable, what_to_do

_NAME = "hakmem"


def tell(error: PipelineError) -> ExitCode:
    """Tell an error on stderr, and return its exit code."""
    print(as_typed(runnable(f"error: {error.message}")), file=sys.stderr)
    print(as_typed(what_to_do(error.hint or error.exit_code.cure)), file=sys.stderr)
    return error.exit_code


def as_typed(text: str) -> str:
    """Return a text in which `hakmem` is called as it was typed, where it is not on the PATH."""
    typed = sys.argv[0]
    if Path(typed).name != _NAME or shutil.which(_NAME):
        return text
    return text.replace(f"`{_NAME} ", f"`{shlex.quote(typed)} ")


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
