"""What a geometry must keep to, in sentences: refused here, before anything is compiled.

The compiler holds the tables against the same rules (allocator/base/geometry.h, types.h), so
that a table from elsewhere is refused as well. Limits that stand in both are read by a test from
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pipeline.core.errors import ProfileError
from pipeline.geometry.code import CHOICES
from pipeline.geometry.model import LEAST_DEPTH, MOST_DEPTH, Geometry, Setting, SizeClass

MIN_ALIGN, MEDIUM_STEP = 16, 256
SMALL_MAX, MEDIUM_MAX = 2048, 65536
PAGES_PER_SEGMENT = 32
SLAB_MAX_BLOCKS = 4096
# Classes that no size leads to, the same in every geometry: cold_classes.def.
COLD_CLASSES, COLD_DEPTH = 20, 32
MOST_CLASSES = 254 - COLD_CLASSES
# Bytes of a heap beside its magazines: a bound of sizeof(hak_heap), for each class and in all.
_HEAP_PER_CLASS, _HEAP_FIXED = 96, 1024
_POINTER = 8
# Places in which a magazine grows up to its usual depth: HAK_GROWN_PLACES of geometry.h.
_GROWN_PLACES = 6


def check(geometry: Geometry) -> list[str]:
    """Return one sentence for each rule that the geometry breaks; none if it is legal."""
    found = [sentence for one in geometry.constants for sentence in _constant(one.name, geometry)]
    found += [sentence for one in geometry.code for sentence in _setting(one)]
    if found:  # the rest is arithmetic with these
        return found
    found += [
        f"class {number} ({one.size} bytes): {sentence}"
        for number, one in enumerate(geometry.classes, start=1)
        for sentence in _class(one, geometry.page_bytes)
    ]
    return found or list(_table(geometry))


def require_legal(geometry: Geometry, place: str) -> None:
    """Raise ProfileError with all sentences of :func:`check`; ``place`` is the file."""
    found = check(geometry)
    if found:
        raise ProfileError(
            "\n  ".join(f"{place}: {sentence}" for sentence in found),
            hint="docs/geometry.md says what each value means and what it may be",
        )


def usual_pages(size: int, page_bytes: int = 65536) -> int:
    """Return the pages of a slab for blocks of ``size`` bytes, by the default table's rule.

    As few as hold eight blocks (four above 32 KiB) and leave at most 1/16 of the slab unused.
    """
    least = 8 if size <= 32768 else 4
    for pages in range(1, PAGES_PER_SEGMENT + 1):
        blocks, tail = divmod(pages * page_bytes, size)
        if blocks >= least and tail * 16 <= pages * page_bytes:
            return pages
    return PAGES_PER_SEGMENT


def usual_depth(size: int) -> int:
    """Return the depth of a magazine by the default table's rule: 64 KiB of blocks, 4 to 1024."""
    return min(max(65536 // size, 4), MOST_DEPTH)


def usual_class(size: int, page_bytes: int = 65536) -> SizeClass:
    """Return the class that the default table's rules give for ``size`` bytes."""
    return SizeClass(
        size=size,
        pages=usual_pages(size, page_bytes),
        depth=usual_depth(size),
    )


def deepest(geometry: Geometry, one: SizeClass) -> int:
    """Return the slots that the magazine of a class may grow to: HAK_DEEPEST of geometry.h."""
    size, deep_bytes = one.size, geometry.value("deep_bytes")
    room = deep_bytes // size if size <= 128 else deep_bytes * 128 // size // size
    wish = max(room, geometry.value("deep_times") * one.depth)
    return min(wish, geometry.value("deep_most"))


def heap_bytes(geometry: Geometry) -> int:
    """Return the address space of one thread's heap and magazines, at most (not its memory)."""
    count = len(geometry.classes) + 1
    empty = 1 + geometry.value("hand")
    depths = [one.depth for one in geometry.classes] + [COLD_DEPTH] * COLD_CLASSES
    begins = geometry.value("small_depth")
    small = empty + sum(min(one.depth, begins) + empty for one in geometry.classes)
    grown = sum(depth + depth * 2 // 3 + _GROWN_PLACES * empty for depth in depths)
    deep = 1 + sum(deepest(geometry, one) + empty for one in geometry.classes)
    classes = count + COLD_CLASSES
    return _HEAP_FIXED + _HEAP_PER_CLASS * classes + _POINTER * (small + grown + deep)


def _constant(name: str, geometry: Geometry) -> Iterator[str]:
    one = geometry.constant(name)
    if not one.lowest <= one.value <= one.highest:
        yield f"{name} is {one.value}; it must be from {one.lowest} to {one.highest}"


def _setting(one: Setting) -> Iterator[str]:
    allowed = CHOICES[one.name].allowed
    if one.value not in allowed:
        yield f"{one.name} is {one.value!r}; it may be {', '.join(allowed)}"


def _class(one: SizeClass, page_bytes: int) -> Iterator[str]:
    small = one.size <= SMALL_MAX
    step = MIN_ALIGN if small else MEDIUM_STEP
    if one.size < MIN_ALIGN or one.size % step:
        yield f"the size must be a multiple of {step}"
        return
    if one.size > MEDIUM_MAX:
        yield f"the size must be at most {MEDIUM_MAX}"
    if not 1 <= one.pages <= PAGES_PER_SEGMENT:
        yield f"a slab has {one.pages} pages; it must have 1 to {PAGES_PER_SEGMENT}, a segment"
    elif one.pages * page_bytes // one.size > SLAB_MAX_BLOCKS:
        blocks = one.pages * page_bytes // one.size
        yield f"a slab would have {blocks} blocks; it may have {SLAB_MAX_BLOCKS}"
    if not LEAST_DEPTH <= one.depth <= MOST_DEPTH:
        yield f"depth is {one.depth}; it must be from {LEAST_DEPTH} to {MOST_DEPTH}"


def _table(geometry: Geometry) -> Iterator[str]:
    classes = geometry.classes
    if not classes or classes[-1].size != MEDIUM_MAX:
        yield f"the last class must be of {MEDIUM_MAX} bytes: larger requests get whole pages"
    if len(classes) > MOST_CLASSES:
        yield f"there are {len(classes)} classes; there may be {MOST_CLASSES}"
    for smaller, larger in pairwise(classes):
        if larger.size <= smaller.size:
            yield f"class of {larger.size} bytes after one of {smaller.size}: sizes must rise"
    segment = PAGES_PER_SEGMENT * geometry.page_bytes
    if heap_bytes(geometry) > segment:
        yield (
            f"a thread's magazines would take {heap_bytes(geometry)} bytes of address space; they "
            f"must fit into a segment, {segment}: lower deep_bytes, deep_times, deep_most or "
            "the depths"
        )
