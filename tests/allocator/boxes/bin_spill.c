/* What a full magazine that gives blocks to other threads keeps: few slots, and no memory of those
 * it had before. Its blocks go home in one chain. One of blocks above 2 KiB that its own thread
 * uses gives half of them back. */
#include "base/classes.h"
#include "include/hakmem.h"
#include "magazine/magazine.h"
#include "os/os.h"
#include "pages/range.h"
#include "stats/stats.h"
#include "thread/thread.h"

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { SMALL = 16, WHOLE = 1024, LONGER = 3072, MEDIUM = 4096, SHARE = 4096, MOST = 1 << 18 };
static void *blocks[MOST];

static void take(size_t size, size_t count) {
    for (size_t i = 0; i < count; i++)
        CHECK((blocks[i] = hak_malloc(size)) != NULL);
}

static void give(size_t count) {
    for (size_t i = 0; i < count; i++)
        hak_free(blocks[i]);
}

static void *take_all_small(void *unused) {
    take(SMALL, MOST);
    return unused;
}

/* Freed in the order of no slab: such blocks are wanted again one by one. */
static void shuffle(void) {
    for (size_t i = 0; i < MOST; i++) {
        size_t other = i * 2654435761u % MOST;
        void *block = blocks[i];
        blocks[i] = blocks[other];
        blocks[other] = block;
    }
}

static unsigned make_deep(hak_heap *heap) {
    unsigned cls = heap->class_of_small[1];
    for (int round = 0; round < 8; round++) {
        take(SMALL, MOST);
        shuffle();
        give(MOST);
    }
    unsigned depth = heap->bins[cls].depth, usual = hak_classes[cls].depth;
    CHECK_THAT(depth > 2 * usual, "%u slots, usually %u", depth, usual);
    return cls;
}

static size_t slots_resident(const hak_heap *heap, unsigned cls) {
    size_t unit = hak_os_page_size();
    uintptr_t place = (uintptr_t)heap->bins[cls].bottom;
    uintptr_t from = (place + (hak_classes[cls].depth + 2) * sizeof(void *) + unit - 1) & -unit;
    uintptr_t to = (place + (hak_classes[cls].deepest + 1) * sizeof(void *)) & -unit;
    return resident_bytes((const void *)from, to - from);
}

static void who_passes_on_keeps_few_slots(hak_heap *heap) {
    unsigned cls = make_deep(heap);
    CHECK(slots_resident(heap, cls) != 0);
    thread_join(thread_start(take_all_small, NULL));
    give(MOST);
    CHECK(heap->bins[cls].depth < hak_classes[cls].depth);
    size_t left = slots_resident(heap, cls);
    CHECK_THAT(left == 0, "%zu bytes of slots", left);
}

static void *take_whole(void *unused) {
    take(WHOLE, SHARE);
    return unused;
}

/* Each chain is a turn at the owner's seat: two of half as many blocks cost twice as much. */
static void who_passes_on_sends_one_chain_at_a_time(void) {
    thread_join(thread_start(take_whole, NULL));
    const hak_class *of = &hak_classes[hak_class_of(blocks[0])];
    size_t spilled = of->depth / (size_t)HAK_FEW_SHARE, most = (size_t)SHARE / spilled * 3 / 2;
    size_t before = HAK_COUNTED(remote_chains);
    give(SHARE);
    size_t chains = HAK_COUNTED(remote_chains) - before;
    CHECK_THAT(chains <= most, "%zu chains for %d blocks, at most %zu", chains, SHARE, most);
}

/* Returns how many blocks the magazine has left when it has given some back. */
static size_t left_behind(const hak_heap *heap, unsigned cls) {
    size_t before, after = 0, next = 0;
    do {
        before = after;
        hak_free(blocks[next++]);
        after = hak_magazine_count(heap, cls);
    } while (next < SHARE && after >= before);
    while (next < SHARE)
        hak_free(blocks[next++]);
    return after;
}

/* The usual depth is 21 such blocks: by ten at a time the slow path would cost more than all else.
 */
static void who_uses_many_longer_ones_gives_half_back(const hak_heap *heap) {
    for (int round = 0; round < 8; round++) {
        take(LONGER, SHARE);
        give(SHARE);
    }
    take(LONGER, SHARE);
    unsigned cls = hak_class_of(blocks[0]), usual = hak_classes[cls].depth;
    size_t left = left_behind(heap, cls), depth = heap->bins[cls].depth;
    CHECK_THAT(depth > 2 * usual, "%zu slots, usually %u", depth, usual);
    CHECK_THAT(left <= depth / 2 + 1, "%zu blocks left of %zu", left, depth);
}

int main(void) {
    hang_limit();
    hak_heap *heap = hak_heap_self();
    CHECK(heap != NULL);
    who_passes_on_keeps_few_slots(heap);
    who_passes_on_sends_one_chain_at_a_time();
    who_uses_many_longer_ones_gives_half_back(heap);
    CHECK(hak_validate());
    return 0;
}
