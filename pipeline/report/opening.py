"""The first words of a report: the verdict, and what it was compared with."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.variant import PRODUCTION, line_of
from pipeline.judge.headline import sentences, short_remarks
from pipeline.report.in_tree import in_tree
from pipeline.report.model import ReportModel


def paired(model: ReportModel) -> str:
    """Return what the two columns are: else readers divide them, and wonder."""
    return (
        "The baseline is this library built with -O2 and no profile. It is not the malloc that you "
        "have. To compare with that: "
        f"{_libc(model)}; append `-- YOUR-PROGRAM` to do so in a program of yours. "
        "Speed: the baseline is 1, and more is faster. The interval is that of the pairs. "
        "Memory: both columns are medians; their change is the median over the pairs."
    )


def legend(model: ReportModel, *, libc: bool) -> Iterator[str]:
    """Yield the same in short lines for the terminal, the command last if it is wanted.

    What is published and current has it among the next commands of its build.
    """
    yield "The baseline is this library built with -O2 and no profile, not your malloc."
    yield "Speed: more is faster. Peak memory: its ratio is the median over the pairs."
    if libc:
        yield f"against your malloc: {_libc(model)}"


def _libc(model: ReportModel) -> str:
    return f"`{against_libc(model)}`"


def against_libc(model: ReportModel) -> str:
    """Return the command that compares with libc, on the workloads that the build was judged by."""
    command = ".venv/bin/pipeline versus"
    if model.published:
        return f"{command} libc {line_of(model.profile, model.variant)}:{model.version}"
    return f"{command} -p {model.profile} libc {in_tree(model.verify.tuned.path)}"


def opening(model: ReportModel) -> str:
    """Return the verdict in words; of a variant also what its baseline is, and what it costs."""
    return " ".join(opening_sentences(model))


def opening_sentences(model: ReportModel) -> list[str]:
    """Return the same sentence by sentence."""
    return _of_variant(model, sentences(model.verify))


def untabled(model: ReportModel) -> str:
    """Return what of it no line or table of the terminal has."""
    return " ".join(_of_variant(model, short_remarks(model.verify)))


def _of_variant(model: ReportModel, said: list[str]) -> list[str]:
    if model.variant == PRODUCTION:
        return said
    cost = model.cost.sentence if model.cost else "What it costs against production is unknown."
    kind = model.variant
    return [f"{kind.capitalize()}; its baseline is the plain {kind} build.", *said, cost]
