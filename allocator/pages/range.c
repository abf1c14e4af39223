#include "pages/range.h"

#include "base/bits.h"
#include "os/os.h"
#include "pages/excess.h"
#include "pages/room.h"
#include "policy/policy.h"
#include "stats/stats.h"

enum {
    TABLE_STEP = 64,    /* segments for which tables are committed at a time: 128 MiB */
    SMALLEST = 8,       /* segments in a first reservation worth having */
    SHARE_OF_LIMIT = 4, /* a first reservation takes at most 1/4 of a limited address space */
    FURTHER = 512,      /* segments in a further range, when the system grants them: 1 GiB */
    AHEAD = 4,          /* 1/4 more is made usable than is needed now */
    MOST = 1 << 28,     /* segments in a range: as many as the levels of pages/room.h span */
};

hak_range hak_ranges[HAK_MAX_RANGES];
static _Atomic size_t range_count;

size_t hak_range_count(void) {
    return atomic_load_explicit(&range_count, memory_order_acquire);
}

size_t hak_range_pages(void) {
    size_t pages = 0;
    for (size_t i = 0; i < hak_range_count(); i++)
        pages += HAK_READ_GROWING(hak_ranges[i].limit);
    return pages;
}

hak_range *hak_range_of(const void *p) {
    size_t count = hak_range_count();
    for (size_t i = 0; i < count; i++) {
        hak_range *r = &hak_ranges[i];
        if (hak_page_index(r, p) < HAK_READ_GROWING(r->limit))
            return r;
    }
    return NULL;
}

hak_slab *hak_run_elsewhere(const void *p) {
    hak_range *r = hak_range_of(p);
    if (r == NULL)
        return NULL;
    hak_slab *s = &r->slabs[hak_page_index(r, p)];
    return s - s->tail;
}

unsigned hak_class_elsewhere(const void *p) {
    const hak_range *r = hak_range_of(p);
    return r != NULL ? hak_class_in(r, p) : HAK_CLASS_NONE;
}

uintptr_t hak_owner_elsewhere(const void *p) {
    const hak_range *r = hak_range_of(p);
    if (r == NULL)
        return 0;
    return atomic_load_explicit(&r->owners[hak_page_index(r, p)], memory_order_relaxed);
}

/* Bytes of each table of a range, in the order in which they lie in memory. */
typedef struct tables {
    size_t classes, owners, slabs, bitmaps, segments, rooms, records, total;
} tables;

/* A table takes whole pages of the system. In guard builds one more lies behind each, and faults.
 */
static size_t pages_of(size_t bytes) {
    return hak_round_up(bytes, hak_os_page_size()) + HAK_GUARD * hak_os_page_size();
}

static tables tables_for(size_t segments) {
    size_t pages = segments * HAK_PAGES_PER_SEGMENT;
    tables t = {.classes = pages_of(pages),
                .owners = pages_of(pages * sizeof(uintptr_t)),
                .slabs = pages_of(pages * sizeof(hak_slab)),
                .bitmaps = pages_of(pages * HAK_BITMAP_WORDS * sizeof(uint64_t)),
                .segments = pages_of(segments * sizeof(hak_segment)),
                .rooms = pages_of(hak_rooms_size(segments)),
                .records = HAK_GUARD * pages_of(pages * HAK_RECORD_BYTES)};
    size_t sum = t.classes + t.owners + t.slabs + t.bitmaps + t.segments + t.rooms;
    t.total = hak_round_up(sum + t.records, HAK_SEGMENT_SIZE);
    return t;
}

static void lay_out(hak_range *r, char *start, const tables *t, size_t segments) {
    r->base = (uintptr_t)start + t->total;
    r->classes = (uint8_t *)start;
    start += t->classes;
    r->owners = (_Atomic(uintptr_t) *)(void *)start;
    start += t->owners;
    r->slabs = (hak_slab *)(void *)start;
    start += t->slabs;
    r->bitmaps = (uint64_t (*)[HAK_BITMAP_WORDS])(void *)start;
    start += t->bitmaps;
    r->segments = (hak_segment *)(void *)start;
    start += t->segments;
    hak_rooms_lay_out(r, start, segments);
    if (HAK_GUARD)
        *r->records = start + t->rooms;
}

