/* The way of blocks out of a thread's caches: into the slabs of its heap, or in chains to the heaps
 * that own them. */
#ifndef HAK_COLD_GIVE_H
#define HAK_COLD_GIVE_H

#include "base/types.h"

/* Gives `count` blocks of one class back; returns how many of them other heaps own. A block that is
 * none, or is free already, ends the program. By the owner of the heap. */
size_t hak_give_back(hak_heap *heap, unsigned cls, void *const *blocks, size_t count);

#endif
