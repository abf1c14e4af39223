/* What is derived from the table of size classes (base/classes.def). */
#pragma once

#include "base/bits.h"
#include "base/types.h"

typedef struct hak_class {
    uint32_t size;       /* bytes of a block */
    uint16_t pages;      /* of a slab */
    uint16_t depth;      /* of a magazine, usually ... */
    uint16_t deepest;    /* ... and at most */
    uint16_t capacity;   /* blocks in a slab */
    uint32_t first_slot; /* of the deep magazine; HAK_EMPTY_SLOTS from there on stay NULL */
    uint64_t reciprocal; /* 2^64 / size, rounded up: hak_divide */
} hak_class;

/* An offset into a slab, divided by the size of the slab's blocks. */
typedef struct hak_quotient {
    size_t index;
    bool is_exact; /* nothing is left: a block begins there */
} hak_quotient;

/* Exact for offsets below 2^23 (a segment of 256 KiB pages) and sizes up to 2^16: the error of the
 * reciprocal is below 1, so offset * error < 2^23 < 2^64 / size. For the same reason the lower half
 * of the product is below 2^23 where nothing is left, and at least the reciprocal elsewhere.
 * Source: Granlund & Montgomery, "Division by Invariant Integers using Multiplication" (1994),
 * theorem 4.2. */
HAK_INLINE hak_quotient hak_divide(size_t offset, uint64_t reciprocal) {
    hak_wide product = (hak_wide)offset * reciprocal;
    return (hak_quotient){(size_t)(product >> 64), (uint64_t)product < reciprocal};
}

extern HAK_HIDDEN const hak_class hak_classes[HAK_CLASSES];

HAK_INLINE bool hak_class_is_cold(unsigned cls) {
    return cls >= HAK_FIRST_COLD;
}

/* The size of the class below, whose blocks are too short for what this one is for. */
HAK_INLINE size_t hak_size_below(unsigned cls) {
    return cls == HAK_FIRST_COLD ? 0 : hak_classes[cls - 1].size;
}

/* The smallest class that holds `size` bytes, HAK_MEDIUM_MAX at most: without a heap's tables. */
unsigned hak_class_by_search(size_t size);

/* The first of the classes from `cls` on whose blocks hold `size` bytes and are all aligned to
 * `alignment`, a power of two; `end`: there is none before it. */
unsigned hak_class_aligned(unsigned cls, unsigned end, size_t size, size_t alignment);

/* Fills a heap's two tables: size in steps of 16 (256) bytes -> smallest class that holds it. */
void hak_classes_fill(uint8_t small[HAK_SMALL_STEPS], uint8_t medium[HAK_MEDIUM_STEPS]);
