#include "pages/mend.h"

#include "base/geometry.h"
#include "pages/apart.h"
#include "pages/quota.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/segment.h"
#include "pages/spare.h"

/* Whether the system was quick enough with pages that were leaving nobody knows: they are dirty. */
static void mend_segment(hak_range *r, hak_segment *s) {
    s->range = r;
    s->used &= ~s->leaving;
    s->leaving = 0;
    s->touched |= s->used;
    s->aged &= ~s->used;
    s->kept &= s->touched & ~s->used;
    s->on_dirty_list = false;
    if (hak_segment_dirty(s) != 0)
        hak_dirty_push(s);
}

static void mend_range(hak_range *r) {
    for (size_t i = 0; i < r->segments_fresh; i++)
        mend_segment(r, &r->segments[i]);
    hak_rooms_mend(r);
}

static void mend_all(void) {
    hak_dirty_forget();
    for (size_t i = 0; i < hak_range_count(); i++)
        mend_range(&hak_ranges[i]);
    hak_pages_count();
}

/* Another thread may have been about to map one. */
static void count_apart(void) {
    size_t bytes;
    hak_apart_count(&bytes);
    hak_quota_set_apart(bytes);
}

void hak_pages_after_fork_in_child(void) {
    bool was_held = hak_lock_inherit(&hak_segment_lock);
    if (hak_locks_held != 0)
        return;
    if (was_held || hak_pages_used() != hak_pages_held()) /* or some are leaving */
        mend_all();
    hak_spare_mend();
    count_apart();
}
