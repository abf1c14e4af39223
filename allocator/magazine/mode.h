/* How a thread uses a class just now: what its bin has seen since the magazine ran empty last. The
 * transitions are a table (mode.c); docs/block-paths.md has them as a picture.
 *   CALM       nothing of what follows
 *   SPILLED    the magazine was full, and blocks went back to slabs
 *   SERVED     then a malloc came by
 *   SHEDDING   then it was full again, and two slabs of blocks had gone back before
 * A magazine that runs empty after it spilled becomes deeper, since the blocks that went back are
 * wanted again. Blocks that go back to other threads say nothing of this thread's use: CALM again.
 *
 * SHEDDING is for classes that become smaller while they are in use. A magazine hands out what was
 * freed last, wherever that lies. Where a program frees two blocks of a class for each that it
 * allocates, because the sizes it uses change, every slab loses half of its blocks and none becomes
 * empty: the class keeps all the memory that it ever had. So malloc fills the slab that has had
 * room for longest, up to its last block. What is freed goes back to all the others, which run
 * empty:
 *
 *   malloc <- | oldest slab |     free -> | magazine | -> all of it, once it is full -> slabs
 *
 * Free is as fast as ever; malloc comes to the slow path each time. All functions are for the
 * heap's owner. */
#pragma once

#include "base/types.h"

enum hak_event {
    HAK_MALLOC_CAME, /* to the slow path */
    HAK_GAVE_BACK,   /* the magazine was full, and blocks went to slabs, most of its own heap */
    HAK_BEGAN_ANEW,  /* any of these: the magazine ran empty; a new thread takes the heap; most of
                      * what went belongs to other heaps; as much of a class that sheds is allocated
                      * as is freed */
    HAK_EVENTS
};

HAK_INLINE bool hak_mode_sheds(const hak_heap *heap, unsigned cls) {
    return heap->bins[cls].mode == HAK_SHEDDING;
}

/* True when blocks of this heap went to their slabs since the magazine ran empty last. */
HAK_INLINE bool hak_mode_has_spilled(const hak_heap *heap, unsigned cls) {
    return heap->bins[cls].mode == HAK_SPILLED || heap->bins[cls].mode == HAK_SERVED;
}

void hak_mode_note(hak_heap *heap, unsigned cls, enum hak_event event);

/* Notes that so many blocks went back to their slabs. True: with that the class begins to shed. */
bool hak_mode_gave_back(hak_heap *heap, unsigned cls, size_t blocks);

/* Notes that malloc came by. True: the class sheds, and the block is to come from its oldest slab.
 */
bool hak_mode_note_malloc(hak_heap *heap, unsigned cls);
