"""The report as a browser lays it out: nothing sticks out of the window, wide or narrow."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from report_support import good

from pipeline.heap.html import render_page
from pipeline.heap.stacks import Frame
from pipeline.report.history_html import render_history_html
from pipeline.report.history_model import History, Point
from pipeline.report.html import render_html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
LIMIT_S = 300
# A window has a least width; a frame in it has none.
FRAMED = """<!doctype html><title>not measured</title>
<iframe width="{width}" height="2000" srcdoc="{page}"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const shown = frame.contentDocument.documentElement, out = [];
  for (const one of shown.querySelectorAll("h1, h2, h3, p, li, figcaption, td"))
    if (one.getBoundingClientRect().right > shown.clientWidth + 1) out.push(one.textContent.trim());
  for (const one of shown.querySelectorAll(".scroll"))
    if (frame.width >= 1000 && one.scrollWidth > one.clientWidth + 1) out.push("scrolls");
  document.title = `wide ${{shown.scrollWidth}} of ${{shown.clientWidth}}; out: ${{out}};`;
}};
</script>
"""


def heap_page() -> str:
    """Return the page of a heap profile, with names as long as those of C++."""
    name = "a_namespace::" * 12 + "function(int)"
    facts = [("bytes, estimated", "650.6 KiB"), ("program", "/usr/lib/" * 20)]
    return render_page(f"{name}.heap", "live", facts, Counter({(Frame("main"), Frame(name)): 9}))


def report_page() -> str:
    """Return a report that says where the library of a build that was not published lies."""
    library = f"build/pipeline/mixed/{'bolt/' * 9}libhakmem.so"
    words = f'<p><code><span class="word">{library}</span></code></p>'
    return render_html(good()).replace("<main>", f"<main>{words}", 1)


def history_page() -> str:
    """Return a history with names, modes and figures as long as they are."""
    point = {
        **{"version": "0.2.0-3f2a91c0b7de", "created": "2026-01-02T03:04:05+00:00"},
        **{"published": True, "current": False, "mode": "thorough", "processor": "a"},
        **{"baseline": "b", "gain": 1.0412, "gain_low": 1.0231, "gain_high": 1.0567},
        **{"misses": 12345678.0, "misses_of": "programs", "instructions": 1234.56},
        **{"memory_mib": 12345.6, "text_bytes": 123456, "workloads": ("one",)},
    }
    older = Point.model_validate({**point, "mark": "rejected: slower in production than before"})
    newer = Point.model_validate({**point, "version": "0.2.0-11c0b7de3f2a", "current": True})
    return render_history_html(History(profile="mixed", points=(older, newer), unreadable=()))


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize(
    ("text", "width"),
    [
        *((page, width) for page in (report_page(), heap_page()) for width in (1100, 400)),
        *((history_page(), width) for width in (1000, 600)),
    ],
    ids=["report", "report-narrow", "heap", "heap-narrow", "history", "history-narrow"],
)
def test_nothing_sticks_out_of_the_window(text: str, width: int, tmp_path: Path) -> None:
    page = tmp_path / "framed.html"
    framed = FRAMED.format(width=width, page=html.escape(text))
    page.write_text(framed, encoding="utf-8")
    words = (CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,2000")
    done = subprocess.run(
        [*map(str, words), f"--user-data-dir={tmp_path}/home", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    title = re.search(r"<title>wide (\d+) of (\d+); out: (.*?);</title>", done.stdout, re.S)
    assert title is not None, done.stdout[:2000] + done.stderr
    wide, window, out = title.groups()
    assert int(wide) <= int(window) <= width
    assert int(window) > width - 50
    assert out == ""
