/* Giving back what lies free inside slabs. Free blocks hold nothing of ours. So system pages that
 * consist of free blocks alone can go, even where a slab is still in use. A heap shrinks even when
 * nine tenths of its blocks were freed at random. */
#pragma once

#include "base/types.h"

/* What is left of a heap's trim: nothing; what may go in a later epoch; or it has to go on. */
enum hak_trimmed { HAK_TRIM_NOTHING, HAK_TRIM_LATER, HAK_TRIM_GOES_ON };

/* The epoch of the trim that runs, or ran last. Any thread. */
HAK_INLINE uint32_t hak_trim_epoch(const hak_heap *heap) {
    return atomic_load_explicit(&heap->trim.epoch, memory_order_relaxed);
}

/* Once per purge epoch, by the owner: takes back what others freed, purges free pages in slabs that
 * were quiet for a whole epoch, and empties the magazines. A heap may have any number of slabs, so
 * it goes in steps: `budget` is about how many slabs it may look at, 0.1 microseconds each. What it
 * gives away counts for more. It counts the budget down. */
enum hak_trimmed hak_heap_trim(hak_heap *heap, uint32_t epoch, size_t *budget);

/* A block put back counts for 1/16 of a slab looked at. A carrier of blocks from another thread, a
 * slab that goes, or pages that go to the system, count for 16. */
enum { HAK_TRIM_SHARE = 16 };

/* The same for a heap without a thread; says in its seat whether it is settled then. */
enum hak_trimmed hak_heap_trim_idle(hak_heap *heap, uint32_t epoch, size_t *budget);

/* The same at once and for all slabs of the heap. Returns the bytes given back. */
size_t hak_heap_trim_now(hak_heap *heap);

/* The same for a heap that is robbed (reclaim/reclaim.h), without its magazines. */
size_t hak_heap_trim_robbed(hak_heap *heap);

/* Gives every empty slab back, and what waits in the run cache. By the owner. */
void hak_heap_release_empty(hak_heap *heap);

/* The same, after all magazines of the heap were emptied into their slabs. By the owner. */
void hak_heap_flush(hak_heap *heap);
