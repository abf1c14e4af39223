#include "cold/trim.h"

#include "base/bits.h"
#include "base/classes.h"
#include "cold/magazine.h"
#include "cold/remote.h"
#include "cold/route.h"
#include "cold/slab.h"
#include "os/os.h"
#include "pages/dense.h"
#include "policy/policy.h"
#include "stats/stats.h"

/* ---- free pages in slabs ---- */

/* First block at or after `from` that is free (flip = 0) or not free (flip = ~0). */
static unsigned next_block(const hak_slab *slab, unsigned from, uint64_t flip) {
    for (unsigned word = from / 64; word < HAK_BITMAP_WORDS; word++) {
        uint64_t ones = slab->bitmap[word] ^ flip;
        if (word == from / 64)
            ones &= ~(uint64_t)0 << (from % 64);
        if (ones != 0)
            return word * 64 + hak_lowest_bit(ones);
    }
    return HAK_SLAB_MAX_BLOCKS;
}

/* Purges the whole system pages among blocks first .. end. */
static size_t purge_blocks(const hak_slab *slab, unsigned first, unsigned end) {
    size_t size = hak_classes[slab->cls].size, unit = hak_os_page_size();
    uintptr_t from = hak_round_up(slab->start + first * size, unit);
    uintptr_t to = hak_round_down(slab->start + end * size, unit);
    if (from >= to)
        return 0;
    bool lazily = hak_policy_now()->purge_lazily != 0;
    hak_dense_leave_slab(slab);
    HAK_COUNT(purge_calls, 1);
    void *start = (void *)from;
    bool given = lazily ? hak_os_offer(start, to - from) : hak_os_purge(start, to - from);
    return given ? to - from : 0;
}

static size_t purge_free_blocks(hak_slab *slab) {
    size_t bytes = 0;
    unsigned first = next_block(slab, 0, 0);
    while (first < slab->carved) {
        unsigned end = next_block(slab, first, ~(uint64_t)0);
        bytes += purge_blocks(slab, first, end);
        first = next_block(slab, end, 0);
    }
    slab->pulse = HAK_PULSE_PURGED;
    return bytes;
}

static size_t purge_tail(hak_slab *slab) {
    slab->dirty_tail = 0;
    return purge_blocks(slab, slab->carved, hak_classes[slab->cls].capacity);
}

static bool has_free_page(const hak_slab *slab) {
    size_t free_blocks = (size_t)(slab->carved - slab->used);
    return free_blocks * hak_classes[slab->cls].size >= hak_os_page_size();
}

/* One epoch passes for a slab. True: more of it can go later. */
static bool age(hak_slab *slab) {
    size_t bytes = 0;
    if (slab->dirty_tail > 1)
        slab->dirty_tail--;
    else if (slab->dirty_tail == 1)
        bytes += purge_tail(slab);
    bool wanted = slab->pulse != HAK_PULSE_PURGED && has_free_page(slab);
    if (wanted && slab->pulse == HAK_PULSE_QUIET)
        bytes += purge_free_blocks(slab);
    else if (wanted)
        slab->pulse = HAK_PULSE_QUIET;
    HAK_COUNT(trimmed_bytes, bytes);
    return slab->dirty_tail > 0 || (wanted && slab->pulse == HAK_PULSE_QUIET);
}

/* An empty slab that was quiet for an epoch goes; it says so of itself by its pulse alone. */
static size_t age_empty(hak_heap *heap, hak_slab *slab) {
    if (slab->pulse != HAK_PULSE_LIVELY) {
        hak_slab_release(heap, slab);
        return 0;
    }
    slab->pulse = HAK_PULSE_QUIET;
    return 1;
}

static size_t age_class(hak_heap *heap, unsigned cls) {
    size_t more = 0;
    for (hak_slab *slab = heap->partial[cls], *next; slab != NULL; slab = next) {
        next = slab->next;
        more += slab->used == 0 ? age_empty(heap, slab) : age(slab);
    }
    return more;
}

/* ---- whole heaps ---- */

void hak_heap_flush(hak_heap *heap) {
    hak_remote_drain(heap);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        hak_route_flush(heap, cls);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        hak_slab_release_empty(heap, cls);
}

/* The slabs age before the magazines are emptied into them, which makes those lively again that
 * are in use; a class that is idle has nothing to empty the next time. */
size_t hak_heap_trim(hak_heap *heap) {
    size_t more = 0;
    hak_remote_drain(heap);
    heap->crowded = false;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        more += age_class(heap, cls);
        hak_route_flush(heap, cls);
        hak_magazine_shrink(heap, cls, heap->depth[cls] / 2);
        heap->passage[cls] = HAK_PASSAGE_NONE;
        heap->comes_home[cls] = false;
    }
    return more;
}

size_t hak_heap_trim_idle(hak_heap *heap) {
    if (heap->settled && atomic_load_explicit(&heap->remote, memory_order_relaxed) == NULL)
        return 0;
    size_t more = hak_heap_trim(heap);
    heap->settled = more == 0;
    if (heap->settled)
        hak_magazines_purge(heap);
    return more;
}

/* What was purged already and not used since stays as it is. */
static size_t purge_now(hak_slab *slab) {
    size_t bytes = slab->pulse != HAK_PULSE_PURGED ? purge_free_blocks(slab) : 0;
    return slab->dirty_tail != 0 ? bytes + purge_tail(slab) : bytes;
}

size_t hak_heap_trim_now(hak_heap *heap) {
    size_t bytes = 0;
    hak_heap_flush(heap);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        for (hak_slab *slab = heap->partial[cls]; slab != NULL; slab = slab->next)
            bytes += purge_now(slab);
    HAK_COUNT(trimmed_bytes, bytes);
    hak_magazines_purge(heap);
    return bytes;
}
