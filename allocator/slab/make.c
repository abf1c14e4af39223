#include "base/bits.h"
#include "base/classes.h"
#include "pages/dense.h"
#include "pages/epoch.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/run_cache.h"
#include "pages/tables.h"
#include "slab/guard_page.h"
#include "slab/slab.h"

/* The class of a slab's pages is written while nobody else knows a block of it, and never changes
 * until the slab is empty; the owner may change in between. Stored byte by byte: a program that
 * does little else would map a part of libc for memset alone. */
static void name_class(const hak_slab *slab, unsigned cls) {
    hak_range *r = hak_range_of((void *)slab->start);
    size_t first = (size_t)(slab - r->slabs);
    for (size_t page = first; page < first + slab->pages; page++)
        __atomic_store_n(&r->classes[page], (uint8_t)cls, __ATOMIC_RELAXED);
}

static void name_owner(const hak_slab *slab, uintptr_t owner) {
    hak_range *r = hak_range_of((void *)slab->start);
    size_t first = (size_t)(slab - r->slabs);
    for (size_t page = first; page < first + slab->pages; page++)
        atomic_store_explicit(&r->owners[page], owner, memory_order_relaxed);
}

void hak_slab_own(const hak_heap *heap, const hak_slab *slab) {
    name_owner(slab, hak_owner_word(heap, slab->cls));
}

/* For several pages the cache is emptied if no run fits: together its runs may make one that does.
 * A run of another range than the first one goes back: there free would find the class of a block
 * on a slow path alone. */
static hak_slab *take_cached(hak_heap *heap, size_t pages) {
    hak_slab *run =
        pages == 1 ? hak_run_cache_find(heap, pages) : hak_run_cache_find_or_empty(heap, pages);
    if (run == NULL || hak_range_of((void *)run->start) == &hak_ranges[0])
        return run;
    hak_run_give(run, false, false);
    return NULL;
}

/* One that the thread has just released comes first: its lines are in this processor's cache. */
static hak_slab *take_run(hak_heap *heap, size_t pages, bool *zeroed) {
    *zeroed = false;
    hak_slab *run = take_cached(heap, pages);
    if (run != NULL)
        return run;
    heap->took = true;
    return hak_run_take(HAK_HOME_OF_SLABS, pages, 1, zeroed);
}

static void lay_out(hak_slab *slab, unsigned cls) {
    slab->kind = HAK_RUN_SLAB;
    slab->cls = (uint8_t)cls;
    slab->used = slab->carved = 0;
    slab->summary = 0;
    for (uint32_t i = 1; i < slab->pages; i++)
        slab[i].tail = (uint16_t)i;
    name_class(slab, cls);
}

hak_slab *hak_slab_make(hak_heap *heap, unsigned cls) {
    bool zeroed;
    size_t behind = HAK_HARDENED ? hak_guard_pages(cls) : 0;
    hak_slab *slab = take_run(heap, hak_classes[cls].pages + behind, &zeroed);
    if (slab == NULL)
        return NULL;
    lay_out(slab, cls);
    slab->dirty_tail = !zeroed || hak_dense_holds(slab);
    if (HAK_HARDENED && behind != 0)
        hak_guard_page_close(slab, zeroed);
    hak_slab_own(heap, slab);
    hak_tables_expect_slab(slab);
    hak_slab_link(heap, slab);
    if (zeroed) {
        heap->grew = true;
        hak_run_cache_empty(heap, false); /* its runs may make the next slab */
        hak_purge_for_growth();
    }
    return slab;
}

static void clear_bitmap(hak_slab *slab) {
    for (; slab->summary != 0; slab->summary &= slab->summary - 1)
        slab->bitmap[hak_lowest_bit(slab->summary)] = 0;
}

/* It is a run like any other from now on: all of its pages have memory, for all that is known. */
static void end_slab(hak_slab *slab) {
    clear_bitmap(slab);
    name_class(slab, HAK_CLASS_NONE);
    name_owner(slab, 0);
    slab->cls = HAK_CLASS_NONE;
    slab->touched = slab->pages;
    slab->before = 0;
    for (uint32_t i = 1; i < slab->pages; i++)
        slab[i].tail = 0;
}

/* A slab whose guard page the system does not open stays, empty. */
void hak_slab_release(hak_heap *heap, hak_slab *slab) {
    if (HAK_HARDENED && !hak_guard_page_open(slab))
        return;
    hak_slab_unlink(heap, slab);
    end_slab(slab);
    bool has_waited = hak_slab_has_waited(heap, slab);
    if (has_waited || !hak_run_cache_push(heap, slab))
        hak_run_give(slab, false, has_waited);
    hak_purge_expect();
}

void hak_slab_release_empty(hak_heap *heap, unsigned cls) {
    for (hak_slab *slab = heap->bins[cls].partial, *next; slab != NULL; slab = next) {
        next = slab->next;
        if (slab->used == 0)
            hak_slab_release(heap, slab);
    }
}
