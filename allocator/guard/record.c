#include "guard/record.h"

#include "base/classes.h"
#include "os/os.h"
#include "pages/range.h"

_Static_assert(sizeof(hak_record) == 8, "a page has room for records of eight bytes");

static hak_record *records_of(const hak_slab *run, const void *block) {
    const hak_range *r = hak_range_of(block);
    return (hak_record *)(void *)(*r->records + (size_t)(run - r->slabs) * HAK_RECORD_BYTES);
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

hak_place hak_place_of(const void *block) {
    hak_place place = {hak_run_of(block), NULL};
    int number = place.run != NULL ? number_of(place.run, block) : -1;
    if (number >= 0)
        place.record = &records_of(place.run, block)[number];
    return place;
}

size_t hak_place_size(const hak_slab *run) {
    if (run->kind == HAK_RUN_LARGE)
        return (size_t)run->pages << HAK_PAGE_SHIFT;
    return hak_classes[run->cls].size;
}

size_t hak_place_room(const hak_slab *run) {
    return hak_place_size(run) - (run->kind == HAK_RUN_LARGE ? hak_os_page_size() : 0);
}
