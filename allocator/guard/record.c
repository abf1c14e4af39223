#include "guard/record.h"

#include "base/classes.h"
#include "os/os.h"
#include "pages/range.h"

_Static_assert(sizeof(hak_record) == 8, "a page has room for records of eight bytes");

static hak_record *records_of(const hak_slab *run, const void *block) {
    const hak_range *r = hak_range_of(block);
    return (hak_record *)(void *)(*r->records + (size_t)(run - r->slabs) * HAK_RECORD_BYTES);
}

/* The origins of a page lie behind its records, in the same order. */
_Atomic(uint32_t) *hak_origin_at(hak_place place) {
    hak_record *first = records_of(place.run, place.start);
    char *behind = (char *)(first + HAK_SLAB_MAX_BLOCKS);
    return (_Atomic(uint32_t) *)(void *)behind + (place.record - first);
}

/* The block of the run that the address lies in, without a promise that one begins there. */
static hak_place covering(hak_slab *run, const void *address) {
    uintptr_t offset = (uintptr_t)address - run->start;
    hak_place place = {run, NULL, NULL};
    size_t number = 0;
    if (run->kind == HAK_RUN_SLAB)
        number = hak_divide(offset, hak_classes[run->cls].reciprocal).index;
    else if (run->kind != HAK_RUN_LARGE)
        return place;
    if (run->kind == HAK_RUN_SLAB && number >= hak_classes[run->cls].capacity)
        return place;
    place.record = &records_of(run, address)[number];
    place.start = (char *)run->start + number * hak_place_size(run);
    return place;
}

/* The block at whose start, or `front` bytes behind it, the address lies. */
static hak_place place_by(const void *address, bool is_start) {
    hak_slab *run = hak_run_of(address);
    hak_place place = run != NULL ? covering(run, address) : (hak_place){NULL, NULL, NULL};
    if (place.record == NULL)
        return place;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    size_t front = is_start ? 0 : hak_front_of(run, facts);
    if ((const char *)address != place.start + front)
        place.record = NULL;
    return place;
}

hak_place hak_place_of(const void *block) {
    return place_by(block, false);
}

hak_place hak_place_at(const void *start) {
    return place_by(start, true);
}

size_t hak_unusual_front(const hak_slab *run, hak_facts facts) {
    size_t alignment = (size_t)1 << facts.alignment, page = hak_os_page_size();
    if (alignment > page)
        return 0;
    if (facts.size == 0 && run->kind == HAK_RUN_LARGE)
        return page;
    return alignment > HAK_MIN_ALIGN ? alignment : HAK_MIN_ALIGN;
}

size_t hak_place_size(const hak_slab *run) {
    if (run->kind == HAK_RUN_LARGE)
        return (size_t)run->pages << HAK_PAGE_SHIFT;
    return hak_classes[run->cls].size;
}

size_t hak_place_room(const hak_slab *run) {
    return hak_place_size(run) - (run->kind == HAK_RUN_LARGE ? hak_os_page_size() : 0);
}