static bool try_reserve(hak_range *r, size_t segments) {
    tables t = tables_for(segments);
    size_t size = t.total + segments * HAK_SEGMENT_SIZE;
    char *start = hak_os_reserve(size, HAK_SEGMENT_SIZE);
    if (start == NULL)
        return false;
    hak_os_huge_pages(start, size, (enum hak_huge_pages)hak_policy_now()->huge_pages);
    lay_out(r, start, &t, segments);
    r->segments_reserved = segments;
    return true;
}

/* Reserves `segments` or, halving until the system grants it, at least `least`. */
static bool reserve(hak_range *r, size_t segments, size_t least) {
    while (!try_reserve(r, segments)) {
        if (segments <= least)
            return false;
        segments = segments / 2 > least ? segments / 2 : least;
    }
    return true;
}

static size_t first_size(void) {
    size_t wanted = hak_policy_now()->reserve_mib * (size_t)1048576 / HAK_SEGMENT_SIZE;
    size_t allowed = hak_os_address_space_limit() / SHARE_OF_LIMIT / HAK_SEGMENT_SIZE;
    return wanted < allowed ? wanted : allowed;
}

hak_range *hak_range_add(size_t least) {
    size_t index = hak_range_count();
    if (index == HAK_MAX_RANGES || least > MOST)
        return NULL;
    size_t wanted = index == 0 ? first_size() : FURTHER;
    if (index == 0) {
        hak_excess_start();
        least = least > SMALLEST ? least : SMALLEST;
    }
    hak_range *r = &hak_ranges[index];
    if (!reserve(r, wanted > least ? wanted : least, least))
        return NULL;
    HAK_COUNT(ranges_made, 1);
    atomic_store_explicit(&range_count, index + 1, memory_order_release);
    return r;
}

/* Where the system allows no more mappings, usable space can still grow as long as it differs from
 * the rest in nothing else: not in whether core files contain it, either. So after a refusal the
 * next attempt may succeed. */
static bool commit(const hak_range *r, uintptr_t from, uintptr_t to) {
    bool done = hak_os_commit((void *)from, to - from);
    if (!done)
        hak_os_dump((void *)from, r->base + r->segments_reserved * HAK_SEGMENT_SIZE - from);
    return done;
}

/* Commits the part of a table that holds the entries first .. first + count. */
static bool commit_part(const hak_range *r, void *table, size_t entry, size_t first, size_t count) {
    size_t unit = hak_os_page_size();
    uintptr_t from = hak_round_down((uintptr_t)table + first * entry, unit);
    uintptr_t to = hak_round_up((uintptr_t)table + (first + count) * entry, unit);
    return commit(r, from, to);
}

static bool grow_tables(hak_range *r, size_t segments) {
    while (r->segments_ready < segments) {
        size_t first = r->segments_ready, count = r->segments_reserved - first;
        if (count > TABLE_STEP)
            count = TABLE_STEP;
        size_t page = first * HAK_PAGES_PER_SEGMENT, pages = count * HAK_PAGES_PER_SEGMENT;
        if (!commit_part(r, r->classes, 1, page, pages) ||
            !commit_part(r, r->owners, sizeof(uintptr_t), page, pages) ||
            !commit_part(r, r->slabs, sizeof(hak_slab), page, pages) ||
            !commit_part(r, r->bitmaps, sizeof r->bitmaps[0], page, pages) ||
            !commit_part(r, r->segments, sizeof(hak_segment), first, count) ||
            !commit_part(r, r->rooms[0], sizeof(hak_room), first, count) ||
            (first == 0 &&
             !commit_part(r, r->rooms[1], 1, 0, hak_rooms_above(r->segments_reserved))))
            return false;
        r->segments_ready = first + count;
        __atomic_store_n(&r->limit, page + pages, __ATOMIC_RELEASE);
    }
    return true;
}

/* ---- growing ---- */

