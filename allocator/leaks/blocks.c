#include "leaks/blocks.h"

#include "base/classes.h"
#include "os/lock.h"
#include "pages/range.h"
#include "pages/segment.h"

size_t hak_blocks_carved(const hak_slab *run) {
    if (run->kind == HAK_RUN_SLAB)
        return run->carved < hak_classes[run->cls].capacity ? run->carved
                                                            : hak_classes[run->cls].capacity;
    return hak_kind_is_large(run->kind);
}

void hak_blocks_each_run(void (*visit)(const hak_slab *run)) {
    for (size_t i = 0; i < hak_range_count(); i++)
        for (size_t page = 0; page < hak_ranges[i].segments_fresh * HAK_PAGES_PER_SEGMENT; page++) {
            hak_lock_take(&hak_segment_lock);
            if (hak_blocks_carved(&hak_ranges[i].slabs[page]) != 0)
                visit(&hak_ranges[i].slabs[page]);
            hak_lock_give(&hak_segment_lock);
        }
}

static size_t sum; /* one thread looks, once */

static void count(const hak_slab *run) {
    sum += hak_blocks_carved(run);
}

size_t hak_blocks_most(void) {
    sum = 0;
    hak_blocks_each_run(count);
    return sum;
}
