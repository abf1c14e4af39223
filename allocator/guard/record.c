#include "guard/record.h"

#include "base/bits.h"
#include "base/classes.h"
#include "cold/range.h"
#include "os/guard.h"
#include "os/os.h"

_Static_assert(sizeof(hak_record) == 8, "a record is one word");

#define BYTES_PER_PAGE (HAK_SLAB_MAX_BLOCKS * sizeof(hak_record))
enum { STEP = 128 }; /* pages whose records are committed at a time: 4 MiB */

typedef struct table {
    _Atomic(char *) start;
    _Atomic size_t ready; /* records exist for the pages below */
} table;

static table tables[HAK_MAX_RANGES];

static char *reserve(table *t, const hak_range *r) {
    size_t unit = hak_os_page_size();
    size_t size = r->segments_reserved * HAK_PAGES_PER_SEGMENT * BYTES_PER_PAGE + 2 * unit;
    char *known = NULL, *fresh = hak_os_reserve(size, unit);
    if (fresh == NULL || atomic_compare_exchange_strong(&t->start, &known, fresh + unit))
        return fresh != NULL ? fresh + unit : NULL;
    hak_os_unreserve(fresh, size); /* another thread was quicker */
    return known;
}

/* Two threads may commit the same pages: that changes nothing. */
static bool commit(table *t, const hak_range *r, size_t page) {
    char *start = atomic_load(&t->start);
    if (start == NULL)
        start = reserve(t, r);
    size_t first = atomic_load(&t->ready), end = hak_round_up(page + 1, STEP);
    size_t all = r->segments_reserved * HAK_PAGES_PER_SEGMENT;
    end = end < all ? end : all;
    if (start == NULL ||
        !hak_os_commit(start + first * BYTES_PER_PAGE, (end - first) * BYTES_PER_PAGE))
        return false;
    while (first < end && !atomic_compare_exchange_weak(&t->ready, &first, end))
        continue;
    return true;
}

static hak_record *records_of(const hak_slab *run, const void *block, bool make) {
    const hak_range *r = hak_range_of(block);
    table *t = &tables[r - hak_ranges];
    size_t page = (size_t)(run - r->slabs);
    if (HAK_UNLIKELY(page >= atomic_load_explicit(&t->ready, memory_order_acquire)) &&
        (!make || !commit(t, r, page)))
        return NULL;
    char *start = atomic_load_explicit(&t->start, memory_order_relaxed);
    return (hak_record *)(void *)(start + page * BYTES_PER_PAGE);
}

/* Number of the block of the run that begins at the pointer; -1: none can. */
static int number_of(const hak_slab *run, const void *block) {
    uintptr_t offset = (uintptr_t)block - run->start;
    if (run->kind == HAK_RUN_LARGE)
        return offset == 0 ? 0 : -1;
    if (run->kind != HAK_RUN_SLAB)
        return -1;
    const hak_class *of = &hak_classes[run->cls];
    size_t index = (offset * of->reciprocal) >> HAK_RECIPROCAL_SHIFT;
    return index * of->size == offset && index < of->capacity ? (int)index : -1;
}

static hak_place find(const void *block, bool make) {
    hak_place place = {hak_run_of(block), NULL};
    int number = place.run != NULL ? number_of(place.run, block) : -1;
    if (number < 0)
        return place;
    hak_record *records = records_of(place.run, block, make);
    if (records != NULL)
        place.record = &records[number];
    return place;
}

hak_place hak_place_of(const void *block) {
    return find(block, false);
}

hak_place hak_place_make(const void *block) {
    return find(block, true);
}

size_t hak_place_size(const hak_slab *run) {
    if (run->kind == HAK_RUN_LARGE)
        return (size_t)run->pages << HAK_PAGE_SHIFT;
    return hak_classes[run->cls].size;
}

size_t hak_place_room(const hak_slab *run) {
    return hak_place_size(run) - (run->kind == HAK_RUN_LARGE ? hak_os_page_size() : 0);
}
