/* All heaps of the process: making, recycling, adopting slabs of those without a thread. */
#ifndef HAK_COLD_HEAP_H
#define HAK_COLD_HEAP_H

#include "base/types.h"

/* A heap without a thread, or a new one, for the caller alone, who is on a slow path of it
 * (cold/owner.h). NULL: out of memory. */
hak_heap *hak_heap_obtain(void);

/* Its thread is gone: whoever needs a heap may obtain it, or adopt its slabs. */
void hak_heap_leave(hak_heap *heap);

/* A slab of the class with room: one of the heap's own, else one taken over from a heap without a
 * thread, else a new one. NULL: out of memory. By the owner. */
hak_slab *hak_heap_slab(hak_heap *heap, unsigned cls);

/* Calls visit for each heap without a thread for which there may be something to do, as its owner:
 * nobody else has that heap meanwhile, and no lock is held. A heap that has nothing any more gives
 * its memory back. Returns the sum of what the visits return. Under the purge lock. */
size_t hak_heap_each_idle(size_t (*visit)(hak_heap *heap, void *context), void *context);

/* Calls visit for each heap; most of them are in use meanwhile. */
void hak_heap_each(void (*visit)(hak_heap *heap, void *context), void *context);

/* No heap is made or changes hands between these. */
void hak_heap_before_fork(void);
void hak_heap_after_fork_in_parent(void);
/* The heaps of the other threads may have been copied in the middle of an operation: they are never
 * touched again. Their blocks can still be used and freed. NULL: no such heap. */
void hak_heap_after_fork_in_child(const hak_heap *own, const hak_heap *borrowed);

#endif
