#include "pages/range.h"

#include "base/bits.h"
#include "base/probe.h"
#include "os/os.h"
#include "pages/room.h"
#include "policy/policy.h"
#include "stats/stats.h"

enum {
    /* Segments for which tables are mapped at a time: 128 MiB, or 16 where tables are large. */
    TABLE_STEP = HAK_GUARD || HAK_HARDENED ? 8 : 64,
    TRIES = 8,          /* places, each free but once in a million: other libraries plan, too */
    SMALLEST = 8,       /* segments in a first reservation worth having */
    SHARE_OF_LIMIT = 4, /* a reservation takes at most 1/4 of a limited address space */
    FURTHER = 512,      /* segments in a further range: 1 GiB */
    AHEAD = 4,          /* 1/4 more is made usable than is needed now */
    MOST = 1 << 28,     /* segments in a range: as many as the levels of pages/room.h span */
};

hak_range hak_ranges[HAK_MAX_RANGES];
static HAK_EARLY _Atomic size_t range_count;

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

/* ---- the plan of a range ---- */

/* Bytes of a table for each segment. */
static size_t bytes_each(enum hak_table table) {
    static const size_t bytes[HAK_TABLES] = {
        [HAK_TABLE_CLASSES] = HAK_PAGES_PER_SEGMENT,
        [HAK_TABLE_OWNERS] = HAK_PAGES_PER_SEGMENT * sizeof(uintptr_t),
        [HAK_TABLE_SLABS] = HAK_PAGES_PER_SEGMENT * sizeof(hak_slab),
        [HAK_TABLE_BITMAPS] = HAK_PAGES_PER_SEGMENT * sizeof(uint64_t[HAK_BITMAP_WORDS]),
        [HAK_TABLE_SEGMENTS] = sizeof(hak_segment),
        [HAK_TABLE_ROOMS] = sizeof(hak_room),
        [HAK_TABLE_RECORDS] = HAK_PAGES_PER_SEGMENT * HAK_RECORD_BYTES * HAK_GUARD,
    };
    if (table >= HAK_TABLE_MARKS)
        return (HAK_SEGMENT_SIZE >> HAK_MARK_SHIFT(table - HAK_TABLE_MARKS)) * sizeof(uint16_t);
    return bytes[table];
}

/* Bytes of a table that spans `segments` segments of a range that can have `most`: the upper levels
 * of its rooms are small, and there from the beginning. */
static size_t table_size(enum hak_table table, size_t segments, size_t most) {
    size_t bytes = table == HAK_TABLE_ABOVE ? hak_rooms_above(most) : bytes_each(table) * segments;
    if (table >= HAK_TABLE_MARKS)
        bytes += HAK_CACHE_LINE; /* marks begin within the first line */
    return hak_round_up(bytes, hak_os_page_size());
}

/* Behind each table lies a page that nothing is mapped to. */
static size_t tables_size(size_t segments) {
    size_t size = 0;
    for (enum hak_table table = 0; table < HAK_TABLES; table++)
        size += table_size(table, segments, segments) + hak_os_page_size();
    return hak_round_up(size, HAK_SEGMENT_SIZE);
}

static void lay_out(hak_range *r, uintptr_t start, size_t segments) {
    r->base = start + tables_size(segments);
    r->segments_most = segments;
    for (enum hak_table table = 0; table < HAK_TABLES; table++) {
        r->tables[table].start = r->tables[table].mapped = start;
        start += table_size(table, segments, segments) + hak_os_page_size();
    }
    r->classes = (uint8_t *)r->tables[HAK_TABLE_CLASSES].start;
    r->owners = (_Atomic(uintptr_t) *)r->tables[HAK_TABLE_OWNERS].start;
    r->slabs = (hak_slab *)r->tables[HAK_TABLE_SLABS].start;
    r->bitmaps = (uint64_t (*)[HAK_BITMAP_WORDS])r->tables[HAK_TABLE_BITMAPS].start;
    r->segments = (hak_segment *)r->tables[HAK_TABLE_SEGMENTS].start;
    hak_rooms_lay_out(r, (hak_room *)r->tables[HAK_TABLE_ROOMS].start,
                      (hak_room *)r->tables[HAK_TABLE_ABOVE].start, segments);
    if (HAK_GUARD)
        *r->records = (char *)r->tables[HAK_TABLE_RECORDS].start;
}

