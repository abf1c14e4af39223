#include "pages/run_cache.h"

#include "pages/epoch.h"
#include "pages/excess.h"
#include "pages/run.h"
#include "pages/segment.h"

const hak_slab hak_run_cache_none = {.pages = 0};

/* A heap without a thread will not want its runs soon. */
static bool keeps_runs(const hak_heap *heap) {
    return !HAK_GUARD && !heap->sampled.samples &&
           atomic_load_explicit(&heap->seat->state, memory_order_relaxed) == HAK_HEAP_ACTIVE;
}

/* Moves the runs above down. Meanwhile a forked child may find one of them in two places. */
static void close_gap(hak_heap *heap, uint32_t at, uint32_t count, uint32_t pages) {
    for (; at + count <= heap->cache.count; at++)
        heap->cache.runs[at] = heap->cache.runs[at + count];
    atomic_signal_fence(memory_order_seq_cst);
    heap->cache.count -= count;
    heap->cache.room += pages;
    atomic_signal_fence(memory_order_seq_cst);
}

static hak_slab *take_run_out(hak_heap *heap, uint32_t at) {
    hak_slab *run = heap->cache.runs[at];
    close_gap(heap, at, 1, run->pages);
    return run;
}

/* All under one lock: no other thread has one of them before this heap has forgotten it. */
static void give_oldest(hak_heap *heap, uint32_t count, bool aged) {
    uint32_t pages = 0;
    hak_lock_take(&hak_segment_lock);
    for (uint32_t i = 1; i <= count; i++) {
        hak_slab *run = heap->cache.runs[i];
        pages += run->pages;
        hak_run_give_locked(run, hak_run_cache_is_zero(run), aged);
    }
    close_gap(heap, 1, count, pages);
    hak_lock_give(&hak_segment_lock);
}

static void give_all(hak_heap *heap, bool aged) {
    if (heap->cache.count != 0)
        give_oldest(heap, heap->cache.count, aged);
}

hak_slab *hak_run_cache_find(hak_heap *heap, size_t pages) {
    for (uint32_t at = heap->cache.count; at > 0; at--)
        if (heap->cache.runs[at]->pages == pages)
            return take_run_out(heap, at);
    return NULL;
}

hak_slab *hak_run_cache_find_or_empty(hak_heap *heap, size_t pages) {
    hak_slab *run = hak_run_cache_find(heap, pages);
    if (run == NULL && heap->cache.count != 0) {
        give_all(heap, false);
        hak_purge_expect();
    }
    return run;
}

/* ---- taking ahead ---- */

/* Notes a miss, and returns how many runs to take for it. */
static size_t note_miss(hak_heap *heap, size_t pages) {
    bool again = heap->cache.missed == pages && keeps_runs(heap);
    heap->cache.missed = (uint32_t)pages;
    return 1 + (again ? heap->cache.room / 2 / pages : 0);
}

hak_slab *hak_run_cache_fill(hak_heap *heap, unsigned home, size_t pages, bool *zeroed) {
    size_t count = note_miss(heap, pages);
    hak_slab *first = hak_run_take_row(home, pages, 1, &count, zeroed);
    if (first != NULL)
        while (--count > 0)
            hak_run_cache_add(heap, first + count * pages, (uint32_t)pages);
    return first;
}

/* ---- putting in ---- */

/* What a cache may hold grows with what it does hold, until it is emptied. */
static bool borrow(hak_heap *heap, size_t pages) {
    if (!hak_excess_borrow(pages))
        return false;
    heap->cache.most += (uint32_t)pages;
    heap->cache.room += (uint32_t)pages;
    hak_purge_expect();
    return true;
}

/* The older half goes, so a thread that frees many runs in a row seldom takes the lock. */
static void make_room(hak_heap *heap, uint32_t wanted) {
    uint32_t all = heap->cache.most - heap->cache.room, left = all, count = 0;
    if (all + wanted <= HAK_CACHED_PAGES)
        return;
    while (left > all / 2 || left + wanted > HAK_CACHED_PAGES)
        left -= heap->cache.runs[++count]->pages;
    give_oldest(heap, count, false);
    hak_purge_expect();
}

bool hak_run_cache_push(hak_heap *heap, hak_slab *run) {
    if (run->pages > HAK_CACHED_PAGES || !keeps_runs(heap))
        return false;
    make_room(heap, run->pages);
    return (run->pages <= heap->cache.room || borrow(heap, run->pages - heap->cache.room)) &&
           hak_run_cache_put(heap, run);
}

bool hak_run_cache_empty(hak_heap *heap, bool aged) {
    bool any = heap->cache.count != 0;
    give_all(heap, aged);
    hak_excess_give_back(heap->cache.most);
    heap->cache.most = heap->cache.room = 0;
    return any;
}

/* Under one lock: a run that stands in two places must not come to another cache in between. */
void hak_run_cache_inherit(hak_heap *heap) {
    hak_lock_take(&hak_segment_lock);
    for (size_t i = 1; i <= heap->cache.count; i++)
        if (hak_kind_is_cached(heap->cache.runs[i]->kind))
            hak_run_give_locked(heap->cache.runs[i], false, false);
    hak_lock_give(&hak_segment_lock);
    hak_excess_give_back(heap->cache.most);
    heap->cache.count = heap->cache.most = heap->cache.room = 0;
}
