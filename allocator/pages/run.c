#include "pages/run.h"

#include "base/bits.h"
#include "pages/dense.h"
#include "pages/excess.h"
#include "pages/dirty.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/segment.h"
#include "pages/spare.h"
#include "stats/stats.h"

/* ---- homes ---- */

static size_t home_ranges[HAK_HOMES]; /* 0: none of its own */

/* Gives the home a range of its own, if it has none yet. NULL: it needs none, or address space is
 * scarce. */
static hak_range *settle(unsigned home) {
    static bool refused; /* a range was refused: no further home asks for one */
    bool is_first = home <= HAK_FIRST_HOME || hak_range_count() == 0;
    if (!is_first && home_ranges[home] == 0 && !refused) {
        refused = hak_range_add() == NULL;
        home_ranges[home] = refused ? 0 : hak_range_count() - 1;
    }
    return home_ranges[home] != 0 ? &hak_ranges[home_ranges[home]] : NULL;
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
    size_t at_home = home_ranges[home];
    for (size_t i = 0; i < ranges; i++) {
        hak_range *r = &hak_ranges[i == 0 ? at_home : i <= at_home ? i - 1 : i];
        size_t found = hak_room_find(r, pages);
        if (found != HAK_NO_ROOM)
            return aligned(r, found, align);
    }
    return (place){NULL, 0};
}

static hak_range *grow(hak_range *at, size_t pages) {
    if (hak_range_count() == 0)
        hak_excess_start();
    return hak_range_grow(at, pages);
}

/* Finds a run that is long enough for an aligned one: first among free pages, at home and then in
 * the other ranges; else the home range grows; else in all ranges. */
static place find_place(unsigned home, size_t pages, size_t align) {
    size_t wanted = pages + align - 1;
    place known = find_free(home, wanted, align, ranges_for(home, wanted));
    if (known.range != NULL)
        return known;
    hak_range *grown = grow(settle(home), wanted);
    if (grown != NULL)
        return aligned(grown, hak_room_find(grown, wanted), align);
    return find_free(home, wanted, align, hak_range_count());
}

bool hak_run_has_room(size_t pages) {
    bool any = false;
    hak_lock_take(&hak_segment_lock);
    HAK_EACH_RANGE(r)
        any |= hak_room_find(r, pages) != HAK_NO_ROOM;
    hak_lock_give(&hak_segment_lock);
    return any;
}

/* ---- taking and giving ---- */

static hak_slab *head_at(place p, size_t pages, size_t touched) {
    hak_slab *head = &p.range->slabs[p.page];
    head->before = head->kind == HAK_RUN_FREE ? head->pages : 0;
    head->touched = (uint32_t)(touched < pages ? touched : pages);
    head->start = p.range->base + (p.page << HAK_PAGE_SHIFT);
    head->bitmap = p.range->bitmaps[p.page];
    head->pages = (uint32_t)pages;
    return head;
}

/* How many runs lie free side by side from there on: at least one, up to `most`. */
static size_t row_at(place p, size_t pages, size_t most) {
    size_t count = 1;
    while (count < most && hak_pages_are_free(p.range, p.page + count * pages, pages))
        count++;
    return count > 1 && hak_quota_refuses(p.range, p.page, count * pages) ? 1 : count;
}

static hak_slab *claim(place p, size_t pages, size_t *count, bool *zeroed) {
    *count = row_at(p, pages, *count);
    size_t all = *count * pages;
    hak_dense_choose(p.range, p.page, all, pages);
    size_t touched = hak_pages_claim(p.range, p.page, all);
    *zeroed = touched == 0;
    for (size_t at = pages; at < all; at += pages)
        head_at((place){p.range, p.page + at}, pages, touched)->kind = HAK_RUN_AHEAD;
    return head_at(p, pages, touched);
}

static hak_slab *take(unsigned home, size_t pages, size_t align, size_t *count, bool *zeroed) {
    hak_slab *head = NULL;
    hak_lock_take(&hak_segment_lock);
    place p = find_place(home, pages, align);
    if (p.range != NULL && !hak_quota_refuses(p.range, p.page, pages))
        head = claim(p, pages, count, zeroed);
    hak_lock_give(&hak_segment_lock);
    if (head != NULL)
        HAK_COUNT(runs_taken, *count);
    return head;
}

hak_slab *hak_run_take_row(unsigned home, size_t pages, size_t align, size_t *count, bool *zeroed) {
    hak_slab *head;
    do {
        hak_dirty_make_room_for(pages);
        head = take(home, pages, align, count, zeroed);
    } while (HAK_UNLIKELY(head == NULL) && hak_spare_release());
    return head;
}

hak_slab *hak_run_take(unsigned home, size_t pages, size_t align, bool *zeroed) {
    size_t one = 1;
    return hak_run_take_row(home, pages, align, &one, zeroed);
}

void hak_run_give_locked(hak_slab *head, bool zeroed, bool aged) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t first = (size_t)(head - r->slabs);
    head->kind = HAK_RUN_FREE;
    hak_pages_free(r, first, head->pages, zeroed);
    if (aged)
        hak_pages_age(r, first, head->pages);
    HAK_COUNT(runs_given, 1);
}

void hak_run_give(hak_slab *head, bool zeroed, bool aged) {
    hak_lock_take(&hak_segment_lock);
    hak_run_give_locked(head, zeroed, aged);
    hak_lock_give(&hak_segment_lock);
}

bool hak_run_extend(hak_slab *head, size_t pages) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t behind = (size_t)(head - r->slabs) + head->pages, more = pages - head->pages;
    hak_dirty_make_room_for(more);
    hak_lock_take(&hak_segment_lock);
    bool is_free = hak_pages_are_free(r, behind, more) && !hak_quota_refuses(r, behind, more);
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
