"""The HTML report as a browser sees it: whole, alone, and with every section it promises."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from judge_support import pairs, result_of, throughput_of
from report_support import bad, good, mixed_counts

from pipeline.judge.known import Dose
from pipeline.judge.statistics import Interval
from pipeline.judge.topic import Topic
from pipeline.report.build import alone
from pipeline.report.explained import measured_and_found
from pipeline.report.html import render_html
from pipeline.report.markdown import render_markdown
from pipeline.report.model import Finding
from pipeline.report.svg.draw import Scale, element, nice_ticks, tick_labels
from pipeline.report.svg.intervals import Span, cell_axis, span_of
from pipeline.report.svg.textmap import heat_level
from pipeline.report.terminal import as_text
from pipeline.report.text import ends, injected, quantity

LIMIT = 2_000_000
SECTIONS = [
    *("verdict", "findings", "keys", "workloads", "counts", "curve", "previous", "ablation"),
    *("map", "functions", "dyno-stats", "null", "programs", "training", "self-check", "health"),
    *("environment", "reproduce"),
]
VOID = {"meta", "br", "wbr", "input", "link", "img"}


class Page(HTMLParser):
    """All that the tests ask of a page; an element that is not closed in order is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.errors: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "action", "srcset", "data"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> in line {self.getpos()[0]}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_below_its_regressions_a_report_says_where_no_other_was_shown() -> None:
    model = bad()
    assert any(one.kind == "regression" for one in model.findings)
    said = "No other regression was shown in 1 timed workload (mixed) and 0 counted."
    assert said in Page(render_html(model)).said
    assert said in render_markdown(model)


@pytest.fixture(params=["good", "bad"])
def html(request: pytest.FixtureRequest) -> str:
    return render_html({"good": good, "bad": bad}[request.param]())


def check_page(html: str) -> Page:
    page = Page(html)
    assert not page.errors
    assert not page.open
    assert len(html.encode()) < LIMIT
    assert len(page.ids) == len(set(page.ids))
    assert not set(SECTIONS) - set(page.ids)
    for link in page.links:
        assert link.startswith("#")
        assert link[1:] in page.ids, link
    return page


def test_page_is_whole_and_has_every_section(html: str) -> None:
    check_page(html)


def test_no_sign_is_added_to_what_is_undecided(html: str) -> None:
    """A change that is shown, but not by the margin, would read "? faster (by 0.5 to 1.6 %)"."""
    assert not re.search(r'content: "\?', html)


