#include "guard/record.h"

#include "base/bits.h"
#include "base/classes.h"
#include "os/os.h"
#include "pages/range.h"

_Static_assert(sizeof(hak_record) == 8, "a page has room for records of eight bytes");

enum { STEP = 128 }; /* pages whose records are committed at a time: 4 MiB */

/* Of each range: records exist for the pages below. */
static _Atomic size_t ready[HAK_MAX_RANGES];

/* Two threads may commit the same pages: that changes nothing. */
static bool commit(const hak_range *r, size_t page) {
    _Atomic size_t *known = &ready[r - hak_ranges];
    size_t first = atomic_load(known), end = hak_round_up(page + 1, STEP);
    size_t all = r->segments_reserved * HAK_PAGES_PER_SEGMENT;
    end = end < all ? end : all;
    if (!hak_os_commit(*r->records + first * HAK_RECORD_BYTES, (end - first) * HAK_RECORD_BYTES))
        return false;
    while (first < end && !atomic_compare_exchange_weak(known, &first, end))
        continue;
    return true;
}

static hak_record *records_of(const hak_slab *run, const void *block, bool make) {
    const hak_range *r = hak_range_of(block);
    size_t page = (size_t)(run - r->slabs);
    bool exist = page < atomic_load_explicit(&ready[r - hak_ranges], memory_order_acquire);
    if (HAK_UNLIKELY(!exist) && (!make || !commit(r, page)))
        return NULL;
    return (hak_record *)(void *)(*r->records + page * HAK_RECORD_BYTES);
}

/* Number of the block of the run that begins at the pointer; -1: none can. */
static int number_of(const hak_slab *run, const void *block) {
    uintptr_t offset = (uintptr_t)block - run->start;
    if (run->kind == HAK_RUN_LARGE)
        return offset == 0 ? 0 : -1;
    if (run->kind != HAK_RUN_SLAB)
        return -1;
    const hak_class *of = &hak_classes[run->cls];
    hak_quotient at = hak_divide(offset, of->reciprocal);
    return at.is_exact && at.index < of->capacity ? (int)at.index : -1;
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
