/* The route POOL: no thread keeps free blocks of the class; each comes from a slab's bitmap and
 * goes back into it at once, or to the heap that owns it. Dense, and slower than MID. All by the
 * heap's owner. */
#ifndef HAK_COLD_POOL_H
#define HAK_COLD_POOL_H

#include "base/types.h"

/* A block. NULL: out of memory. */
void *hak_pool_take(hak_heap *heap, unsigned cls);

/* Takes a block back. */
void hak_pool_give(hak_heap *heap, unsigned cls, void *block);

#endif
