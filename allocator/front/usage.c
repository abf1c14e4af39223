#include "front/usage.h"

#include "base/bits.h"
#include "base/classes.h"
#include "bin/transfer.h"
#include "heap/heap.h"
#include "heap/owner.h"
#include "magazine/magazine.h"
#include "pages/apart.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/segment.h"
#include "slab/slab.h"
#include "stats/stats.h"
#include "thread/thread.h"

#include <string.h>

static void add_run(hak_usage *usage, const hak_slab *run) {
    if (run->kind == HAK_RUN_LARGE) {
        usage->large += run->large_size;
        usage->blocks++;
    } else if (run->kind == HAK_RUN_SLAB) {
        size_t size = hak_classes[run->cls].size, used = run->used, carved = run->carved;
        usage->used += used * size;
        usage->free += (carved > used ? carved - used : 0) * size; /* its owner may be at it */
        usage->blocks += used;
    } else if (run->kind == HAK_RUN_CACHED) {
        usage->free += (size_t)run->pages << HAK_PAGE_SHIFT;
    }
}

static void add_segment(hak_usage *usage, const hak_segment *s) {
    const hak_range *r = s->range;
    const hak_slab *runs = &r->slabs[(size_t)(s - r->segments) * HAK_PAGES_PER_SEGMENT];
    usage->committed += HAK_SEGMENT_SIZE;
    usage->free += (size_t)hak_count_bits(s->touched & ~s->used) << HAK_PAGE_SHIFT;
    for (unsigned page = 0; page < HAK_PAGES_PER_SEGMENT; page++)
        if ((s->used >> page & 1) != 0)
            add_run(usage, &runs[page]);
}

static void subtract(hak_usage *usage, unsigned cls, size_t blocks) {
    size_t bytes = blocks * hak_classes[cls].size;
    usage->blocks -= blocks < usage->blocks ? blocks : usage->blocks;
    usage->used -= bytes < usage->used ? bytes : usage->used;
    usage->free += bytes;
}

/* Where a reclaimer was, empty slots lie among the blocks until the owner comes by. */
static size_t blocks_in(const hak_heap *heap, unsigned cls) {
    size_t count = hak_magazine_count(heap, cls), empty = 0;
    if ((heap->claim & HAK_CLAIM_HOLES) != 0 && !hak_is_armed(heap, cls))
        for (size_t i = 1; i + HAK_HAND <= hak_magazine_count(heap, cls); i++)
            empty += heap->bins[cls].bottom[i] == NULL;
    return empty < count ? count - empty : 0;
}

/* Blocks in magazines are free for the program. Other threads' magazines move meanwhile. */
static void subtract_magazines(hak_heap *heap, void *context) {
    hak_usage *usage = context;
    usage->heaps++;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        subtract(usage, cls, blocks_in(heap, cls));
}

static void subtract_transfer_cache(hak_usage *usage) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        subtract(usage, cls, hak_transfer_count(cls));
}

static void each_segment(void (*visit)(hak_usage *usage, const hak_segment *s), hak_usage *usage) {
    size_t ranges = hak_range_count();
    hak_lock_take(&hak_segment_lock);
    for (size_t i = 0; i < ranges; i++)
        for (size_t j = 0; j < hak_ranges[i].segments_fresh; j++)
            visit(usage, &hak_ranges[i].segments[j]);
    hak_lock_give(&hak_segment_lock);
}

static void add_apart(hak_usage *usage) {
    size_t bytes;
    usage->blocks += hak_apart_count(&bytes);
    usage->large += bytes;
    usage->committed += bytes;
    usage->reserved += bytes;
}

void hak_usage_collect(hak_usage *usage) {
    memset(usage, 0, sizeof *usage);
    HAK_RACING_READS_BEGIN(); /* of what others write; no figure is followed anywhere */
    for (size_t i = 0; i < hak_range_count(); i++)
        usage->reserved += hak_ranges[i].segments_usable * HAK_SEGMENT_SIZE;
    each_segment(add_segment, usage);
    hak_heap_each(subtract_magazines, usage);
    HAK_RACING_READS_END();
    subtract_transfer_cache(usage);
    add_apart(usage);
    usage->used += usage->large;
}

/* ---- soundness ---- */

static bool segment_is_valid(const hak_segment *s) {
    hak_room room = hak_room_of(s->used), noted = s->range->rooms[0][s - s->range->segments];
    return room.first == noted.first && room.longest == noted.longest && room.last == noted.last &&
           ((s->aged | s->kept) & s->used) == 0 && ((s->used | s->kept) & ~s->touched) == 0;
}

/* Counts the unsound ones in `blocks`: the visitor has no other place. */
static void check_segment(hak_usage *usage, const hak_segment *s) {
    usage->blocks += !segment_is_valid(s);
}

static bool list_is_valid(const hak_heap *heap, unsigned cls) {
    const hak_slab *first = heap->bins[cls].partial, *before = first != NULL ? first->prev : NULL;
    for (const hak_slab *s = first; s != NULL; before = s, s = s->next)
        if (!hak_slab_is_valid(s) || s->prev != before || s->cls != cls ||
            s->used == hak_classes[cls].capacity ||
            hak_owner_of((void *)s->start) != hak_owner_word(heap, cls))
            return false;
    return first == NULL || before == first->prev;
}

bool hak_usage_is_valid(void) {
    hak_usage bad = {0};
    each_segment(check_segment, &bad);
    hak_heap *heap = hak_this_thread.owned;
    bool sound = bad.blocks == 0;
    if (heap != NULL)
        hak_owner_enters(heap);
    for (unsigned cls = 1; heap != NULL && cls < HAK_CLASSES; cls++)
        sound = sound && list_is_valid(heap, cls);
    if (heap != NULL)
        hak_owner_leaves(heap);
    return sound;
}
