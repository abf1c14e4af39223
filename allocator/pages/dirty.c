#include "pages/dirty.h"

#include "base/bits.h"
#include "base/probe.h"
#include "os/os.h"
#include "pages/dense.h"
#include "pages/dirty_list.h"
#include "pages/range.h"
#include "pages/tables.h"
#include "pages/segment.h"
#include "policy/policy.h"
#include "stats/stats.h"

hak_lock hak_purge_lock;

/* ---- runs of dirty pages, across segments ---- */

typedef struct run {
    hak_range *range;
    size_t first, end; /* pages of the range */
} run;

static uint32_t purgeable(const hak_segment *s, enum hak_dirty_which which) {
    uint32_t dirty = hak_segment_dirty(s);
    return which == HAK_DIRTY_AGED ? dirty & s->aged : dirty;
}

static size_t index_of(const hak_segment *s) {
    return (size_t)(s - s->range->segments);
}

static unsigned ones_at_start(uint32_t mask) {
    return hak_lowest_bit(~(uint64_t)mask);
}

/* The run that begins with the lowest page of `mask` in segment s; it goes on in the segments
 * behind when these are dirty from their beginning on. */
static run run_from(const hak_segment *s, uint32_t mask, enum hak_dirty_which which) {
    const hak_segment *segments = s->range->segments;
    size_t index = index_of(s), last = index + HAK_STEP / HAK_PAGES_PER_SEGMENT;
    if (last > s->range->segments_fresh)
        last = s->range->segments_fresh;
    unsigned from = hak_lowest_bit(mask), count = ones_at_start(mask >> from);
    run found = {s->range, index * HAK_PAGES_PER_SEGMENT + from, 0};
    found.end = found.first + count;
    bool goes_on = from + count == HAK_PAGES_PER_SEGMENT;
    while (goes_on && ++index < last) {
        count = ones_at_start(purgeable(&segments[index], which));
        found.end += count;
        goes_on = count == HAK_PAGES_PER_SEGMENT;
    }
    return found;
}

/* Without the lock. Memory that is only offered to the system keeps its contents for now. */
static bool give_to_system(run r, bool lazily) {
    void *start = (void *)(r.range->base + (r.first << HAK_PAGE_SHIFT));
    size_t bytes = (r.end - r.first) << HAK_PAGE_SHIFT;
    HAK_PROBE(purge, start, bytes);
    HAK_COUNT(purge_calls, 1);
    return lazily ? hak_os_offer(start, bytes) : hak_os_purge(start, bytes);
}

/* The lock is free while the system takes the memory away. Meanwhile the pages count as used, so
 * that nobody takes them. */
static size_t purge_run(run r) {
    size_t pages = r.end - r.first;
    bool lazily = hak_policy_now()->purge_lazily != 0;
    hak_pages_hide(r.range, r.first, pages);
    hak_dense_leave(r.range, r.first, pages);
    hak_lock_lend(&hak_segment_lock);
    bool given = give_to_system(r, lazily);
    hak_lock_take_back(&hak_segment_lock);
    hak_pages_show(r.range, r.first, pages, given && !lazily);
    if (given && !lazily)
        hak_tables_purge(r.range, r.first, r.end);
    else
        hak_pages_keep(r.range, r.first, pages);
    return given ? pages : 0;
}

static size_t purge_segment(hak_segment *s, enum hak_dirty_which which) {
    size_t pages = 0;
    if (purgeable(s, which) != 0)
        hak_dense_leave(s->range, index_of(s) * HAK_PAGES_PER_SEGMENT, HAK_PAGES_PER_SEGMENT);
    for (uint32_t mask = purgeable(s, which), next; mask != 0; mask = next) {
        run r = run_from(s, mask, which);
        next = mask & (mask + (mask & -mask)); /* without its lowest run */
        pages += purge_run(r);
        next &= purgeable(s, which);
    }
    if (which == HAK_DIRTY_AGED)
        s->aged = hak_segment_dirty(s);
    if (hak_segment_dirty(s) != 0)
        hak_dirty_push(s);
    return pages;
}

size_t hak_dirty_purge(size_t *entries, size_t most, enum hak_dirty_which which) {
    size_t pages = 0;
    hak_lock_take(&hak_segment_lock);
    for (; *entries > 0 && pages < most; --*entries) {
        hak_segment *s = hak_dirty_pop();
        if (s == NULL) {
            *entries = 0;
            break;
        }
        pages += purge_segment(s, which);
    }
    hak_lock_give(&hak_segment_lock);
    HAK_COUNT(purged_pages, pages);
    return pages << HAK_PAGE_SHIFT;
}

size_t hak_dirty_purge_any(size_t most) {
    size_t entries = hak_dirty_count();
    return hak_dirty_purge(&entries, most, HAK_DIRTY_ALL);
}

void hak_dirty_purge_behind(const hak_slab *head, size_t count) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t first = (size_t)(head - r->slabs) + head->pages, pages = 0;
    hak_lock_take(&hak_segment_lock);
    if (hak_pages_are_free(r, first, count))
        pages = purge_run((run){r, first, first + count});
    hak_lock_give(&hak_segment_lock);
    HAK_COUNT(purged_pages, pages);
}

static bool enter(bool must) {
    if (must)
        hak_lock_take(&hak_purge_lock);
    return must || hak_lock_try(&hak_purge_lock);
}

void hak_dirty_make_room(size_t pages) {
    if (!enter(hak_quota_is_beyond_hard(pages)))
        return;
    hak_dirty_purge_any(hak_quota_beyond(pages));
    hak_lock_give(&hak_purge_lock);
}
