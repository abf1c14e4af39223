"""malloc and its family share no entry of the processor's memory-order predictor with free, and
what counts mallocs saves no registers.

The load of ``heap->top`` in front of a pop often meets the store of an earlier push, and waits for
it. If its address has the low eight bits of a load that never meets a store, the predictor lets
both run ahead, and what followed is thrown away each time: docs/experiments.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core import process
from pipeline.toolchain.find import find_llvm

POPPING = ("hak_malloc", "hak_calloc", "hak_posix_memalign", "hak_malloc_medium")
LIBRARIES = {"baseline": "libhakmem.so", "pgo": "libhakmem.so", "bolt": "unstripped.so"}
ENTRIES = 256  # of the predictor, by the low bits of a load's address
_LOAD = re.compile(r"^\s*([0-9a-f]+):\s+(?:mov|sub|add)\w*\s+(\S*\(.*?\)), %\w+", re.M)
_TOP = re.compile(r"\(%\w+,%\w+,8\)")


def loads(library: Path, function: str, top: bool) -> list[int]:
    """Return the addresses of a function's loads from ``heap->top``, or those of all others.

    Compares with memory are left out: those have not been seen to collide.
    """
    tool = find_llvm() / "llvm-objdump"
    only = f"--disassemble-symbols={function}"
    text = process.run([tool, only, "--no-show-raw-insn", library]).stdout
    found = _LOAD.findall(text)
    return [int(at, 16) for at, operand in found if bool(_TOP.fullmatch(operand)) == top]


@pytest.mark.parametrize("stage", LIBRARIES)
def test_pops_share_no_entry_with_loads_of_free(stage: str, built: Sandbox) -> None:
    library = built.artifacts(stage)[-1] / LIBRARIES[stage]
    steady = {at % ENTRIES: hex(at) for at in loads(library, "hak_free", top=False)}
    assert len(steady) >= 5, "free reads its range, the class map, and where the heap is"
    for function in POPPING:
        pops = loads(library, function, top=True)
        assert pops, f"{function} pops no more"
        shared = [(hex(at), steady[at % ENTRIES]) for at in pops if at % ENTRIES in steady]
        assert not shared, f"{stage}: {function} and hak_free, try another order of functions"


def test_a_malloc_that_is_counted_saves_no_registers(built: Sandbox) -> None:
    """The compiler took the slow path into the door twice: each counted malloc paid for it."""
    library = built.artifacts("baseline")[-1] / LIBRARIES["baseline"]
    tool = find_llvm() / "llvm-objdump"
    for door in ("hak_refill", "refill_counted"):
        text = process.run([tool, f"--disassemble-symbols={door}", library]).stdout
        assert f"<{door}>:" in text
        assert "push" not in text and "%rsp" not in text, text
