/* The door behind free. */
#include "front/doors.h"

#include "base/probe.h"
#include "bin/bin.h"
#include "bin/give.h"
#include "front/sample.h"
#include "heap/owner.h"
#include "large/large.h"
#include "magazine/arm.h"
#include "pages/epoch.h"
#include "pages/mark.h"
#include "pages/range.h"
#include "pages/run_cache.h"
#include "reclaim/purge.h"
#include "remote/chain.h"
#include "sampling/sites.h"
#include "thread/thread.h"

/* A thread that has no heap any more hands each block straight to its owner. */
static HAK_COLD void retire_without_heap(unsigned cls, void *block) {
    hak_chains chain;
    hak_chains_begin(&chain);
    if (cls == HAK_CLASS_NONE) {
        hak_large_free(NULL, block);
        return;
    }
    if (HAK_HARDENED)
        hak_mark_back_anywhere(block);
    uintptr_t owner = hak_owner_of(block);
    if (HAK_UNLIKELY(hak_class_of_owner(owner) != cls))
        hak_slab_refuse(hak_run_of(block), block);
    if (hak_sample_may_be(cls))
        hak_sites_end(block);
    hak_chains_add_run(&chain, owner, &block, 1);
    hak_chains_send(&chain);
}

/* Two threads that each keep a block of one cache line slow each other down. So such a block goes
 * to its owner, as this thread is on a slow path anyway. */
static inline bool push_armed(hak_heap *heap, unsigned cls, void *block) {
    if (!hak_armed_push(heap, cls, block))
        return false;
    if (hak_classes[cls].size <= HAK_CACHE_LINE &&
        hak_owner_of(block) != hak_owner_word(heap, cls)) {
        heap->bins[cls].held_top--;
        hak_give_back(heap, cls, &block, 1);
    }
    return true;
}

/* To its slab at once: a magazine would hand it out to others. */
static HAK_COLD void retire_sample(hak_heap *heap, unsigned cls, void *block) {
    hak_sites_end(block);
    hak_give_back(heap, cls, &block, 1);
    hak_purge_tick(heap, cls);
}

static inline void retire(hak_heap *heap, unsigned cls, void *block) {
    if (HAK_HARDENED)
        hak_mark_back_anywhere(block);
    if (hak_sample_may_be(cls)) {
        retire_sample(heap, cls, block);
        return;
    }
    if (push_armed(heap, cls, block))
        return;
    HAK_TALLY(heap, cls, retire);
    HAK_PROBE_OF_CLASS(retire, cls, block);
    hak_disarm(heap, cls);
    hak_bin_give(heap, cls, block);
    hak_purge_tick(heap, cls);
    if (!hak_is_armed(heap, cls) && hak_purge_is_pending())
        hak_arm_malloc(heap, cls);
}

/* NULL: no large block begins here, or it lies in another range. The class is asked first, so that
 * nobody reads the entries of another thread's slabs. */
HAK_INLINE hak_slab *large_run(const hak_range *r, const void *block) {
    size_t page = hak_page_index(r, block);
    if (page >= HAK_READ_GROWING(r->limit) || r->classes[page] != HAK_CLASS_NONE)
        return NULL;
    hak_slab *run = &r->slabs[page];
    return run->kind == HAK_RUN_LARGE && run->start == (uintptr_t)block ? run : NULL;
}

/* Looks at the thread's home, then in the first range: that is the home of the thread that asked
 * first, and in servers that thread makes blocks which others free into their caches. */
HAK_INLINE hak_slab *large_run_of(const hak_heap *heap, const void *block) {
    hak_slab *run = large_run(heap->large_range, block);
    return run != NULL ? run : large_run(&hak_ranges[0], block);
}

/* If large blocks are rare, each free looks at the clock; otherwise one of many does. malloc need
 * not look: what it takes out of a cache, a free has put in. */
HAK_INLINE void leave(hak_heap *heap) {
    if (HAK_LIKELY(heap->looks_left-- != 0))
        hak_owner_leaves(heap);
    else
        hak_large_look(heap);
}

static inline void retire_by_owner(hak_heap *heap, unsigned cls, void *block) {
    if (!hak_owner_enters(heap)) {
        retire_without_heap(cls, block);
        return;
    }
    if (cls == HAK_CLASS_NONE)
        hak_large_free(heap, block);
    else
        retire(heap, cls, block);
    hak_owner_leaves(heap);
}

static HAK_DOOR void retire_elsewhere(void *block) {
    if (block == NULL)
        return;
    unsigned cls = hak_class_of(block);
    hak_heap *heap = hak_heap_self();
    if (HAK_LIKELY(heap != NULL))
        retire_by_owner(heap, cls, block);
    else
        retire_without_heap(cls, block);
}

/* The usual way of a large block is into the cache of the thread. Nothing is called but at the
 * end: so nothing has to be saved. hak_no_heap has no range. */
void hak_retire(void *block, hak_heap *heap) {
    if (HAK_LIKELY(heap->large_range != NULL)) {
        hak_slab *run = large_run_of(heap, block);
        if (run != NULL && hak_owner_tries(heap)) {
            if (HAK_LIKELY(hak_run_cache_put(heap, run))) {
                leave(heap);
                return;
            }
            hak_owner_leaves(heap);
        }
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    retire_elsewhere(block);
}
