/* All heaps of the process: making, recycling, adopting slabs of those without a thread. */
#pragma once

#include "base/types.h"

/* A heap without a thread, or a new one, for the caller alone, who is on a slow path of it
 * (heap/owner.h). NULL: out of memory. */
hak_heap *hak_heap_obtain(void);

/* Its thread is gone: whoever needs a heap may obtain it, or adopt its slabs. Where none is
 * expected to for a while (`for_long`), one that has nothing gives its memory back. */
void hak_heap_leave(hak_heap *heap, bool for_long);

/* A slab of the class with room: one of the heap's own, else one taken over from a heap without a
 * thread, else a new one. NULL: out of memory. By the owner. */
hak_slab *hak_heap_slab(hak_heap *heap, unsigned cls);

/* Calls visit for each heap without a thread for which there may be something to do, as its owner:
 * nobody else has that heap meanwhile, and no lock is held. A heap that has nothing any more gives
 * its memory back. Returns the sum of what the visits return. Under the purge lock. */
size_t hak_heap_each_idle(size_t (*visit)(hak_heap *heap, void *context), void *context);

/* In a forked child: freezes the heaps of all other threads. NULL: no such heap. */
void hak_heap_after_fork_in_child(const hak_heap *own, const hak_heap *borrowed);

/* True since this process was forked. Written while it has one thread. */
extern HAK_HIDDEN bool hak_heap_is_forked;

/* When the heap that a block's owner word names is frozen, takes over the block's slab, unless
 * another thread did so just now. True: the block has another owner now. By the owner of the heap.
 */
HAK_COLD bool hak_heap_takes_over(hak_heap *heap, uintptr_t owner, const void *block);
HAK_INLINE bool hak_heap_inherits(hak_heap *heap, uintptr_t owner, const void *block) {
    return HAK_UNLIKELY(hak_heap_is_forked) && hak_heap_takes_over(heap, owner, block);
}
