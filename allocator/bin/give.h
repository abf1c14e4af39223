/* The way of blocks out of a thread's caches: into the slabs of its heap, or in chains to the heaps
 * that own them. */
#pragma once

#include "base/types.h"

/* How many blocks of one slab have to follow each other, or to lie how near on one page, so that to
 * give them back together is cheap. */
enum { HAK_LONG_RUN = 4 };

typedef struct hak_given {
    size_t remote; /* blocks that other heaps own */
    size_t runs;   /* of blocks that follow each other in the array and lie in one slab */
} hak_given;

/* Gives `count` blocks of one class back. A block that is none, or is free already, ends the
 * program. By the owner of the heap. */
hak_given hak_give_back(hak_heap *heap, unsigned cls, void *const *blocks, size_t count);
