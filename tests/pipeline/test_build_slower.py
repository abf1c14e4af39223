"""Whole builds of changed sources: what slows the baseline as well does not become current."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Sandbox

pytestmark = pytest.mark.e2e

REFILL = "allocator/front/refill.c"
ENTRY = "hak_refill(size_t size) {\n"
WAIT = """    unsigned leaf = 0, rest = 0, other, last;
    __asm__ volatile("cpuid" : "+a"(leaf), "=b"(other), "+c"(rest), "=d"(last));
"""
"""Takes the time of very many instructions, and is one: no count tells of it."""
LOOK = "    (void)*(const volatile size_t *)&size;\n"
"""Takes hardly any time, and makes another library."""


def change(sandbox: Sandbox, old: str, new: str) -> None:
    """Replace a text in the source that refills magazines."""
    source = sandbox.root / REFILL
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1
    source.write_text(text.replace(old, new), encoding="utf-8")


def report_of(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def test_what_is_slower_together_with_its_baseline_does_not_become_current(fresh: Sandbox) -> None:
    """The verdict over its own baseline did not show it, and it became current."""
    code, output = fresh.build("--quick")
    assert code == 0 and "against-current" not in output, output
    first = fresh.current.resolve()
    change(fresh, ENTRY, f"{ENTRY}{WAIT}")
    code, output = fresh.build("--quick", "--no-publish")
    assert code == 0 and "against-current" not in output, output
    code, output = fresh.build("--quick")
    said = " ".join(output.split())
    assert code == 0, output
    assert re.search(rf"speed against {first.name}, judged directly, in \d+ s: -", said)
    why = f"`current` is still {first.name}: this one is worse than {first.name}: throughput -"
    assert why in said
    assert fresh.current.resolve() == first
    slow = first.parent / said.split(" --to ")[1].split("`")[0]
    assert "throughput -" in str(report_of(slow)["stays"])
    stages = json.loads((slow / "manifest.json").read_text(encoding="utf-8"))["stages"]
    assert {"current", "tuned", "machine"} <= set(stages["against-current"]["inputs"])
    code, output = fresh.build("--quick")
    assert code == 0 and "against-current: unchanged" in output, output
    assert fresh.run("rollback", "-p", "tiny", "--to", slow.name)[0] == 0
    code, output = fresh.build("--quick")
    assert code == 0 and "nothing to do" in output and "against-current" not in output, output
    change(fresh, WAIT, LOOK)
    code, output = fresh.build("--quick")
    assert code == 0, output
    assert fresh.current.resolve() not in (first, slow)
    assert f"speed against {slow.name}, judged directly, in " in " ".join(output.split())