/* ---- mapping it ---- */

static enum hak_commit commit(const hak_range *r, uintptr_t from, uintptr_t to) {
    enum hak_commit done = hak_os_commit((void *)from, to - from, r->is_reserved);
    if (done == HAK_COMMITTED)
        hak_os_huge_pages((void *)from, to - from,
                          (enum hak_huge_pages)hak_policy_now()->huge_pages);
    return done;
}

static enum hak_commit grow_table(hak_range *r, enum hak_table table, size_t segments) {
    uintptr_t from = r->tables[table].mapped;
    uintptr_t to = r->tables[table].start + table_size(table, segments, r->segments_most);
    enum hak_commit done = from < to ? commit(r, from, to) : HAK_COMMITTED;
    if (done == HAK_COMMITTED && from < to)
        r->tables[table].mapped = to;
    return done;
}

static enum hak_commit grow_tables_to(hak_range *r, size_t segments) {
    for (enum hak_table table = 0; table < HAK_TABLES; table++) {
        enum hak_commit done = grow_table(r, table, segments);
        if (done != HAK_COMMITTED)
            return done;
    }
    r->segments_ready = segments;
    __atomic_store_n(&r->limit, segments * HAK_PAGES_PER_SEGMENT, __ATOMIC_RELEASE);
    return HAK_COMMITTED;
}

static enum hak_commit grow_tables(hak_range *r, size_t segments) {
    enum hak_commit done = HAK_COMMITTED;
    while (done == HAK_COMMITTED && r->segments_ready < segments) {
        size_t end = r->segments_ready + TABLE_STEP;
        done = grow_tables_to(r, end < r->segments_most ? end : r->segments_most);
    }
    return done;
}

/* Makes segments usable up to `end`; ahead of need where the system grants it, so that a growing
 * program asks seldom. */
static enum hak_commit commit_segments(hak_range *r, size_t end) {
    size_t from = r->segments_usable, ahead = end + (end - 1) / AHEAD;
    if (end <= from)
        return HAK_COMMITTED;
    size_t ends[] = {ahead < r->segments_ready ? ahead : r->segments_ready, end};
    enum hak_commit done = HAK_REFUSED;
    for (unsigned i = 0; i < 2 && done != HAK_COMMITTED; i++) {
        done = commit(r, r->base + from * HAK_SEGMENT_SIZE, r->base + ends[i] * HAK_SEGMENT_SIZE);
        if (done == HAK_COMMITTED)
            r->segments_usable = ends[i];
    }
    return done;
}

/* ---- adding one ---- */

/* The first tables show whether the place is free. */
static bool add_plan(hak_range *r, size_t segments) {
    enum hak_commit done = HAK_TAKEN;
    for (int tries = 0; tries < TRIES && done == HAK_TAKEN; tries++) {
        void *start =
            hak_os_plan(tables_size(segments) + segments * HAK_SEGMENT_SIZE, HAK_SEGMENT_SIZE);
        if (start == NULL)
            return false;
        lay_out(r, (uintptr_t)start, segments);
        done = grow_tables(r, 1);
    }
    return done == HAK_COMMITTED;
}

static bool try_to_reserve(hak_range *r, size_t segments) {
    void *start =
        hak_os_reserve(tables_size(segments) + segments * HAK_SEGMENT_SIZE, HAK_SEGMENT_SIZE);
    if (start == NULL)
        return false;
    r->is_reserved = true;
    lay_out(r, (uintptr_t)start, segments);
    return true;
}

/* Where the system wants to choose the place itself. Reserves `segments` or, halving until the
 * system grants it, at least `least`. */
