/* The door behind malloc, as retire.h is the one behind free.
 *
 *   malloc -> magazine empty -> hak_refill:  a block of a coarser class, while few are wanted
 *                                            remote chains of this heap
 *                                            blocks in the transfer cache
 *                                            free blocks of the heap's partial slabs
 *                                            a slab of an ended thread
 *                                            a new slab: a run in the cache, pages of a segment,
 *                                            else of the system
 *
 * docs/block-paths.md has each step with its file.
 *
 * Odd cases (first call of a thread, sizes without a class, an armed or ended thread) come through
 * the same door, because their magazine is empty. */
#pragma once

#include "base/types.h"

/* A block of at least `size` bytes (at most HAK_MEDIUM_MAX). NULL and errno = ENOMEM: out of
 * memory. Any thread. */
HAK_DOOR void *hak_refill(size_t size);

/* Where malloc goes with more than HAK_SMALL_MAX bytes: front/medium.c. */
HAK_HIDDEN void *hak_malloc_medium(size_t size);

/* A block of a cold class. NULL: out of memory, or no cold blocks are handed out just now. Any
 * thread. */
HAK_DOOR void *hak_refill_cold(unsigned cls);
