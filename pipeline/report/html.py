"""The HTML report: one file with its style, script and drawings in it, which opens offline."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from pipeline.judge.keys import compare, shown
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.report import text, view
from pipeline.report.compared_model import OF_VERDICT
from pipeline.report.model import ReportModel
from pipeline.report.svg import charts, intervals, textmap
from pipeline.report.templating import TEMPLATES, environment
from pipeline.report.together import kept_together

TEMPLATE = "report.html.j2"


def render_html(model: ReportModel) -> str:
    """Return the report of ``model`` as one HTML file without any reference to another."""
    pages = environment(html=True)
    pages.filters["look"] = _look
    pages.filters["coded"] = _coded
    pages.filters["pathed"] = _pathed
    page = pages.get_template(TEMPLATE).render(
        **view.values(model),
        style=Markup((TEMPLATES / "style.css").read_text("utf-8")),
        script=Markup((TEMPLATES / "script.js").read_text("utf-8")),
        plots=_Plots(model),
        levels=[f"heat-{level}" for level in range(1, textmap.LEVELS + 1)],
    )
    return kept_together(page)


def _look(verdict: Verdict | str | None) -> str:
    """Return the CSS class of a verdict, or of the memory limit's word."""
    if isinstance(verdict, Verdict):
        return OF_VERDICT[verdict]
    return {"holds": "same", "broken": "worse"}.get(verdict or "", "")


def _pathed(said: str) -> Markup:
    """Return words in which a path may be broken behind a slash, and so in no word."""
    return Markup(str(escape(said)).replace("/", "/<wbr>"))


def _coded(said: str) -> Markup:
    """Return a sentence in which what stands between backticks is set as code.

    No word of it is broken: a browser would break a line within ``--option``.
    """

    def code(found: re.Match[str]) -> str:
        words = (f'<span class="word">{word}</span>' for word in found[1].split(" "))
        return f"<code>{' '.join(words)}</code>"

    return Markup(re.sub("`([^`]+)`", code, str(escape(said))))


class _Plots:
    """The drawings of one report, for its templates."""

    def __init__(self, model: ReportModel) -> None:
        self._model, self._verify = model, model.verify
        margin = self._verify.margins.throughput
        timed = self._verify.throughput
        workloads = [shown(one, timed) for one in timed.workloads]
        self._workloads = intervals.span_of(workloads, margin)
        steps = model.evidence.ablation.steps if model.evidence and model.evidence.ablation else ()
        self._steps = intervals.span_of([one.speed for one in steps if one.speed], margin)

    def key(self, name: str) -> Markup:
        """Draw the key ``throughput``, ``icache`` or ``memory``; nothing if it has no interval."""
        key = getattr(self._verify.keys, name)
        if key.ratio is None:
            return Markup()
        return intervals.key_plot(
            f"plot-{name}",
            key.measure,
            key.ratio,
            key.margin,
            OF_VERDICT[key.verdict],
            name in ("icache", "memory"),
        )

    def workload_axis(self) -> Markup:
        """Draw the axis of the workloads' plots."""
        return intervals.cell_axis(self._workloads)

    def workload(self, ratio: Interval) -> Markup:
        """Draw the change of one workload."""
        return self._cell(ratio, self._workloads)

    def step_axis(self) -> Markup:
        """Draw the axis of the ablation chain's plots."""
        return intervals.cell_axis(self._steps)

    def step(self, speed: Interval | None) -> Markup:
        """Draw the speed of one step against the last build of the chain."""
        return self._cell(speed, self._steps)

    def curve(self) -> Markup:
        """Draw the misses over the size of the cache."""
        return charts.curve_chart("plot-curve", self._model.curve)

    def layout_null(self) -> Markup:
        """Draw the random layouts' histogram; nothing if there are none."""
        null = self._model.evidence.layout_null if self._model.evidence else None
        return charts.null_chart("plot-null", null) if null else Markup()

    def maps(self) -> list[tuple[str, Markup]]:
        """Draw the text maps that there are, each with the heading it gets, this version last."""
        model = self._model
        if model.code is None:
            return []
        why = {row.name: row.why for row in model.functions}
        before, after = model.code
        drawn = [("Before: the baseline", textmap.text_map("map-baseline", before, why))]
        if model.previous and model.previous.code:
            older = textmap.text_map("map-previous", model.previous.code, why)
            drawn.append((f"Before: {model.previous.version}", older))
        drawn.append(("After: this version", textmap.text_map("map-tuned", after, why)))
        return drawn

    def _cell(self, interval: Interval | None, span: intervals.Span) -> Markup:
        margin = self._verify.margins.throughput
        if interval is None:
            return Markup()
        look = OF_VERDICT[compare(interval, margin)]
        title = f"{text.change(interval.value)}, interval {text.ends(interval)}"
        return intervals.cell_plot(title, interval, span, margin, look)
