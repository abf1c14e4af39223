/* The two doors behind malloc and free: docs/block-paths.md has each step with its file.
 *
 *   malloc -> magazine empty -> hak_refill:  a block of a coarser class, while few are wanted
 *                                            remote chains of this heap
 *                                            blocks in the transfer cache
 *                                            free blocks of the heap's partial slabs
 *                                            a slab of an ended thread
 *                                            a new slab: a run in the cache, pages of a segment,
 *                                            else of the system
 *
 *   free -> magazine full -> hak_retire:  it grows, or older blocks of it go back: to the slabs of
 *                                         this heap, in chains to the threads that own them, or to
 *                                         the transfer cache
 *                                         pages of an empty slab go to the run cache, or to their
 *                                         segment, and later to the system
 *
 * Odd cases come through the same doors, because their magazine is empty and full: the first call
 * of a thread, sizes without a class, NULL, large blocks, foreign pointers, an armed or ended
 * thread. */
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

/* Takes back what malloc returned; NULL is allowed. A pointer that no allocation returned ends
 * the program. errno is kept. Any thread; `heap` is the one where its free looked. */
HAK_DOOR void hak_retire(void *block, hak_heap *heap);
