#include "pages/mend.h"

#include "base/geometry.h"
#include "pages/apart.h"
#include "pages/dense.h"
#include "pages/note.h"
#include "pages/quota.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/segment.h"
#include "pages/spare.h"

static void free_pages(hak_range *r, size_t first, size_t count) {
    for (size_t page = first; page < first + count; page++)
        r->segments[page / HAK_PAGES_PER_SEGMENT].used &=
            ~((uint32_t)1 << page % HAK_PAGES_PER_SEGMENT);
}

/* Whether the system was quick enough nobody knows: they are dirty. */
static bool free_noted(void) {
    bool any = false;
    for (uintptr_t note; (note = hak_note_take()) != 0;) {
        uintptr_t count = note % HAK_PAGE_SIZE;
        hak_range *r = hak_range_of((void *)note);
        if (r == NULL)
            continue;
        any = true;
        size_t first = hak_page_index(r, (void *)note);
        free_pages(r, first, count != 0 ? count : r->slabs[first].pages);
    }
    return any;
}

static void mend_segment(hak_range *r, hak_segment *s) {
    s->range = r;
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
    hak_dense_count();
    hak_spare_mend();
}

/* Another thread may have been about to map one. */
static void count_apart(void) {
    size_t bytes;
    hak_apart_count(&bytes);
    hak_quota_set_apart(bytes);
}

void hak_pages_after_fork_in_child(void) {
    bool was_held = hak_lock_inherit(&hak_segment_lock);
    if (hak_locks_held == 0 && (free_noted() || was_held))
        mend_all();
    if (hak_locks_held == 0)
        count_apart();
}
