#include "pages/run_cache.h"

#include "pages/epoch.h"
#include "pages/excess.h"
#include "pages/run.h"

/* Those above it move down by one place: meanwhile one of them may be seen in two. */
static hak_slab *take_run_out(hak_heap *heap, size_t at) {
    hak_slab *run = heap->cache.runs[at];
    for (; at + 1 < heap->cache.count; at++)
        heap->cache.runs[at] = heap->cache.runs[at + 1];
    hak_run_cache_pop(heap, run->pages);
    return run;
}

static void give_all(hak_heap *heap, bool aged) {
    while (heap->cache.count != 0) {
        hak_slab *newest = take_run_out(heap, heap->cache.count - 1);
        if (aged)
            hak_run_give_aged(newest);
        else
            hak_run_give(newest, false);
    }
}

hak_slab *hak_run_cache_find(hak_heap *heap, size_t pages) {
    for (size_t at = heap->cache.count; at > 0; at--)
        if (heap->cache.runs[at - 1]->pages == pages)
            return take_run_out(heap, at - 1);
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

/* What a cache may hold grows with what it does hold, until it is emptied. */
static bool borrow(hak_heap *heap, size_t pages) {
    if (!hak_excess_borrow(pages))
        return false;
    heap->cache.most += (uint32_t)pages;
    heap->cache.room += (uint32_t)pages;
    hak_purge_expect();
    return true;
}

static size_t pages_in(const hak_heap *heap) {
    return heap->cache.most - heap->cache.room;
}

/* A heap without a thread will not want its runs soon. */
static bool keeps_runs(const hak_heap *heap) {
    return !HAK_GUARD && !heap->sampled.samples &&
           atomic_load_explicit(&heap->seat->state, memory_order_relaxed) == HAK_HEAP_ACTIVE;
}

bool hak_run_cache_push(hak_heap *heap, hak_slab *run) {
    if (run->pages > HAK_CACHED_PAGES || !keeps_runs(heap))
        return false;
    while (pages_in(heap) + run->pages > HAK_CACHED_PAGES) {
        hak_run_give(take_run_out(heap, 0), false);
        hak_purge_expect();
    }
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

void hak_run_cache_inherit(hak_heap *heap) {
    for (size_t i = 0; i < heap->cache.count; i++)
        if (heap->cache.runs[i]->kind == HAK_RUN_CACHED)
            hak_run_give(heap->cache.runs[i], false);
    hak_excess_give_back(heap->cache.most);
    heap->cache.count = heap->cache.most = heap->cache.room = 0;
}
