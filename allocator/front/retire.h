/* The door behind free, as refill.h is the one behind malloc.
 *
 *   free -> magazine full -> hak_retire:  it grows, or half of it goes back: to the slabs of this
 *                                         heap, or in chains to the threads that own them
 *                                         pages of an empty slab go back to their segment, and
 *                                         later to the system
 *
 * Odd cases (NULL, large blocks, foreign pointers, an armed or ended thread) come through the same
 * door, because their magazine is full. */
#pragma once

#include "base/types.h"

/* Takes back what malloc returned; NULL is allowed. A pointer that no allocation returned ends
 * the program. errno is kept. Any thread. */
HAK_DOOR void hak_retire(void *block);
