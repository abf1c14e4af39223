/* Free segments lie on six lists by the length of their longest free run:
 *
 *   bins[0] 1   bins[1] 2..3   bins[2] 4..7   bins[3] 8..15   bins[4] 16..31   bins[5] 32 pages
 *
 * A run of up to a segment comes from the first segment of a list that surely fits; a longer one
 * from consecutive free segments (a bitmap per range), else from segments never used. */
#include "cold/segment.h"

#include "base/bits.h"
#include "cold/range.h"
#include "stats/stats.h"

enum { CLOSE_LOOKS = 8 }; /* segments looked at on the list that perhaps fits */

hak_lock hak_segment_lock;
static hak_segment *bins[HAK_BINS];
static hak_segment *dirty_first, *dirty_last;
static _Atomic size_t dirty_segments;

/* ---- lists ---- */

static void unlink_from_bin(hak_segment *s) {
    if (s->bin == HAK_NO_BIN)
        return;
    if (s->prev != NULL)
        s->prev->next = s->next;
    else
        bins[s->bin] = s->next;
    if (s->next != NULL)
        s->next->prev = s->prev;
    s->bin = HAK_NO_BIN;
}

static void link_to_bin(hak_segment *s, uint8_t bin) {
    s->bin = bin;
    s->prev = NULL;
    s->next = bins[bin];
    if (s->next != NULL)
        s->next->prev = s;
    bins[bin] = s;
}

/* Keeps the range's bitmap of entirely free segments. */
static void note_if_free(hak_segment *s) {
    hak_range *r = s->range;
    size_t index = (size_t)(s - r->segments);
    uint64_t bit = (uint64_t)1 << (index % 64), *word = &r->free_segments[index / 64];
    bool is_free = s->used == 0, was_free = (*word & bit) != 0;
    if (is_free == was_free)
        return;
    *word ^= bit;
    if (is_free)
        r->segments_free++;
    else
        r->segments_free--;
}

void hak_segment_sort(hak_segment *s) {
    unsigned longest = hak_longest_run(~s->used);
    uint8_t bin = longest == 0 ? HAK_NO_BIN : (uint8_t)hak_highest_bit(longest);
    if (bin != s->bin) {
        unlink_from_bin(s);
        if (bin != HAK_NO_BIN)
            link_to_bin(s, bin);
    }
    note_if_free(s);
}

size_t hak_dirty_count(void) {
    return atomic_load_explicit(&dirty_segments, memory_order_relaxed);
}

static void count_dirty(size_t by) {
    atomic_store_explicit(&dirty_segments, hak_dirty_count() + by, memory_order_relaxed);
}

hak_segment *hak_dirty_pop(void) {
    hak_segment *s = dirty_first;
    if (s == NULL)
        return NULL;
    dirty_first = s->dirty_next;
    if (dirty_first == NULL)
        dirty_last = NULL;
    s->on_dirty_list = false;
    count_dirty((size_t)-1);
    return s;
}

void hak_dirty_push(hak_segment *s) {
    if (s->on_dirty_list)
        return;
    s->on_dirty_list = true;
    s->dirty_next = NULL;
    if (dirty_last != NULL)
        dirty_last->dirty_next = s;
    else
        dirty_first = s;
    dirty_last = s;
    count_dirty(1);
}

/* ---- claiming and freeing pages of one segment ---- */

static bool claim(hak_segment *s, uint32_t mask) {
    bool zeroed = (s->touched & mask) == 0;
    s->used |= mask;
    s->touched |= mask;
    s->aged &= ~mask;
    hak_segment_sort(s);
    return zeroed;
}

static void unclaim(hak_segment *s, uint32_t mask, bool zeroed) {
    s->used &= ~mask;
    if (zeroed)
        s->touched &= ~mask;
    else
        hak_dirty_push(s);
    hak_segment_sort(s);
}

/* The pages of segment `s` among pages first .. first + count of its range. */
static uint32_t mask_within(const hak_segment *s, size_t first, size_t count) {
    size_t base = (size_t)(s - s->range->segments) * HAK_PAGES_PER_SEGMENT;
    size_t from = first > base ? first - base : 0;
    size_t to = first + count - base;
    to = to < HAK_PAGES_PER_SEGMENT ? to : HAK_PAGES_PER_SEGMENT;
    return hak_mask32((unsigned)from, (unsigned)(to - from));
}

static bool claim_pages(hak_range *r, size_t first, size_t count) {
    bool zeroed = true;
    size_t last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = first / HAK_PAGES_PER_SEGMENT; i <= last; i++)
        zeroed &= claim(&r->segments[i], mask_within(&r->segments[i], first, count));
    return zeroed;
}

static void unclaim_pages(hak_range *r, size_t first, size_t count, bool zeroed) {
    size_t last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = first / HAK_PAGES_PER_SEGMENT; i <= last; i++)
        unclaim(&r->segments[i], mask_within(&r->segments[i], first, count), zeroed);
}

/* ---- finding room ---- */

typedef struct place {
    hak_range *range; /* NULL: none */
    size_t page;
} place;

static place place_in(hak_segment *s, unsigned position) {
    size_t first = (size_t)(s - s->range->segments) * HAK_PAGES_PER_SEGMENT;
    return (place){s->range, first + position};
}

