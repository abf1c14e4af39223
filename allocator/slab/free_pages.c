#include "slab/free_pages.h"

#include "base/bits.h"
#include "base/classes.h"
#include "os/os.h"
#include "pages/dense.h"
#include "policy/policy.h"
#include "stats/stats.h"

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

/* Purges the system pages that lie wholly within blocks first to end - 1. */
static size_t purge_blocks(const hak_slab *slab, unsigned first, unsigned end) {
    size_t size = hak_classes[slab->cls].size, unit = hak_os_page_size();
    uintptr_t from = hak_round_up(slab->start + first * size, unit);
    uintptr_t to = hak_round_down(slab->start + end * size, unit);
    if (from >= to)
        return 0;
    bool lazily = hak_policy_now()->purge_lazily != 0;
    hak_dense_leave_run(slab);
    HAK_COUNT(purge_calls, 1);
    void *start = (void *)from;
    bool given = lazily ? hak_os_offer(start, to - from) : hak_os_purge(start, to - from);
    return given ? to - from : 0;
}

size_t hak_slab_purge_free_blocks(hak_slab *slab) {
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

size_t hak_slab_purge_tail(hak_slab *slab) {
    if (!slab->dirty_tail)
        return 0;
    slab->dirty_tail = false;
    return purge_blocks(slab, slab->carved, hak_classes[slab->cls].capacity);
}

bool hak_slab_has_free_page(const hak_slab *slab) {
    size_t free_blocks = (size_t)(slab->carved - slab->used);
    return free_blocks * hak_classes[slab->cls].size >= hak_os_page_size();
}
