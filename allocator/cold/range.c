#include "cold/range.h"

#include "base/bits.h"
#include "os/os.h"
#include "policy/policy.h"
#include "stats/stats.h"

enum {
    TABLE_STEP = 64,    /* segments for which tables are committed at a time: 128 MiB */
    SMALLEST = 8,       /* segments in a first reservation worth having */
    SHARE_OF_LIMIT = 4, /* a first reservation takes at most 1/4 of a limited address space */
    FURTHER = 512,      /* segments in a further range, when the system grants them: 1 GiB */
};

hak_range hak_ranges[HAK_MAX_RANGES];
static _Atomic size_t range_count;

size_t hak_range_count(void) {
    return atomic_load_explicit(&range_count, memory_order_acquire);
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
    size_t classes, owners, slabs, bitmaps, segments, free_segments, total;
} tables;

static tables tables_for(size_t segments) {
    size_t unit = hak_os_page_size(), pages = segments * HAK_PAGES_PER_SEGMENT;
    tables t = {.classes = hak_round_up(pages, unit),
                .owners = hak_round_up(pages * sizeof(uintptr_t), unit),
                .slabs = hak_round_up(pages * sizeof(hak_slab), unit),
                .bitmaps = hak_round_up(pages * HAK_BITMAP_WORDS * sizeof(uint64_t), unit),
                .segments = hak_round_up(segments * sizeof(hak_segment), unit),
                .free_segments = hak_round_up(segments / 8 + 8, unit)};
    size_t sum = t.classes + t.owners + t.slabs + t.bitmaps + t.segments + t.free_segments;
    t.total = hak_round_up(sum, HAK_SEGMENT_SIZE);
    return t;
}

static void lay_out(hak_range *r, char *start, const tables *t) {
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
    r->free_segments = (uint64_t *)(void *)start;
}

static bool try_reserve(hak_range *r, size_t segments) {
    tables t = tables_for(segments);
    size_t size = t.total + segments * HAK_SEGMENT_SIZE;
    char *start = hak_os_reserve(size, HAK_SEGMENT_SIZE);
    if (start == NULL)
        return false;
    hak_os_huge_pages(start, size, (enum hak_huge_pages)hak_policy_now()->huge_pages);
    lay_out(r, start, &t);
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

static hak_range *add_range(size_t least) {
    size_t index = hak_range_count();
    if (index == HAK_MAX_RANGES)
        return NULL;
    size_t wanted = index == 0 ? first_size() : FURTHER;
    if (index == 0 && least < SMALLEST)
        least = SMALLEST;
    hak_range *r = &hak_ranges[index];
    if (!reserve(r, wanted > least ? wanted : least, least))
        return NULL;
    HAK_COUNT(ranges_made, 1);
    atomic_store_explicit(&range_count, index + 1, memory_order_release);
    return r;
}

/* Commits the part of a table that holds the entries first .. first + count. */
static bool commit_part(void *table, size_t entry, size_t first, size_t count) {
    size_t unit = hak_os_page_size();
    uintptr_t from = hak_round_down((uintptr_t)table + first * entry, unit);
    uintptr_t to = hak_round_up((uintptr_t)table + (first + count) * entry, unit);
    return hak_os_commit((void *)from, to - from);
}

static bool grow_tables(hak_range *r, size_t segments) {
    while (r->segments_ready < segments) {
        size_t first = r->segments_ready, count = r->segments_reserved - first;
        if (count > TABLE_STEP)
            count = TABLE_STEP;
        size_t page = first * HAK_PAGES_PER_SEGMENT, pages = count * HAK_PAGES_PER_SEGMENT;
        if (!commit_part(r->classes, 1, page, pages) ||
            !commit_part(r->owners, sizeof(uintptr_t), page, pages) ||
            !commit_part(r->slabs, sizeof(hak_slab), page, pages) ||
            !commit_part(r->bitmaps, sizeof r->bitmaps[0], page, pages) ||
            !commit_part(r->segments, sizeof(hak_segment), first, count) ||
            !commit_part(r->free_segments, 1, first / 8, count / 8 + 8))
            return false;
        r->segments_ready = first + count;
        __atomic_store_n(&r->limit, page + pages, __ATOMIC_RELEASE);
    }
    return true;
}

/* Index of the first segment never used that is aligned to `align` segments. */
static size_t first_fresh(const hak_range *r, size_t align) {
    uintptr_t next = r->base + r->segments_fresh * HAK_SEGMENT_SIZE;
    return (hak_round_up(next, align * HAK_SEGMENT_SIZE) - r->base) / HAK_SEGMENT_SIZE;
}

static bool has_room(const hak_range *r, size_t count, size_t align) {
    size_t first = first_fresh(r, align);
    return first <= r->segments_reserved && count <= r->segments_reserved - first;
}

static hak_range *range_with_room(size_t count, size_t align) {
    size_t ranges = hak_range_count();
    for (size_t i = 0; i < ranges; i++)
        if (has_room(&hak_ranges[i], count, align))
            return &hak_ranges[i];
    return add_range(count + align - 1);
}

static void name_segments(hak_range *r, size_t from, size_t end) {
    for (size_t i = from; i < end; i++) {
        r->segments[i].start = r->base + i * HAK_SEGMENT_SIZE;
        r->segments[i].range = r;
        r->segments[i].bin = HAK_NO_BIN;
    }
}

hak_segment *hak_range_fresh(size_t count, size_t align, size_t *skipped) {
    hak_range *r = range_with_room(count, align);
    if (r == NULL)
        return NULL;
    size_t from = r->segments_fresh, first = first_fresh(r, align), end = first + count;
    void *start = (void *)(r->base + from * HAK_SEGMENT_SIZE);
    if (!grow_tables(r, end) || !hak_os_commit(start, (end - from) * HAK_SEGMENT_SIZE))
        return NULL;
    name_segments(r, from, end);
    r->segments_fresh = end;
    HAK_COUNT(segments_made, end - from);
    *skipped = first - from;
    return &r->segments[first];
}

/* Purges the whole system pages between two addresses. */
static void purge_within(uintptr_t from, uintptr_t to) {
    from = hak_round_up(from, hak_os_page_size());
    to = hak_round_down(to, hak_os_page_size());
    if (from < to)
        hak_os_purge((void *)from, to - from);
}

/* True when segments first .. last hold nothing, neither in use nor dirty. */
static bool hold_nothing(const hak_range *r, size_t first, size_t last) {
    for (size_t i = first; i <= last && i < r->segments_fresh; i++)
        if ((r->segments[i].used | r->segments[i].touched) != 0)
            return false;
    return true;
}

void hak_range_purge_tables(const hak_segment *s) {
    const hak_range *r = s->range;
    size_t entries = HAK_PAGES_PER_SEGMENT * sizeof(hak_slab), unit = hak_os_page_size();
    size_t index = (size_t)(s - r->segments), page = index * HAK_PAGES_PER_SEGMENT;
    purge_within((uintptr_t)&r->bitmaps[page],
                 (uintptr_t)&r->bitmaps[page + HAK_PAGES_PER_SEGMENT]);
    size_t from = hak_round_down(index * entries, unit);
    size_t to = hak_round_up((index + 1) * entries, unit);
    if (hold_nothing(r, from / entries, (to - 1) / entries))
        purge_within((uintptr_t)r->slabs + from, (uintptr_t)r->slabs + to);
}