static bool add_reservation(hak_range *r, size_t segments, size_t least) {
    size_t allowed = hak_os_address_space_limit() / SHARE_OF_LIMIT / HAK_SEGMENT_SIZE;
    segments = segments < allowed ? segments : allowed > least ? allowed : least;
    while (!try_to_reserve(r, segments)) {
        if (segments <= least)
            return false;
        segments = segments / 2 > least ? segments / 2 : least;
    }
    return true;
}

hak_range *hak_range_add(size_t least) {
    size_t index = hak_range_count();
    if (index == HAK_MAX_RANGES || least > MOST)
        return NULL;
    size_t first = hak_policy_now()->reserve_mib * (size_t)1048576 / HAK_SEGMENT_SIZE;
    size_t wanted = index == 0 ? first : FURTHER;
    if (index == 0)
        least = least > SMALLEST ? least : SMALLEST;
    wanted = wanted > least ? wanted : least;
    hak_range *r = &hak_ranges[index];
    if (r->segments_ready != 0)
        *r = (hak_range){0}; /* in a forked child: another thread was making it */
    if (!add_plan(r, wanted) && !add_reservation(r, wanted, least))
        return NULL;
    HAK_COUNT(ranges_made, 1);
    atomic_store_explicit(&range_count, index + 1, memory_order_release);
    return r;
}

/* ---- growing ---- */

/* Segments that r lacks to end with `pages` free pages. */
static size_t missing(const hak_range *r, size_t pages) {
    size_t there = hak_room_at_end(r), more = pages > there ? pages - there : 0;
    return (more + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
}

bool hak_range_can_grow(const hak_range *r, size_t pages) {
    return missing(r, pages) <= r->segments_most - r->segments_fresh;
}

static hak_range *range_with_room(size_t pages) {
    size_t ranges = hak_range_count();
    for (size_t i = 0; i < ranges; i++) {
        if (hak_range_can_grow(&hak_ranges[i], pages))
            return &hak_ranges[i];
    }
    return hak_range_add((pages + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT);
}

/* Address space that is taken ends the range where it is. */
static bool make_ready(hak_range *r, size_t end) {
    enum hak_commit done = grow_tables(r, end);
    if (done == HAK_COMMITTED)
        done = commit_segments(r, end);
    if (done == HAK_TAKEN)
        r->segments_most = r->segments_fresh;
    return done == HAK_COMMITTED;
}

static void hand_out(hak_range *r, size_t end) {
    size_t from = r->segments_fresh;
    if (from == end)
        return; /* another range than the one that was asked for has room already */
    for (size_t i = from; i < end; i++)
        r->segments[i].range = r;
    r->segments_fresh = end;
    hak_rooms_note(r, from * HAK_PAGES_PER_SEGMENT, (end - from) * HAK_PAGES_PER_SEGMENT, false);
    HAK_PROBE(growth, r->base + from * HAK_SEGMENT_SIZE, (end - from) * HAK_SEGMENT_SIZE);
    HAK_COUNT(segments_made, end - from);
}

hak_range *hak_range_grow(hak_range *first, size_t pages) {
    hak_range *r =
        first != NULL && hak_range_can_grow(first, pages) ? first : range_with_room(pages);
    if (r == NULL)
        return NULL;
    size_t end = r->segments_fresh + missing(r, pages);
    if (end == r->segments_fresh)
        return r;
    if (make_ready(r, end)) {
        hand_out(r, end);
        return r;
    }
    return hak_range_can_grow(r, pages) ? NULL : hak_range_grow(NULL, pages);
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

/* The last marks of a segment lie in the first line of the next one's. */
static void purge_marks(const hak_range *r, size_t first, size_t end) {
    bool alone = first == 0 || holds_nothing(r, first - 1);
    for (enum hak_table table = HAK_TABLE_MARKS; table < HAK_TABLES; table++) {
        uintptr_t start = r->tables[table].start, bytes = bytes_each(table);
        purge_within(start + first * bytes + (alone ? 0 : HAK_CACHE_LINE), start + end * bytes);
    }
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
    purge_marks(r, first, end);
}
