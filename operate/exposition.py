"""Prometheus' text of many processes as one: each metric has its head once, each sample its labels.

What a process tells is not trusted: a line that is none of the library's makes the answer unusable,
and it can neither take the labels of another process nor tell a metric twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_HEAD = re.compile(r"# (HELP|TYPE) (hakmem_[a-z0-9_]+) (.+)")
_SAMPLE = re.compile(rf"(hakmem_[a-z0-9_]+)(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? ({_NUMBER})")
_TYPES = ("gauge", "counter")
UP = "hakmem_up"
LEFT_OUT = "hakmem_left_out"
OWN = ("pid", "comm")
"""The labels that say which process it is."""


class NotUnderstood(ValueError):
    """An answer that is not the library's."""


@dataclass
class Metric:
    """A metric: what it is, and its samples, each by its labels."""

    kind: str = ""
    words: str = ""
    samples: dict[str, str] = field(default_factory=dict)


def labels(pairs: Mapping[str, object]) -> str:
    """Return labels as they stand between the braces."""
    return ",".join(f'{name}="{_escaped(str(value))}"' for name, value in pairs.items())


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def parse(text: str) -> dict[str, Metric]:
    """Return what a process tells; NotUnderstood where that is not the library's text."""
    found: dict[str, Metric] = {}
    for line in text.split("\n"):
        if head := _HEAD.fullmatch(line):
            _take_head(found.setdefault(head[2], Metric()), head[1], head[3])
        elif sample := _SAMPLE.fullmatch(line):
            _take_sample(found.setdefault(sample[1], Metric()), sample[2] or "", sample[3])
        elif line:
            raise NotUnderstood(line)
    if not found or not all(one.kind for one in found.values()) or {UP, LEFT_OUT} & {*found}:
        raise NotUnderstood(text[:80])
    return found


def _take_head(metric: Metric, which: str, words: str) -> None:
    if which == "TYPE" and words not in _TYPES:
        raise NotUnderstood(words)
    if which == "TYPE":
        metric.kind = words
    else:
        metric.words = words


def _take_sample(metric: Metric, said: str, value: str) -> None:
    """Note a sample; labels have one order, so that the same ones are the same text."""
    found = sorted(re.findall(_LABEL, said))
    names = {one.partition("=")[0] for one in found}
    said = ",".join(found)
    if len(names) != len(found) or names & {*OWN} or said in metric.samples:
        raise NotUnderstood(said)
    metric.samples[said] = value


def join(told: Iterable[tuple[str, Mapping[str, Metric]]]) -> dict[str, Metric]:
    """Return the metrics of all processes; each comes with the labels that say which it is.

    A process that means another kind of metric by the same name, such as one with an older
    library, is left out of that metric.
    """
    all_of_them: dict[str, Metric] = {}
    for whose, metrics in told:
        for name, one in metrics.items():
            joined = all_of_them.setdefault(name, Metric(one.kind, one.words))
            if joined.kind == one.kind:
                joined.samples.update(
                    (f"{whose},{said}" if said else whose, value)
                    for said, value in one.samples.items()
                )
    return all_of_them


def render(metrics: Mapping[str, Metric]) -> str:
    """Return metrics as Prometheus' text format, version 0.0.4."""
    lines = list[str]()
    for name, metric in metrics.items():
        lines += [f"# HELP {name} {metric.words}"] if metric.words else []
        lines += [f"# TYPE {name} {metric.kind}"]
        lines += [f"{name}{{{said}}} {value}" for said, value in metric.samples.items()]
    return "".join(f"{line}\n" for line in lines)
