/* A class that becomes smaller while it is in use gives its slabs back: in a queue of blocks of one
 * size several go for each that comes, until an eighth is left. A magazine, armed or not, hands out
 * what was freed last, so without magazine/mode.c every slab would keep its share of them. But a
 * burst of frees, and a queue that stays as long as it is, leave malloc as fast as ever. */
#include "base/classes.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"
#include "thread/thread.h"
#include "include/hakmem.h"
#include "pages/range.h"

#include "../support/check.h"

enum { SIZE = 250, BLOCKS = 100000, LEFT = BLOCKS / 8, MOST_BLOCKS = 8 * BLOCKS };
static void *queue[MOST_BLOCKS];
static size_t oldest, newest;

static void come(size_t count) {
    for (; count > 0; count--)
        CHECK(newest < MOST_BLOCKS && (queue[newest++] = hak_malloc(SIZE)) != NULL);
}

static void go(size_t count) {
    for (; count > 0; count--)
        hak_free(queue[oldest++]);
}

static size_t pages_of(unsigned cls) {
    const hak_range *r = hak_range_of(queue[oldest]);
    size_t pages = 0;
    for (size_t page = 0; page < r->limit; page++)
        pages += r->classes[page] == cls;
    return pages;
}

static void stays_as_long(const hak_heap *heap, unsigned cls) {
    for (int i = 0; i < BLOCKS; i++) {
        go(1);
        come(1);
        CHECK(heap->bins[cls].mode != HAK_SHEDDING);
    }
}

static void bursts(const hak_heap *heap, unsigned cls) {
    for (int i = 0; i < 8; i++) {
        go(BLOCKS / 8);
        come(BLOCKS / 8);
        CHECK(heap->bins[cls].mode != HAK_SHEDDING);
    }
}

/* The magazine is full twice and spills twice, but less than a slab's blocks: none would run empty.
 */
static void wavers(hak_heap *heap, unsigned cls) {
    for (int i = 0; i < 100; i++) {
        hak_disarm(heap, cls);
        size_t fill = heap->bins[cls].depth + 1 - hak_magazine_count(heap, cls);
        go(fill);
        come(1);
        go(hak_classes[cls].depth / 2u + 2);
        CHECK(heap->bins[cls].mode != HAK_SHEDDING);
        come(fill + hak_classes[cls].depth / 2u + 1);
    }
}

/* Returns whether it shed. */
static bool becomes_shorter(const hak_heap *heap, unsigned cls, size_t go_at_once) {
    bool shed = false;
    while (newest - oldest > LEFT) {
        go(go_at_once);
        come(1);
        shed |= heap->bins[cls].mode == HAK_SHEDDING;
    }
    return shed;
}

static void sheds(const hak_heap *heap, unsigned cls) {
    size_t most = pages_of(cls);
    bool shed = becomes_shorter(heap, cls, 2);
    CHECK_THAT(shed && pages_of(cls) < most / 7, "%zu of %zu pages are left", pages_of(cls), most);
    CHECK(hak_validate());
}

/* The same while something waits for the purge, and the magazines are armed again and again. */
static void sheds_armed(hak_heap *heap, unsigned cls) {
    come(BLOCKS - LEFT);
    size_t most = pages_of(cls);
    for (uint64_t now_ms = 0; newest - oldest > LEFT; now_ms += 100) {
        hak_arm(heap, cls, now_ms);
        go(2);
        come(1);
    }
    CHECK_THAT(pages_of(cls) < most / 6, "%zu of %zu pages are left", pages_of(cls), most);
    hak_disarm(heap, cls);
}

int main(void) {
    hak_heap *heap = hak_heap_self();
    come(BLOCKS);
    unsigned cls = hak_class_of(queue[0]);
    CHECK(heap && cls != HAK_CLASS_NONE);
    stays_as_long(heap, cls);
    bursts(heap, cls);
    wavers(heap, cls);
    sheds(heap, cls);
    come(1000); /* as long again: it ends */
    CHECK(heap->bins[cls].mode != HAK_SHEDDING);
    sheds_armed(heap, cls);
    go(newest - oldest);
    return 0;
}
