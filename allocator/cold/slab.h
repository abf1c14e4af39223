/* Slabs: runs of pages cut into blocks of one class. All functions are for the slab's owner. */
#ifndef HAK_COLD_SLAB_H
#define HAK_COLD_SLAB_H

#include "base/types.h"

/* A new slab on the heap's partial list, where it comes first. NULL: out of memory. */
hak_slab *hak_slab_make(hak_heap *heap, unsigned cls);

/* Moves up to `want` free blocks of the slab into slots[0 .. n), lowest address last, so that a
 * magazine hands them out in the order of their addresses. Returns n. */
size_t hak_slab_take(hak_heap *heap, hak_slab *slab, void **slots, size_t want);

/* Takes a block back. When the slab is empty then and not the only one of its class with room, its
 * pages go back to their segment. A block that is free already or that is no block of the slab
 * ends the program. */
void hak_slab_put(hak_heap *heap, hak_slab *slab, void *block);

/* Puts a slab on / takes it off the heap's partial list of its class. */
void hak_slab_link(hak_heap *heap, hak_slab *slab);
void hak_slab_unlink(hak_heap *heap, hak_slab *slab);

/* Gives the pages of an empty slab back. It must be on the heap's partial list. */
void hak_slab_release(hak_heap *heap, hak_slab *slab);

/* True when the invariants of base/types.h hold for the slab. */
bool hak_slab_is_valid(const hak_slab *slab);

#endif