/* Segments that r lacks to end with `pages` free pages. */
static size_t missing(const hak_range *r, size_t pages) {
    size_t more = pages - hak_room_at_end(r);
    return (more + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
}

bool hak_range_can_grow(const hak_range *r, size_t pages) {
    return missing(r, pages) <= r->segments_reserved - r->segments_fresh;
}

static hak_range *range_with_room(size_t pages) {
    size_t ranges = hak_range_count();
    for (size_t i = 0; i < ranges; i++) {
        if (hak_range_can_grow(&hak_ranges[i], pages))
            return &hak_ranges[i];
    }
    return hak_range_add((pages + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT);
}

/* Makes segments usable up to `end`; ahead of need where the system grants it, so that a growing
 * program asks seldom. */
static bool commit_segments(hak_range *r, size_t end) {
    size_t from = r->segments_usable, ahead = end + (end - 1) / AHEAD;
    if (end <= from)
        return true;
    size_t ends[] = {ahead < r->segments_ready ? ahead : r->segments_ready, end};
    for (unsigned i = 0; i < 2; i++) {
        if (commit(r, r->base + from * HAK_SEGMENT_SIZE, r->base + ends[i] * HAK_SEGMENT_SIZE)) {
            r->segments_usable = ends[i];
            return true;
        }
    }
    return false;
}

hak_range *hak_range_grow(hak_range *first, size_t pages) {
    hak_range *r =
        first != NULL && hak_range_can_grow(first, pages) ? first : range_with_room(pages);
    if (r == NULL)
        return NULL;
    size_t from = r->segments_fresh, end = from + missing(r, pages);
    if (!grow_tables(r, end) || !commit_segments(r, end))
        return NULL;
    for (size_t i = from; i < end; i++)
        r->segments[i].range = r;
    r->segments_fresh = end;
    hak_rooms_note(r, from * HAK_PAGES_PER_SEGMENT, (end - from) * HAK_PAGES_PER_SEGMENT, false);
    HAK_COUNT(segments_made, end - from);
    return r;
}

/* ---- giving the tables' memory back ---- */

/* Purges the whole system pages between two addresses. */
static void purge_within(uintptr_t from, uintptr_t to) {
    from = hak_round_up(from, hak_os_page_size());
    to = hak_round_down(to, hak_os_page_size());
    if (from < to)
        hak_os_purge((void *)from, to - from);
}

static bool holds_nothing(const hak_range *r, size_t index) {
    return index >= r->segments_fresh ||
           (r->segments[index].used | r->segments[index].touched) == 0;
}

/* Purges the part of a table that belongs to segments first .. end alone. */
static void purge_part(const hak_range *r, void *table, size_t bytes, size_t first, size_t end) {
    size_t per_page = hak_os_page_size() / bytes; /* segments that share a system page, or 0 */
    if (per_page > 1) {
        while (first % per_page != 0 && first > 0 && holds_nothing(r, first - 1))
            first--;
        while (end % per_page != 0 && holds_nothing(r, end))
            end++;
    }
    purge_within((uintptr_t)table + first * bytes, (uintptr_t)table + end * bytes);
}

void hak_range_expect_slab(const hak_slab *slab) {
    hak_range *r = hak_range_of((void *)slab->start);
    size_t page = (size_t)(slab - r->slabs), last = page + slab->pages - 1;
    for (size_t i = page / HAK_PAGES_PER_SEGMENT; i <= last / HAK_PAGES_PER_SEGMENT; i++)
        atomic_store_explicit(&r->segments[i].has_slabs, true, memory_order_relaxed);
}

static bool forget_slabs(hak_range *r, size_t first, size_t end) {
    bool had = false;
    for (size_t i = first; i < end; i++)
        had |= atomic_exchange_explicit(&r->segments[i].has_slabs, false, memory_order_relaxed);
    return had;
}

void hak_range_purge_tables(hak_range *r, size_t first_page, size_t end_page) {
    size_t first = first_page / HAK_PAGES_PER_SEGMENT;
    size_t end = (end_page + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
    if (first < end && !holds_nothing(r, first))
        first++;
    if (first < end && !holds_nothing(r, end - 1))
        end--;
    if (first == end || !forget_slabs(r, first, end))
        return;
    purge_part(r, r->bitmaps, sizeof r->bitmaps[0] * HAK_PAGES_PER_SEGMENT, first, end);
    purge_part(r, r->slabs, sizeof(hak_slab) * HAK_PAGES_PER_SEGMENT, first, end);
    if (HAK_GUARD)
        purge_part(r, *r->records, HAK_RECORD_BYTES * HAK_PAGES_PER_SEGMENT, first, end);
}
