#include "pages/segment.h"

#include "base/bits.h"
#include "pages/dense.h"
#include "pages/dirty.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/spare.h"
#include "stats/stats.h"

hak_lock hak_segment_lock;
static _Atomic size_t used_pages, dirty_pages;

/* ---- counts ---- */

size_t hak_pages_used(void) {
    return atomic_load_explicit(&used_pages, memory_order_relaxed);
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

void hak_pages_count(void) {
    size_t used = 0, dirty = 0;
    for (size_t i = 0; i < hak_range_count(); i++)
        for (size_t at = 0; at < hak_ranges[i].segments_fresh; at++) {
            used += count_pages(hak_ranges[i].segments[at].used);
            dirty += count_pages(hak_segment_dirty(&hak_ranges[i].segments[at]));
        }
    atomic_store_explicit(&used_pages, used, memory_order_relaxed);
    atomic_store_explicit(&dirty_pages, dirty, memory_order_relaxed);
}

/* ---- claiming and freeing pages ---- */

static void claim(hak_segment *s, uint32_t mask) {
    if (mask == UINT32_MAX) {
        s->used = s->touched = mask;
        s->aged = s->kept = 0;
        return;
    }
    s->used |= mask;
    s->touched |= mask;
    s->aged &= ~mask;
    s->kept &= ~mask;
}

static void unclaim(hak_segment *s, uint32_t mask, bool zeroed) {
    s->used &= ~mask;
    if (zeroed)
        s->touched &= ~mask;
    else if (!s->on_dirty_list)
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

size_t hak_pages_claim(hak_range *r, size_t first, size_t count) {
    size_t from = first / HAK_PAGES_PER_SEGMENT, last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    size_t touched = 0, dirty = 0;
    for (size_t i = from; i <= last; i++) {
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

void hak_pages_free(hak_range *r, size_t first, size_t count, bool zeroed) {
    size_t from = first / HAK_PAGES_PER_SEGMENT, last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = from; i <= last; i++)
        unclaim(&r->segments[i], mask_within(i, first, count), zeroed);
    hak_rooms_note(r, first, count, false);
    add(&used_pages, -count);
    if (!zeroed)
        add(&dirty_pages, count);
}

void hak_pages_keep(hak_range *r, size_t first, size_t count) {
    size_t last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = first / HAK_PAGES_PER_SEGMENT; i <= last; i++)
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

/* True when pages first .. first + count of r exist and are free. */
static bool are_free(const hak_range *r, size_t first, size_t count) {
    size_t last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = first / HAK_PAGES_PER_SEGMENT; i <= last; i++)
        if (i >= r->segments_fresh || (r->segments[i].used & mask_within(i, first, count)) != 0)
            return false;
    return true;
}

/* ---- finding room ---- */

typedef struct place {
    hak_range *range; /* NULL: none */
    size_t page;
} place;

/* The first aligned page at or after page `found` of r. */
static place aligned(hak_range *r, size_t found, size_t align) {
    size_t base = r->base >> HAK_PAGE_SHIFT;
    return (place){r, hak_round_up(base + found, align) - base};
}

/* Ranges in which to look for free pages before new ones are taken. */
static size_t ranges_for(unsigned home, size_t pages) {
    size_t all = hak_range_count();
    bool first_alone =
        all > 1 && home == HAK_HOME_OF_SLABS && hak_range_can_grow(&hak_ranges[0], pages);
    return first_alone ? 1 : all;
}

static place find_free(unsigned home, size_t pages, size_t align, size_t ranges) {
    size_t at_home = hak_home_range(home);
    for (size_t i = 0; i < ranges; i++) {
        hak_range *r = &hak_ranges[i == 0 ? at_home : i <= at_home ? i - 1 : i];
        size_t found = hak_room_find(r, pages);
        if (found != HAK_NO_ROOM)
            return aligned(r, found, align);
    }
    return (place){NULL, 0};
}

/* A run so long that an aligned one fits into it: at home, elsewhere, lowest address first, then
 * pages never used, at home again. */
static place find(unsigned home, size_t pages, size_t align) {
    size_t wanted = pages + align - 1;
    place known = find_free(home, wanted, align, ranges_for(home, wanted));
    if (known.range != NULL)
        return known;
    hak_range *grown = hak_range_grow(hak_home_settle(home), wanted);
    if (grown != NULL)
        return aligned(grown, hak_room_find(grown, wanted), align);
    return find_free(home, wanted, align, hak_range_count());
}

/* ---- the interface ---- */

void hak_segments_start(void) {
    hak_lock_take(&hak_segment_lock);
    if (hak_range_count() == 0)
        hak_range_grow(NULL, 1);
    hak_lock_give(&hak_segment_lock);
}

static hak_slab *head_at(place p, size_t pages) {
    hak_slab *head = &p.range->slabs[p.page];
    head->before = head->kind == HAK_RUN_FREE ? head->pages : 0;
    head->start = p.range->base + (p.page << HAK_PAGE_SHIFT);
    head->bitmap = p.range->bitmaps[p.page];
    head->pages = (uint32_t)pages;
    return head;
}

static hak_slab *take(unsigned home, size_t pages, size_t align, bool *zeroed) {
    hak_slab *head = NULL;
    hak_lock_take(&hak_segment_lock);
    place p = find(home, pages, align);
    if (p.range != NULL) {
        hak_dense_choose(p.range, p.page, pages, pages);
        size_t touched = hak_pages_claim(p.range, p.page, pages);
        head = head_at(p, pages);
        head->touched = (uint32_t)touched;
        *zeroed = touched == 0;
    }
    hak_lock_give(&hak_segment_lock);
    if (head != NULL)
        HAK_COUNT(runs_taken, 1);
    return head;
}

hak_slab *hak_run_take(unsigned home, size_t pages, size_t align, bool *zeroed) {
    hak_slab *head = take(home, pages, align, zeroed);
    return head != NULL || !hak_spare_release() ? head : take(home, pages, align, zeroed);
}

static void age(hak_range *r, size_t first, size_t count) {
    size_t last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = first / HAK_PAGES_PER_SEGMENT; i <= last; i++)
        r->segments[i].aged |= mask_within(i, first, count);
}

static void give(hak_slab *head, bool zeroed, bool aged) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t first = (size_t)(head - r->slabs);
    hak_lock_take(&hak_segment_lock);
    head->kind = HAK_RUN_FREE;
    hak_pages_free(r, first, head->pages, zeroed);
    if (aged)
        age(r, first, head->pages);
    hak_lock_give(&hak_segment_lock);
    HAK_COUNT(runs_given, 1);
}

void hak_run_give(hak_slab *head, bool zeroed) {
    give(head, zeroed, false);
}

void hak_run_give_aged(hak_slab *head) {
    give(head, false, true);
}

bool hak_run_extend(hak_slab *head, size_t pages) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t behind = (size_t)(head - r->slabs) + head->pages, more = pages - head->pages;
    hak_lock_take(&hak_segment_lock);
    bool is_free = are_free(r, behind, more);
    if (is_free) {
        hak_dense_choose(r, behind, more, pages);
        head->touched += (uint32_t)hak_pages_claim(r, behind, more);
        head->pages = (uint32_t)pages;
    }
    hak_lock_give(&hak_segment_lock);
    return is_free;
}

void hak_run_trim(hak_slab *head, size_t pages) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t first = (size_t)(head - r->slabs);
    hak_lock_take(&hak_segment_lock);
    hak_pages_free(r, first + pages, head->pages - pages, false);
    head->pages = (uint32_t)pages;
    hak_lock_give(&hak_segment_lock);
}
