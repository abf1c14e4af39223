/* The door behind free, as refill.h is the one behind malloc.
 *
 *   free -> magazine full -> hak_retire:  it grows, or older blocks of it go back: to the slabs of
 *                                         this heap, in chains to the threads that own them, or to
 *                                         the transfer cache
 *                                         pages of an empty slab go to the run cache, or to their
 *                                         segment, and later to the system
 *
 * docs/block-paths.md has each step with its file.
 *
 * Odd cases (NULL, large blocks, foreign pointers, an armed or ended thread) come through the same
 * door, because their magazine is full. */
#pragma once

#include "base/types.h"

/* Takes back what malloc returned; NULL is allowed. A pointer that no allocation returned ends
 * the program. errno is kept. Any thread; `heap` is the one where its free looked. */
HAK_DOOR void hak_retire(void *block, hak_heap *heap);
