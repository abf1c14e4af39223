#include "pages/segment.h"

#include "base/bits.h"
#include "pages/dirty_list.h"
#include "pages/range.h"
#include "pages/room.h"

HAK_EARLY hak_lock hak_segment_lock;
static HAK_EARLY _Atomic size_t used_pages, dirty_pages, held_pages;

/* ---- counts ---- */

size_t hak_pages_used(void) {
    return atomic_load_explicit(&used_pages, memory_order_relaxed);
}

size_t hak_pages_held(void) {
    return atomic_load_explicit(&held_pages, memory_order_relaxed);
}

size_t hak_pages_dirty(void) {
    return atomic_load_explicit(&dirty_pages, memory_order_relaxed);
}

/* Written under the lock alone, so no atomic addition is needed. */
static void add(_Atomic size_t *count, size_t by) {
    size_t old = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, old + by, memory_order_relaxed);
}

/* Most segments of a long run are all or nothing. */
static size_t count_pages(uint32_t mask) {
    if (mask == 0 || mask == UINT32_MAX)
        return mask == 0 ? 0 : HAK_PAGES_PER_SEGMENT;
    return hak_count_bits(mask);
}

/* ---- claiming and freeing pages ---- */

static void claim(hak_segment *s, uint32_t mask) {
    s->used |= mask;
    s->touched |= mask;
    s->aged &= ~mask;
    s->kept &= ~mask;
}

static void unclaim(hak_segment *s, uint32_t mask, bool zeroed) {
    s->used &= ~mask;
    if (zeroed)
        s->touched &= ~mask;
    else
        hak_dirty_push(s);
}

/* The pages of segment `index` among pages first .. first + count of its range. */
static uint32_t mask_within(size_t index, size_t first, size_t count) {
    size_t base = index * HAK_PAGES_PER_SEGMENT, end = first + count;
    if (first <= base && base + HAK_PAGES_PER_SEGMENT <= end)
        return UINT32_MAX;
    size_t from = first > base ? first - base : 0;
    size_t to = end - base < HAK_PAGES_PER_SEGMENT ? end - base : HAK_PAGES_PER_SEGMENT;
    return hak_mask32((unsigned)from, (unsigned)(to - from));
}

static size_t take(hak_range *r, size_t first, size_t count) {
    size_t touched = 0, dirty = 0;
    HAK_EACH_SEGMENT(i, first, count) {
        hak_segment *s = &r->segments[i];
        uint32_t mask = mask_within(i, first, count);
        touched += count_pages(s->touched & mask);
        dirty += count_pages(hak_segment_dirty(s) & mask);
        claim(s, mask);
    }
    hak_rooms_note(r, first, count, true);
    add(&used_pages, count);
    add(&dirty_pages, -dirty);
    return touched;
}

static void give(hak_range *r, size_t first, size_t count, bool zeroed) {
    HAK_EACH_SEGMENT(i, first, count)
        unclaim(&r->segments[i], mask_within(i, first, count), zeroed);
    hak_rooms_note(r, first, count, false);
    add(&used_pages, -count);
    if (!zeroed)
        add(&dirty_pages, count);
}

size_t hak_pages_claim(hak_range *r, size_t first, size_t count) {
    add(&held_pages, count);
    return take(r, first, count);
}

void hak_pages_free(hak_range *r, size_t first, size_t count, bool zeroed) {
    add(&held_pages, -count);
    give(r, first, count, zeroed);
}

/* Marks pages as leaving before they count as used, and takes the mark back after that. So a child
 * that is forked in between can mend them. */
static void turn_leaving(hak_range *r, size_t first, size_t count) {
    atomic_signal_fence(memory_order_seq_cst);
    HAK_EACH_SEGMENT(i, first, count)
        r->segments[i].leaving ^= mask_within(i, first, count);
    atomic_signal_fence(memory_order_seq_cst);
}

void hak_pages_hide(hak_range *r, size_t first, size_t count) {
    turn_leaving(r, first, count);
    take(r, first, count);
}

void hak_pages_show(hak_range *r, size_t first, size_t count, bool zeroed) {
    give(r, first, count, zeroed);
    turn_leaving(r, first, count);
}

void hak_pages_keep(hak_range *r, size_t first, size_t count) {
    HAK_EACH_SEGMENT(i, first, count)
        r->segments[i].kept |= mask_within(i, first, count);
    add(&dirty_pages, -count);
}

void hak_pages_touch(hak_segment *s) {
    if (s->touched == UINT32_MAX)
        return;
    add(&dirty_pages, count_pages(~s->touched));
    s->touched = UINT32_MAX;
    hak_dirty_push(s);
}

bool hak_pages_are_free(const hak_range *r, size_t first, size_t count) {
    HAK_EACH_SEGMENT(i, first, count)
        if (i >= r->segments_fresh || (r->segments[i].used & mask_within(i, first, count)) != 0)
            return false;
    return true;
}

size_t hak_pages_dirty_within(const hak_range *r, size_t first, size_t count) {
    size_t dirty = 0;
    HAK_EACH_SEGMENT(i, first, count)
        dirty += count_pages(hak_segment_dirty(&r->segments[i]) & mask_within(i, first, count));
    return dirty;
}

void hak_pages_age(hak_range *r, size_t first, size_t count) {
    HAK_EACH_SEGMENT(i, first, count)
        r->segments[i].aged |= mask_within(i, first, count);
}

/* ---- after fork ---- */

/* Nobody knows whether pages that were leaving have left, so they count as dirty. */
static void mend(hak_range *r, hak_segment *s) {
    s->range = r;
    s->used &= ~s->leaving;
    s->leaving = 0;
    s->touched |= s->used;
    s->aged &= ~s->used;
    s->kept &= s->touched & ~s->used;
    s->on_dirty_list = false;
    if (hak_segment_dirty(s) != 0)
        hak_dirty_push(s);
    add(&used_pages, count_pages(s->used));
    add(&dirty_pages, count_pages(hak_segment_dirty(s)));
}

static void mend_all(void) {
    hak_dirty_forget();
    used_pages = dirty_pages = 0;
    HAK_EACH_RANGE(r) {
        for (size_t i = 0; i < r->segments_fresh; i++)
            mend(r, &r->segments[i]);
        hak_rooms_mend(r);
    }
    held_pages = hak_pages_used();
}

void hak_pages_after_fork_in_child(void) {
    bool was_held = hak_lock_inherit(&hak_segment_lock);
    bool some_leave = hak_pages_used() != hak_pages_held();
    if (hak_locks_held == 0 && (was_held || some_leave))
        mend_all();
}
