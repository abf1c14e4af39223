"""Programs that have the library linked in: its own functions hold none of their memory."""

from __future__ import annotations

from pipeline.heap.stacks import Frame
from pipeline.heap.symbols import without_ours

UNWIND = (
    Frame("unwind", "stack_linux.c:17", "./allocator/os"),
    Frame("hak_os_stack", "stack_linux.c:53", "./allocator/os"),
)
REFILL = Frame("refill_picked", "refill.c:142", "./allocator/front")


def test_functions_of_the_library_are_left_out() -> None:
    program = (Frame("main", "app.c:3", "/src"),)
    assert without_ours({1: UNWIND, 2: (REFILL,), 3: program}) == {1: (), 2: (), 3: program}


def test_what_they_were_inlined_into_stays() -> None:
    main = Frame("main", "app.c:3", "/src")
    assert without_ours({1: UNWIND, 2: (REFILL, main)})[2] == (main,)


def test_without_the_library_nothing_is_left_out() -> None:
    found = {1: (REFILL,), 2: (Frame("hak_os_stack"),), 3: (Frame("main"),)}
    assert without_ours(found) == found
