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
    if (frame.width > 1000 && one.scrollWidth > one.clientWidth + 1) out.push("scrolls");
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


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1100, 400])
@pytest.mark.parametrize("text", [report_page(), heap_page()], ids=["report", "heap"])
def test_nothing_sticks_out_of_the_window(width: int, text: str, tmp_path: Path) -> None:
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
