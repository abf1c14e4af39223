/* What the files of this folder share: a large block and its run, and the heap at work on it. */
#pragma once

#include "base/bits.h"
#include "heap/owner.h"
#include "os/os.h"
#include "pages/excess.h"
#include "reclaim/purge.h"
#include "thread/thread.h"

HAK_INLINE size_t hak_large_pages(size_t size) {
    return (size + HAK_PAGE_SIZE - 1) >> HAK_PAGE_SHIFT;
}

HAK_INLINE size_t hak_large_bytes(const hak_slab *run) {
    return (size_t)run->pages << HAK_PAGE_SHIFT;
}

/* A large block may be used up to the end of the system page that its last byte lies in; the rest
 * of its run is address space, for growing in place. */
HAK_INLINE size_t hak_large_usable(const hak_slab *run) {
    return hak_round_up(run->large_size, hak_os_page_size());
}

/* Makes the run a large block. */
HAK_INLINE void *hak_large_begin(hak_slab *run, size_t size) {
    run->kind = HAK_RUN_LARGE;
    run->large_size = size;
    return (void *)run->start;
}

HAK_INLINE bool hak_large_is_huge(size_t pages) {
    return pages >= HAK_HUGE_PAGES;
}

/* Returns the heap of this thread, marked as busy; NULL if it has none. */
HAK_INLINE hak_heap *hak_large_enter(void) {
    hak_heap *heap = hak_heap_self();
    return HAK_LIKELY(heap != NULL) && hak_owner_enters(heap) ? heap : NULL;
}

HAK_INLINE void hak_large_leave(hak_heap *heap) {
    if (HAK_LIKELY(heap != NULL))
        hak_owner_leaves(heap);
}

HAK_INLINE void hak_large_tick(hak_heap *heap) {
    if (heap != NULL)
        hak_purge_tick(heap, HAK_CLASS_NONE);
}

HAK_INLINE void hak_large_tick_by_owner(void) {
    hak_heap *heap = hak_large_enter();
    hak_large_tick(heap);
    hak_large_leave(heap);
}
