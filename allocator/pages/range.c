#include "pages/range.h"

#include "base/bits.h"
#include "base/probe.h"
#include "os/os.h"
#include "pages/room.h"
#include "pages/tables.h"
#include "policy/policy.h"
#include "stats/stats.h"

enum {
    SHARE_OF_LIMIT = 4,      /* a reservation takes at most 1/4 of a limited address space */
    MOST_SEGMENTS = 1 << 28, /* segments in a range; the levels of pages/room.h span more */
};

/* Segments in a further range: it has room for any block that does not lie apart. */
#define FURTHER ((size_t)1 << (HAK_APART_BITS - HAK_SEGMENT_SHIFT))

_Alignas(4096) hak_range hak_ranges[HAK_MAX_RANGES];
static HAK_EARLY _Atomic size_t range_count;

size_t hak_range_count(void) {
    return atomic_load_explicit(&range_count, memory_order_acquire);
}

size_t hak_range_pages(void) {
    size_t pages = 0;
    HAK_EACH_RANGE(r)
        pages += HAK_READ_GROWING(r->limit);
    return pages;
}

hak_range *hak_range_of(const void *p) {
    HAK_EACH_RANGE(r)
        if (hak_page_index(r, p) < HAK_READ_GROWING(r->limit))
            return r;
    return NULL;
}

hak_slab *hak_run_elsewhere(const void *p) {
    const hak_range *r = hak_range_of(p);
    return r != NULL ? hak_run_at(r, hak_page_index(r, p)) : NULL;
}

const hak_slab *hak_run_covering(const hak_range *r, size_t page) {
    for (size_t back = page + 1; back-- > 0;) {
        const hak_slab *run = &r->slabs[back];
        if (run->kind != HAK_RUN_FREE)
            return back + run->pages > page ? run : NULL;
    }
    return NULL;
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

/* ---- adding one ---- */

/* Whether another range has these addresses, or may grow into them: a pointer lies in one alone. */
static bool are_planned(uintptr_t start, size_t size) {
    bool any = false;
    HAK_EACH_RANGE(r) {
        uintptr_t end =
            r->base + hak_most(r->segments_most * HAK_SEGMENT_SIZE, r->limit << HAK_PAGE_SHIFT);
        any |= start < end && r->tables[0].start < start + size;
    }
    return any;
}

/* The first tables show whether the place is free. */
static bool add_plan(hak_range *r, size_t segments) {
    enum hak_commit done = HAK_TAKEN;
    for (int tries = 0; tries < HAK_PLANS && done == HAK_TAKEN; tries++) {
        size_t size = hak_tables_size(segments) + segments * HAK_SEGMENT_SIZE;
        void *start = hak_os_plan(HAK_ZONE_OF_PAGES, size, HAK_SEGMENT_SIZE);
        if (start == NULL)
            return false;
        if (are_planned((uintptr_t)start, size))
            continue;
        hak_tables_lay_out(r, (uintptr_t)start, segments);
        done = hak_tables_grow(r, 1);
        if (done != HAK_COMMITTED)
            hak_tables_drop(r);
    }
    return done == HAK_COMMITTED;
}

static bool try_to_reserve(hak_range *r, size_t segments) {
    void *start =
        hak_os_reserve(hak_tables_size(segments) + segments * HAK_SEGMENT_SIZE, HAK_SEGMENT_SIZE);
    if (start == NULL)
        return false;
    r->is_reserved = true;
    hak_tables_lay_out(r, (uintptr_t)start, segments);
    return true;
}

/* Where the system wants to choose the place itself. Reserves `segments` or, halving until the
 * system grants it, at least `least`. */
static bool add_reservation(hak_range *r, size_t segments, size_t least) {
    size_t allowed = hak_os_address_space_limit() / SHARE_OF_LIMIT / HAK_SEGMENT_SIZE;
    if (segments > allowed)
        segments = hak_most(allowed, least);
    while (!try_to_reserve(r, segments)) {
        if (segments <= least)
            return false;
        segments = hak_most(segments / 2, least);
    }
    return true;
}

/* `wanted` segments, and `least` in any case. */
static hak_range *add_range(size_t least, size_t wanted) {
    size_t index = hak_range_count();
    if (index == HAK_MAX_RANGES || least > MOST_SEGMENTS)
        return NULL;
    if (index == 0)
        wanted = hak_policy_now()->reserve_mib * (size_t)1048576 / HAK_SEGMENT_SIZE;
    wanted = hak_most(wanted, least);
    hak_range *r = &hak_ranges[index];
    if (r->limit != 0)
        *r = (hak_range){0}; /* in a forked child: another thread was making it */
    if (!add_plan(r, wanted) && !add_reservation(r, wanted, least))
        return NULL;
    HAK_COUNT(ranges_made, 1);
    atomic_store_explicit(&range_count, index + 1, memory_order_release);
    return r;
}

hak_range *hak_range_add(void) {
    return add_range(1, FURTHER);
}

/* ---- growing ---- */

/* Segments that r lacks to end with `pages` free pages. */
static size_t missing(hak_range *r, size_t pages) {
    size_t there = hak_room_at_end(r), more = pages > there ? pages - there : 0;
    return (more + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
}

bool hak_range_can_grow(hak_range *r, size_t pages) {
    return missing(r, pages) <= r->segments_most - r->segments_fresh;
}

/* A range that is added because all are full gets as many addresses as all have together. So a few
 * of them reach all addresses that there are. */
static hak_range *range_with_room(size_t pages) {
    HAK_EACH_RANGE(r)
        if (hak_range_can_grow(r, pages))
            return r;
    size_t least = (pages + HAK_PAGES_PER_SEGMENT - 1) / HAK_PAGES_PER_SEGMENT;
    return add_range(least, hak_most(FURTHER, hak_range_pages() / HAK_PAGES_PER_SEGMENT));
}

/* A range ends where somebody else's mapping lies. Segments are mapped as they are handed out: the
 * page faults in each, some hundreds, cost more than the call. */
static bool make_ready(hak_range *r, size_t end) {
    enum hak_commit done = hak_tables_grow(r, end);
    if (done == HAK_COMMITTED)
        done = hak_range_map(r, &r->mapped, r->base + end * HAK_SEGMENT_SIZE);
    if (done == HAK_TAKEN)
        r->segments_most = r->segments_fresh;
    return done == HAK_COMMITTED;
}

static void hand_out(hak_range *r, size_t end) {
    size_t from = r->segments_fresh;
    if (from == end)
        return; /* another range than the one asked for, and that has room already */
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
