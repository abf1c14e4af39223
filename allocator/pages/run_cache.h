/* Run caches: the runs that a thread freed last, large blocks and empty slabs, for its next blocks
 * and slabs of the same length.
 *
 *   runs:    | none | 5 pages |  1 page  | 40 pages |  1 page  |      |  ...  |
 *              0      1: oldest                         count: newest
 *
 * What a thread has just freed lies in its processor's cache; another thread would have to fetch it
 * from there line by line. And no lock and no atomic operation is needed to take a run or to put
 * one in. For their segment the pages are in use all the while, so nobody purges them. A cache
 * holds few pages. All caches together hold no more than may wait as dirty pages (pages/excess.h).
 * When one is full its older half goes, under one lock. A thread that takes many runs of one length
 * gets several under one lock, too: those that lie side by side, ahead of their time.
 *
 * A large block of another length, or a slab of several pages, sends them all back first: then what
 * lies free is one piece. A slab in new memory does so, too: no memory waits here while more is
 * taken. So does each purge epoch: a page waits for the purge no longer here than elsewhere.
 *
 * A forked child looks at the caches of threads that it does not have. What it finds there marked
 * CACHED or AHEAD is nobody's: a run gets that mark before it comes in, and loses it after it has
 * left. */
#pragma once

#include "base/types.h"

/* What an empty cache finds: a run of no pages, which nobody asks for. */
extern HAK_HIDDEN const hak_slab hak_run_cache_none;

/* The newest, if it has exactly so many pages, 1 or more; else NULL. The caller gives it another
 * kind. By the owner. */
HAK_INLINE hak_slab *hak_run_cache_take(hak_heap *heap, size_t pages) {
    uint32_t count = heap->cache.count;
    hak_slab *run = heap->cache.runs[count];
    if (HAK_UNLIKELY(run->pages != pages))
        return NULL;
    heap->cache.count = count - 1;
    heap->cache.room += (uint32_t)pages;
    atomic_signal_fence(memory_order_seq_cst);
    return run;
}

/* The newest of all that have so many pages; else NULL. By the owner. */
hak_slab *hak_run_cache_find(hak_heap *heap, size_t pages);

/* The same; they go back to their segments when none has. By the owner. */
hak_slab *hak_run_cache_find_or_empty(hak_heap *heap, size_t pages);

/* There is room for its `pages` pages, and it is marked. By the owner. */
HAK_INLINE void hak_run_cache_add(hak_heap *heap, hak_slab *run, uint32_t pages) {
    uint32_t count = heap->cache.count + 1;
    atomic_signal_fence(memory_order_seq_cst);
    heap->cache.room -= pages;
    heap->cache.runs[count] = run;
    atomic_signal_fence(memory_order_seq_cst);
    heap->cache.count = count;
}

/* False: there is no room for it. By the owner. */
HAK_INLINE bool hak_run_cache_put(hak_heap *heap, hak_slab *run) {
    uint32_t pages = run->pages;
    if (pages > heap->cache.room)
        return false;
    run->kind = HAK_RUN_CACHED;
    hak_run_cache_add(heap, run, pages);
    return true;
}

/* Whether a run of the cache reads as zero: nobody has used it, and its pages had no memory. */
HAK_INLINE bool hak_run_cache_is_zero(const hak_slab *run) {
    return run->kind == HAK_RUN_AHEAD && run->touched == 0;
}

/* Takes a run of `pages` pages from home. When two misses in a row were of this length, the thread
 * wants many: as many more as half of the cache may hold come with it, if they lie side by side.
 * By the owner. */
hak_slab *hak_run_cache_fill(hak_heap *heap, unsigned home, size_t pages, bool *zeroed);

/* Makes room first; the oldest go back. False: it is too long, or too much waits already. By the
 * owner. */
bool hak_run_cache_push(hak_heap *heap, hak_slab *run);

/* Gives all of them back to their segments; when they are `aged`, they waited there since before
 * the purge epoch began. False: there was none. By the owner. */
bool hak_run_cache_empty(hak_heap *heap, bool aged);

/* Gives back what a heap has cached whose thread is not there: in a forked child, or because it
 * ended amid an operation. */
void hak_run_cache_inherit(hak_heap *heap);