static place find_within_segment(unsigned pages, unsigned align) {
    for (unsigned bin = hak_highest_bit(pages); bin < HAK_BINS; bin++) {
        hak_segment *s = bins[bin];
        for (int looks = 0; s != NULL && looks < CLOSE_LOOKS; s = s->next, looks++) {
            unsigned position = hak_find_run(~s->used, pages, align);
            if (position < HAK_PAGES_PER_SEGMENT)
                return place_in(s, position);
        }
    }
    return (place){NULL, 0};
}

static bool segment_is_free(const hak_range *r, size_t index) {
    return (r->free_segments[index / 64] >> (index % 64) & 1) != 0;
}

/* First of `count` consecutive free segments aligned to `align` segments in r. */
static place find_segments_in(hak_range *r, size_t count, size_t align) {
    size_t base = r->base >> HAK_SEGMENT_SHIFT, found = 0;
    for (size_t i = 0; r->segments_free >= count && i < r->segments_fresh; i++) {
        if (r->free_segments[i / 64] == 0) {
            found = 0;
            i |= 63; /* the whole word is taken */
        } else if (!segment_is_free(r, i)) {
            found = 0;
        } else if (found > 0 || ((base + i) & (align - 1)) == 0) {
            if (++found == count)
                return place_in(&r->segments[i - count + 1], 0);
        }
    }
    return (place){NULL, 0};
}

static place find_segments(size_t count, size_t align) {
    size_t ranges = hak_range_count();
    for (size_t i = 0; i < ranges; i++) {
        place p = find_segments_in(&hak_ranges[i], count, align);
        if (p.range != NULL)
            return p;
    }
    return (place){NULL, 0};
}

static place fresh_segments(size_t count, size_t align) {
    size_t skipped;
    hak_segment *s = hak_range_fresh(count, align, &skipped);
    if (s == NULL)
        return (place){NULL, 0};
    for (size_t i = 0; i < skipped + count; i++)
        hak_segment_sort(s - skipped + i);
    return place_in(s, 0);
}

static place find_pages(size_t pages, size_t align) {
    bool small = pages <= HAK_PAGES_PER_SEGMENT && align <= HAK_PAGES_PER_SEGMENT;
    size_t count = (pages + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
    size_t segment_align = align > HAK_PAGES_PER_SEGMENT ? align / HAK_PAGES_PER_SEGMENT : 1;
    place p = small ? find_within_segment((unsigned)pages, (unsigned)align)
                    : find_segments(count, segment_align);
    return p.range != NULL ? p : fresh_segments(count, segment_align);
}

/* ---- the interface ---- */

static hak_slab *head_at(place p, size_t pages) {
    hak_slab *head = &p.range->slabs[p.page];
    head->start = p.range->base + (p.page << HAK_PAGE_SHIFT);
    head->bitmap = p.range->bitmaps[p.page];
    head->pages = (uint32_t)pages;
    return head;
}

hak_slab *hak_run_take(size_t pages, size_t align, bool *zeroed) {
    hak_slab *head = NULL;
    hak_lock_take(&hak_segment_lock);
    place p = find_pages(pages, align);
    if (p.range != NULL) {
        *zeroed = claim_pages(p.range, p.page, pages);
        head = head_at(p, pages);
    }
    hak_lock_give(&hak_segment_lock);
    if (head != NULL)
        HAK_COUNT(runs_taken, 1);
    return head;
}

void hak_run_give(hak_slab *head, bool zeroed) {
    hak_range *r = hak_range_of((void *)head->start);
    hak_lock_take(&hak_segment_lock);
    head->kind = HAK_RUN_FREE;
    unclaim_pages(r, (size_t)(head - r->slabs), head->pages, zeroed);
    hak_lock_give(&hak_segment_lock);
    HAK_COUNT(runs_given, 1);
}

/* True when pages first .. first + count of r exist and are free. Under the lock. */
static bool pages_are_free(const hak_range *r, size_t first, size_t count) {
    size_t last = (first + count - 1) / HAK_PAGES_PER_SEGMENT;
    for (size_t i = first / HAK_PAGES_PER_SEGMENT; i <= last; i++)
        if (i >= r->segments_fresh ||
            (r->segments[i].used & mask_within(&r->segments[i], first, count)) != 0)
            return false;
    return true;
}

bool hak_run_extend(hak_slab *head, size_t pages) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t behind = (size_t)(head - r->slabs) + head->pages, more = pages - head->pages;
    hak_lock_take(&hak_segment_lock);
    bool is_free = pages_are_free(r, behind, more);
    if (is_free) {
        claim_pages(r, behind, more);
        head->pages = (uint32_t)pages;
    }
    hak_lock_give(&hak_segment_lock);
    return is_free;
}

void hak_run_trim(hak_slab *head, size_t pages) {
    hak_range *r = hak_range_of((void *)head->start);
    size_t first = (size_t)(head - r->slabs);
    hak_lock_take(&hak_segment_lock);
    unclaim_pages(r, first + pages, head->pages - pages, false);
    head->pages = (uint32_t)pages;
    hak_lock_give(&hak_segment_lock);
}