def test_page_loads_nothing_from_elsewhere(html: str) -> None:
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\((?!#)", html)
    assert not {"link", "img", "iframe", "object"} & set(Page(html).tags)


def test_drawings_are_named_for_those_who_do_not_see_them() -> None:
    html = render_html(good())
    for drawing in re.findall(r"<svg.*?</svg>", html, re.S):
        assert re.match(r'<svg[^>]*role="img"[^>]*>\s*<title', drawing), drawing[:200]
    assert html.count('class="drawing"') == html.count("<desc id=") == 8


def test_regressions_stand_before_everything_else() -> None:
    page = check_page(render_html(good()))
    sections = [name for name in page.ids if name in SECTIONS]
    assert sections[:2] == ["verdict", "findings"]
    assert "larson is slower" in page.said


def test_a_doubt_does_not_repeat_what_the_verdict_says() -> None:
    model = good()
    doubt = Finding.doubt("no real program was run", "so said", "health", Topic.HEALTH)
    update = {"findings": (doubt,), "reason": "nothing ran: so said", "quotes": (Topic.HEALTH,)}
    assert Page(render_html(model.model_copy(update=update))).said.count("so said") == 1


def test_what_was_not_measured_is_said_and_never_zero() -> None:
    said = check_page(render_html(bad())).said
    told = said.split("Not measured, or limited")[-1]
    for what in ("the curve", "the chain of builds", "the text map", "random layouts"):
        assert what in told.lower() and what not in said.removesuffix(told).lower(), what
    assert "The judge's own check : left out with --quick." in told
    assert "instructions per op unknown unknown unknown" in said


def test_each_function_is_a_box_and_a_row() -> None:
    model = good()
    html = render_html(model)
    assert model.code is not None
    for code, name in zip(model.code, ("map-baseline", "map-tuned"), strict=True):
        drawing = re.search(rf'<svg[^>]*id="{name}".*?</svg>', html, re.S)
        assert drawing is not None
        for one in code.functions:
            assert f'href="#fn-{one.name}"' in drawing[0]
            assert f'id="fn-{one.name}"' in html
    # Not in the baseline, where a cold function lies among the hot ones.
    assert html.count("hot.txt ends here") == 2
    assert html.index("hot.txt ends here") > html.index('id="map-previous"')


def test_names_and_reasons_cannot_break_the_page() -> None:
    model = good().model_copy(update={"reason": "<script>alert(1)</script> & more"})
    html = render_html(model)
    assert "<script>alert" not in html
    check_page(html)


def test_without_an_older_version_there_is_no_third_map() -> None:
    html = render_html(alone(good()))
    assert 'id="map-previous"' not in html
    assert "only the baseline was asked for" in check_page(html).said


def test_every_colour_of_the_light_page_has_its_dark_one() -> None:
    light, dark = re.findall(r":root \{(.*?)\}", render_html(good()), re.S)[:2]
    names = set(re.findall(r"(--[\w]+):", light))
    assert len(names) > 15
    assert names == set(re.findall(r"(--[\w]+):", dark))


def test_heat_is_by_the_logarithm_and_unknown_is_not_never() -> None:
    assert heat_level(None, 100) == "heat-unknown"
    assert heat_level(0, 100) == "heat-never"
    assert heat_level(1, 10**9) == "heat-1"
    assert heat_level(10**9, 10**9) == "heat-6"
    assert heat_level(3 * 10**4, 10**9) == "heat-3"


def test_scales_and_ticks() -> None:
    scale = Scale(0.9, 1.1, 100, 200)
    assert (scale(1), scale(2), scale.holds(2)) == (150, 200, False)
    assert Scale(1.1, 0.9, 0, 100)(1.1) == 0
    assert nice_ticks(-0.026, 0.026, 6) == [-0.02, -0.01, 0, 0.01, 0.02]
    assert span_of([], 0.01).limit >= 0.02
    assert tick_labels([0, 0.5, 1]) == ["0.0", "0.5", "1.0"]
    assert tick_labels([0, 20_000]) == ["0", "20,000"]


@pytest.mark.parametrize("limit", [0.0216, 0.03, 0.0864, 0.11, 0.5, 2.0])
def test_the_axis_of_a_column_has_three_ticks_apart(limit: float) -> None:
    ticks = re.findall(r">([^<>]+ %)</text>", cell_axis(Span(limit)))
    assert len(set(ticks)) == 3 and ticks[1] == "0 %", ticks


def test_elements_escape_what_they_are_given() -> None:
    spelled = element("text", "a<b", class_='"x"', font_size=1.23456, missing=None)
    assert spelled == '<text class="&#34;x&#34;" font-size="1.23">a&lt;b</text>'


def test_the_words_that_lead_to_a_section_stand_in_its_heading() -> None:
    page = render_html(good())
    nav = page[page.index("<nav") : page.index("</nav>")]
    for anchor, word in re.findall(r'<a href="#([\w-]+)">([^<]+)</a>', nav):
        heading = re.search(rf'<h2 id="{anchor}"><a [^>]*>([^<]+)</a>', page)
        assert heading and word.lower() in heading[1].lower(), (anchor, word)


def test_a_number_never_parts_from_its_per_cent() -> None:
    assert not re.search(r"\d %", render_html(good()))


def test_no_term_breaks_at_its_hyphen_and_no_interval_at_its_comma() -> None:
    page = render_html(good())
    body = re.sub(r"<(svg|style|script|title|code|pre)\b.*?</\1>|<[^>]*>", "|", page, flags=re.S)
    assert "+3.01\N{NO-BREAK SPACE}%,\N{NO-BREAK SPACE}+3.18\N{NO-BREAK SPACE}%]" in body
    assert not re.search(r"%, [+-][^\[\]]*\]", body)
    assert page.count('<span class="whole">I-cache</span>') == body.count("I-cache") > 3


def test_the_first_lines_say_the_verdict_and_whether_anything_got_worse() -> None:
    html = render_html(good())
    banner = html[html.index('id="verdict"') : html.index("<nav")]
    assert re.search(r'<p class="lead">Loops and replays faster \(\+3\.1', banner)
    assert banner.index('class="lead"') < banner.index('class="chips"') < banner.index("<li>")
    regressions = sum(one.kind == "regression" for one in good().findings)
    assert f'href="#findings">regressions <b>{regressions}</b>' in banner
    for anchor in re.findall(r'class="chip [a-z]*" href="#([a-z-]+)"', banner):
        assert f'id="{anchor}"' in html


@pytest.mark.parametrize(
    ("measure", "reason", "said"),
    [
        ("peak resident memory, tuned / baseline", "peak memory +3.00 % [+1.00 %, +5.00 %], none",
         "peak resident memory, tuned / baseline: none"),
        ("operations per second", "+3.00 % over 40 pairs",
         "operations per second: over 40 pairs"),
        ("misses, simulated", "misses +3.00 % (gcc +2 %, redis +4 %)",
         "misses, simulated (gcc +2 %, redis +4 %)"),
        ("operations per second", "git changes by +3.00 % in wall time",
         "Operations per second. Git changes by +3.00 % in wall time."),
        ("I1 misses", "no real program was counted", "I1 misses. No real program was counted."),
    ],
)  # fmt: skip
def test_a_card_names_its_quantity_once(measure: str, reason: str, said: str) -> None:
    """The figure with its interval stands above, in larger letters."""
    ratio = Interval(value=1.03, low=1.01, high=1.05, confidence=0.95)
    update = {"measure": measure, "reason": reason, "ratio": ratio}
    assert measured_and_found(good().verify.keys.throughput.model_copy(update=update)) == said


def test_details_are_closed_and_this_version_s_map_is_open() -> None:
    html = render_html(good())
    assert "<details open" not in html
    hidden = "".join(re.findall(r"<details>.*?</details>", html, re.S))
    assert 'id="map-baseline"' in hidden and 'id="map-tuned"' not in hidden


def test_the_table_of_functions_says_what_its_counts_are() -> None:
    html = render_html(good())
    assert "The count: entries, from BOLT" in html and "neither time nor instructions" in html
    assert "The count" not in render_html(bad())


def test_each_column_has_a_heading_of_its_own(html: str) -> None:
    for table in re.findall(r"<table.*?</table>", html, re.S):
        head, body = table.split("<tbody>")
        assert "colspan" not in head
        columns = len(re.findall(r"<th[ >]", head))
        for row in body.split("<tr")[1:]:
            spans = re.findall(r'<t[hd](?: [^>]*?colspan="(\d+)")?[ >]', row)
            assert sum(int(one or 1) for one in spans) == columns, row[:80]


def test_memory_has_a_card_and_a_chip_like_the_other_keys() -> None:
    model = good()
    assert model.verify.keys.memory is not None
    page = render_html(model)
    assert 'id="key-memory"' in page and 'id="plot-memory"' in page
    assert f"memory <b>{model.verify.keys.memory.verdict.value}</b>" in page
    assert "memory limit <b>holds</b>" in page


def test_what_was_before_stands_first_as_in_markdown_and_in_each_arrow() -> None:
    model = good()
    page = render_html(model)
    summary = page.split('aria-label="Summary"')[1]
    assert summary.index(">baseline<") < summary.index(">this version<")
    previous = page.split('aria-label="This version against the one before"')[1]
    assert previous.index(">then<") < previous.index(">now<")
    assert model.previous is not None
    row = next(one for one in model.previous.rows if one.before and one.after)
    shown = [previous.index(f">{quantity(one, row.unit)}<") for one in (row.before, row.after)]
    assert shown == sorted(shown)


def test_a_single_workload_has_the_interval_of_all() -> None:
    timed = throughput_of(tiny=pairs(1.08))
    verify = result_of(timed, mixed_counts())
    overall = replace(timed.overall, value=1.0715, low=1.0605, high=1.0825)
    verify = verify.model_copy(
        update={"throughput": timed.model_copy(update={"overall": overall, "loops": overall})}
    )
    model = good().model_copy(update={"verify": verify})
    for render in (render_html, render_markdown, as_text):
        said = render(model)
        row = next(line for line in said.splitlines() if "tiny" in line and "6.0" in line)
        assert "faster" in row.lower(), row
        assert "are wider" not in said and "wider intervals" not in said


def test_a_step_of_the_ablation_has_its_interval_in_words() -> None:
    """It was drawn alone: whoever reads the figure aloud or copies it had none."""
    model = good()
    steps = model.evidence.ablation.steps if model.evidence and model.evidence.ablation else ()
    known = [one.speed for one in steps if one.speed]
    page = render_html(model).replace("\N{NO-BREAK SPACE}", " ")
    assert known
    assert all(f"<small>{ends(speed)}</small>" in page for speed in known)


def test_what_was_injected_is_a_figure_and_no_list() -> None:
    """It named each of 15 workloads with the same share."""
    doses = [
        Dose(workload=f"w{number}", rounds=9, loss=0.02, probe_rounds=90, probe_loss=0.2)
        for number in range(15)
    ]
    assert injected(doses) == "2.0 % in 15 workloads"
    other = doses[0].model_copy(update={"loss": 0.019})
    assert injected([*doses, other]) == "1.9 % to 2.0 % in 16 workloads"
