#include "pages/tables.h"

#include "base/bits.h"
#include "pages/range.h"
#include "pages/room.h"
#include "policy/policy.h"

enum {
    /* Segments for which tables are mapped at a time: 128 MiB, or 16 where tables are large. */
    TABLE_STEP = HAK_GUARD || HAK_HARDENED ? 8 : 64,
};

/* ---- where they lie ---- */

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
        return HAK_SEGMENT_SIZE >> HAK_MARK_SHIFT(table - HAK_TABLE_MARKS);
    return bytes[table];
}

/* Bytes of a table that spans `segments` segments of a range that can have `most`: the upper levels
 * of its rooms are small, and there from the beginning. */
static size_t table_size(enum hak_table table, size_t segments, size_t most) {
    size_t bytes = table == HAK_TABLE_ABOVE ? hak_rooms_above(most) : bytes_each(table) * segments;
    return hak_round_up(bytes, hak_os_page_size());
}

/* Behind each table lies a page that nothing is mapped to. */
size_t hak_tables_size(size_t segments) {
    size_t size = 0;
    for (enum hak_table table = 0; table < HAK_TABLES; table++)
        size += table_size(table, segments, segments) + hak_os_page_size();
    return hak_round_up(size, HAK_SEGMENT_SIZE);
}

void hak_tables_lay_out(hak_range *r, uintptr_t start, size_t segments) {
    r->base = r->mapped = start + hak_tables_size(segments);
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

/* ---- mapping them ---- */

enum hak_commit hak_range_map(const hak_range *r, uintptr_t *mapped, uintptr_t to) {
    if (to <= *mapped)
        return HAK_COMMITTED;
    void *start = (void *)*mapped;
    size_t size = to - *mapped;
    enum hak_commit done = hak_os_commit(start, size, r->is_reserved);
    if (done != HAK_COMMITTED)
        return done;
    hak_os_huge_pages(start, size, (enum hak_huge_pages)hak_policy_now()->huge_pages);
    *mapped = to;
    return done;
}

static enum hak_commit grow_table(hak_range *r, enum hak_table table, size_t segments) {
    uintptr_t to = r->tables[table].start + table_size(table, segments, r->segments_most);
    return hak_range_map(r, &r->tables[table].mapped, to);
}

/* Hardened builds: what free asks (pages/range.h). */
static void widen_pass(hak_range *r, size_t pages) {
    size_t grains = r->pass->is_closed ? 0 : pages << (HAK_PAGE_SHIFT - HAK_GRAIN_SHIFT);
    r->pass->first = r->base >> HAK_GRAIN_SHIFT;
    __atomic_store_n(&r->pass->grains, grains, __ATOMIC_RELEASE);
}

static enum hak_commit grow_to(hak_range *r, size_t segments) {
    for (enum hak_table table = 0; table < HAK_TABLES; table++) {
        enum hak_commit done = grow_table(r, table, segments);
        if (done != HAK_COMMITTED)
            return done;
    }
    __atomic_store_n(&r->limit, segments * HAK_PAGES_PER_SEGMENT, __ATOMIC_RELEASE);
    if (HAK_HARDENED)
        widen_pass(r, segments * HAK_PAGES_PER_SEGMENT);
    return HAK_COMMITTED;
}

enum hak_commit hak_tables_grow(hak_range *r, size_t segments) {
    enum hak_commit done = HAK_COMMITTED;
    while (done == HAK_COMMITTED && r->limit < segments * HAK_PAGES_PER_SEGMENT) {
        size_t end = r->limit / HAK_PAGES_PER_SEGMENT + TABLE_STEP;
        done = grow_to(r, end < r->segments_most ? end : r->segments_most);
    }
    return done;
}

void hak_tables_drop(hak_range *r) {
    for (enum hak_table table = 0; table < HAK_TABLES; table++) {
        uintptr_t start = r->tables[table].start, end = r->tables[table].mapped;
        if (start < end)
            hak_os_unmap((void *)start, end - start);
        r->tables[table].mapped = start;
    }
}

/* ---- giving their memory back ---- */

static bool holds_nothing(const hak_range *r, size_t index) {
    return index >= r->segments_fresh ||
           (r->segments[index].used | r->segments[index].touched) == 0;
}

/* Purges the part of a table that belongs to segments first .. end alone. */
static void purge_part(const hak_range *r, enum hak_table table, size_t first, size_t end) {
    const char *start = (const char *)r->tables[table].start;
    size_t bytes = bytes_each(table);
    size_t per_page = hak_os_page_size() / bytes; /* segments that share a system page, or 0 */
    if (per_page > 1) {
        while (first % per_page != 0 && first > 0 && holds_nothing(r, first - 1))
            first--;
        while (end % per_page != 0 && holds_nothing(r, end))
            end++;
    }
    hak_os_purge_within(start + first * bytes, start + end * bytes);
}

void hak_tables_expect_slab(const hak_slab *slab) {
    hak_range *r = hak_range_of((void *)slab->start);
    HAK_EACH_SEGMENT(i, (size_t)(slab - r->slabs), slab->pages)
        atomic_store_explicit(&r->segments[i].has_slabs, true, memory_order_relaxed);
}

static bool forget_slabs(hak_range *r, size_t first, size_t end) {
    bool had = false;
    for (size_t i = first; i < end; i++)
        had |= atomic_exchange_explicit(&r->segments[i].has_slabs, false, memory_order_relaxed);
    return had;
}

void hak_tables_purge(hak_range *r, size_t first_page, size_t end_page) {
    size_t first = first_page / HAK_PAGES_PER_SEGMENT;
    size_t end = (end_page + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
    if (first < end && !holds_nothing(r, first))
        first++;
    if (first < end && !holds_nothing(r, end - 1))
        end--;
    if (first == end || !forget_slabs(r, first, end))
        return;
    purge_part(r, HAK_TABLE_BITMAPS, first, end);
    purge_part(r, HAK_TABLE_SLABS, first, end);
    if (HAK_GUARD)
        purge_part(r, HAK_TABLE_RECORDS, first, end);
    for (enum hak_table table = HAK_TABLE_MARKS; table < HAK_TABLES; table++)
        purge_part(r, table, first, end);
}
