/* Slabs of two pages do not fit into single free ones: while more becomes resident than ever
 * before, those go instead. Slabs that come and go within what was resident purge nothing. */
#include "slab/slab.h"
#include "thread/thread.h"
#include "include/hakmem.h"
#include "pages/segment.h"
#include "stats/stats.h"

#include "../support/check.h"

enum { SINGLES = 480, PAIRS = 40, TIMES = 100 };
static hak_slab *singles[SINGLES], *pairs[PAIRS];

static unsigned class_with(unsigned pages) {
    unsigned cls = 1;
    while (hak_classes[cls].pages != pages)
        cls++;
    return cls;
}

static void make(hak_heap *heap, hak_slab **slabs, size_t count, unsigned cls) {
    for (size_t i = 0; i < count; i++)
        CHECK((slabs[i] = hak_slab_make(heap, cls)) != NULL);
}

static void release(hak_heap *heap, hak_slab **slabs, size_t count, size_t step) {
    for (size_t i = 0; i < count; i += step)
        hak_slab_release(heap, slabs[i]);
}

/* Returns how many pages more are resident than before. */
static size_t grow(hak_heap *heap) {
    size_t before = hak_pages_used() + hak_pages_dirty();
    make(heap, pairs, PAIRS, class_with(2));
    return hak_pages_used() + hak_pages_dirty() - before;
}

int main(void) {
    hak_heap *heap = hak_heap_self();
    CHECK(heap);
    make(heap, singles, SINGLES, class_with(1));
    release(heap, singles, SINGLES, 2);
    size_t gone = HAK_COUNTED(purged_pages), grown = grow(heap);
    gone = HAK_COUNTED(purged_pages) - gone;
    CHECK_THAT(gone >= SINGLES / 8, "%zu pages went", gone);
    CHECK_THAT(grown + gone == (size_t)2 * PAIRS, "%zu pages came, %zu went", grown, gone);
    size_t calls = HAK_COUNTED(purge_calls);
    for (int i = 0; i < TIMES; i++) {
        release(heap, pairs, PAIRS, 1);
        make(heap, pairs, PAIRS, class_with(2));
    }
    CHECK(HAK_COUNTED(purge_calls) == calls);
    CHECK(hak_validate());
    return 0;
}
