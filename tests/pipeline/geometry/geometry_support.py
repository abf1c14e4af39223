"""A geometry for tests: legal, and at the limits wherever there are some."""

from __future__ import annotations

from pipeline.geometry.model import Geometry, SizeClass

# Bytes, pages of a slab, depth of a magazine. 48 bytes: 4096 blocks, as many as a slab may have.
_SMALL = ((16, 1, 2), (48, 3, 1024), (240, 2, 7), (2000, 5, 64))
_MEDIUM = ((2304, 1, 2), (10240, 9, 33), (33024, 32, 1024), (65536, 1, 2))
_VALUES = {
    "small_depth": 2,
    "deep_bytes": 4096,
    "deep_most": 1024,
    "coarse_blocks": 0,
    "first_batch": 1,
    "batch_share": 32,
    "few_share": 64,
    "hand": 1,
    "prefetch_lines": 4,
    "warm_slabs": 3,
    "keep_pages": 0,
    "keep_share": 64,
}


def strange(default: Geometry) -> Geometry:
    """Return a legal geometry that has little in common with the default one."""
    rows = [
        SizeClass(size=size, pages=pages, depth=depth) for size, pages, depth in _SMALL + _MEDIUM
    ]
    changed = default.with_classes(rows, "a test of the limits", "nothing")
    for name, value in _VALUES.items():
        changed = changed.with_value(name, value, "a test of the limits", "nothing")
    return changed
