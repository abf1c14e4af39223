#include "large/large.h"

#include "base/bits.h"
#include "heap/owner.h"
#include "large/block.h"
#include "magazine/arm.h"
#include "os/os.h"
#include "pages/apart.h"
#include "pages/dense.h"
#include "pages/epoch.h"
#include "pages/range.h"
#include "pages/run_cache.h"
#include "policy/policy.h"
#include "reclaim/purge.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"
#include "stats/stats.h"
#include "thread/thread.h"

#include <string.h>

/* For larger ones guard builds first ask whether there is room. */
enum { APART_IN_GUARD = 1 << 30 };

/* A thread that comes often finds the clock where it was. Then twice as many blocks pass before it
 * looks again, as far as the counter goes. A thread that comes rarely finds a new time, and looks
 * at each block. Where nothing is ever purged, the clock does not matter. */
void hak_large_look(hak_heap *heap) {
    uint64_t seen = hak_seen_at_ms(heap);
    if (HAK_UNLIKELY(hak_sampling_ever()))
        hak_sampling_adopt(heap);
    hak_purge_tick(heap, HAK_CLASS_NONE);
    bool idle = !hak_policy_purges();
    bool same = idle || (hak_seen_at_ms(heap) == seen && hak_purge_is_pending());
    heap->look_every = (uint8_t)(same ? heap->look_every << 1 | 1 : 0);
    heap->looks_left = heap->look_every;
    hak_owner_leaves(heap);
}

/* A huge block gets fresh memory of the system, which is zero: little of the block may be used, and
 * what is never touched costs nothing. A shorter one is mostly used as a whole, and then zeroing is
 * cheaper than the faults. */
static void make_zero(hak_slab *run, size_t size) {
    if (!hak_large_is_huge(run->pages) || !hak_os_purge((void *)run->start, hak_large_bytes(run)))
        memset((void *)run->start, 0, size);
}

/* Guard builds keep such blocks in ranges, with tables for all their pages. So they first ask the
 * system whether it has that much, before they make tables for nothing. */
static bool is_beyond(size_t size, size_t align) {
    if (!HAK_GUARD || (size | align) < APART_IN_GUARD)
        return false;
    void *all = hak_os_map(hak_round_up(size + align, hak_os_page_size()), 1);
    if (all != NULL)
        hak_os_unmap(all, hak_round_up(size + align, hak_os_page_size()));
    return all == NULL;
}

/* Returns a run of the cache with the contents of its last block. NULL: none fits, and the cache
 * has given all of them back. No run fits 0 pages. */
static hak_slab *take_cached(size_t pages) {
    hak_heap *heap = hak_thread_enter();
    hak_slab *run = heap != NULL ? hak_run_cache_find_or_empty(heap, pages) : NULL;
    hak_thread_leave(heap);
    return run;
}

static hak_slab *take(size_t size, size_t align, bool *zeroed) {
    size_t pages = hak_pages_for(size);
    size_t align_pages = align > HAK_PAGE_SIZE ? align >> HAK_PAGE_SHIFT : 1;
    hak_slab *run = take_cached(align_pages == 1 ? pages : 0);
    if (run != NULL) {
        *zeroed = hak_run_cache_is_zero(run);
        return run;
    }
    return is_beyond(size, align) ? hak_refuse(size) : hak_large_take(pages, align_pages, zeroed);
}

static void *allocate(size_t size, size_t align, bool zero) {
    if (size > PTRDIFF_MAX)
        return hak_refuse(size);
    if (hak_apart_wants(size, align))
        return hak_large_take_apart(size, align);
    bool zeroed = false;
    hak_slab *run = take(size, align, &zeroed);
    if (run == NULL)
        return NULL;
    hak_large_begin(run, size);
    if (zero && !zeroed)
        make_zero(run, size);
    hak_heap_look();
    return (void *)run->start;
}

/* ---- samples of a heap profile ---- */

void hak_large_note_sample(void *block, size_t size) {
    hak_slab *run = hak_run_of(block);
    if (run != NULL)
        run->kind = HAK_RUN_SAMPLED;
    hak_sites_begin(block, size);
}

bool hak_large_sample_is_due(size_t bytes) {
    hak_heap *heap = hak_thread_enter();
    bool due = heap != NULL && hak_sampling_adopt(heap) && hak_sampling_is_due(heap, bytes);
    hak_thread_leave(heap);
    return due;
}

static HAK_COLD void *allocate_counted(size_t size, size_t align, bool zero) {
    bool due = hak_large_sample_is_due(size);
    void *block = allocate(size, align, zero);
    if (due && block != NULL)
        hak_large_note_sample(block, size);
    return block;
}

/* Purges what other blocks left in the run behind this one, unless it is in huge pages. */
static void purge_behind(const hak_slab *run) {
    size_t used = hak_large_usable(run), left = hak_large_bytes(run) - used;
    if (left != 0 && hak_policy_may_purge_now() && !hak_dense_holds(run))
        hak_os_purge((void *)(run->start + used), left);
}

/* A small block that is a sample has a run of its own, most of which it does not need. */
void *hak_large_sample(size_t size) {
    bool zeroed = false;
    hak_slab *run = take(size, 1, &zeroed);
    if (run == NULL)
        return NULL;
    void *block = hak_large_begin(run, size);
    if (!zeroed)
        purge_behind(run);
    hak_heap_look();
    hak_large_note_sample(block, size);
    return block;
}

void *hak_large_allocate(size_t size, size_t align, bool zero) {
    if (HAK_UNLIKELY(hak_sampling_ever()))
        return allocate_counted(size, align, zero);
    return allocate(size, align, zero);
}

/* Asks the cache for any length: it never holds a huge run. The pages are counted without
 * hak_pages_for, which overflows to 0 for the largest sizes, and an empty cache finds a run of 0
 * pages. All calls are tail calls, so the compiler saves no registers. */
void *hak_large_malloc(size_t size) {
    hak_heap *heap = hak_this_thread.owned;
    if (HAK_LIKELY(heap != NULL) && HAK_LIKELY(hak_owner_tries(heap))) {
        hak_slab *run = hak_run_cache_take(heap, ((size - 1) >> HAK_PAGE_SHIFT) + 1);
        hak_owner_leaves(heap);
        if (HAK_LIKELY(run != NULL))
            return hak_large_begin(run, size);
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return hak_large_allocate(size, 1, false);
}

size_t hak_large_size(const void *block, const char *function) {
    const hak_slab *run = hak_large_find(block, function);
    return run != NULL ? hak_large_usable(run) : hak_large_size_apart(block, function);
}

/* A block apart has no run that could be marked as a sample, so the table of sites is asked. */
void hak_large_free(hak_heap *heap, void *block) {
    hak_slab *run = hak_large_find(block, "free");
    if (HAK_UNLIKELY(hak_sampling_ever()) && (run == NULL || run->kind == HAK_RUN_SAMPLED))
        hak_sites_end(block);
    if (run != NULL) {
        hak_large_give(heap, run, false);
        hak_large_tick(heap);
    } else {
        hak_large_give_apart(block, "free");
    }
}
