#include "pages/mark.h"

#include "base/bits.h"
#include "base/classes.h"
#include "base/fatal.h"
#include "pages/range.h"
#include "pages/segment.h"

/* The coarsest table with a mark for each block of the class. */
static unsigned table_of(unsigned cls) {
    unsigned table = hak_highest_bit(hak_classes[cls].size) - HAK_MARK_SHIFT(0);
    return table < HAK_MARK_TABLES ? table : HAK_MARK_TABLES - 1;
}

static uintptr_t marks_in(const hak_range *r, unsigned cls) {
    unsigned table = table_of(cls), shift = HAK_MARK_SHIFT(table);
    uintptr_t start = r->tables[HAK_TABLE_MARKS + table].start;
    return start - (r->base >> shift) + (shift - HAK_GRAIN_SHIFT);
}

/* The first range has to be there. */
static bool begin(void) {
    hak_lock_take(&hak_segment_lock);
    bool begun = hak_range_count() != 0 || hak_range_add() != NULL;
    hak_lock_give(&hak_segment_lock);
    return begun;
}

bool hak_marks_tell(uintptr_t marks[HAK_CLASSES]) {
    if (!begin())
        return false;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        marks[cls] = marks_in(&hak_ranges[0], cls);
    return true;
}

void hak_pass_close(void) {
    hak_pass *pass = hak_ranges[0].pass;
    hak_lock_take(&hak_segment_lock);
    pass->is_closed = true;
    __atomic_store_n(&pass->grains, 0, __ATOMIC_RELEASE);
    hak_lock_give(&hak_segment_lock);
}

uint8_t *hak_mark_of(const void *address) {
    const hak_range *r = hak_range_of(address);
    return hak_mark_by(marks_in(r, hak_class_in(r, address)), hak_grain_around(address));
}

void *hak_mark_out_anywhere(void *block) {
    if (block != NULL)
        *hak_mark_of(block) = hak_mark_for(hak_grain(block));
    return block;
}

_Noreturn static void refuse(const char *function, const void *block) {
    const hak_slab *slab = hak_run_of(block);
    size_t size = hak_classes[slab->cls].size, offset = (uintptr_t)block - slab->start;
    if (offset % size != 0)
        hak_fatal("invalid free", function, block, "not the start of a block");
    if (offset / size >= slab->carved)
        hak_fatal("invalid free", function, block, "the block was never handed out");
    hak_fatal("double free", function, block, "the block is free already");
}

void hak_mark_refuse(const void *block) {
    refuse("free", block);
}

bool hak_mark_is_out(const void *block) {
    return hak_is_at_grain(block) && *hak_mark_of(block) == hak_mark_for(hak_grain(block));
}

void hak_mark_must_be_out(const char *function, const void *block) {
    if (HAK_UNLIKELY(!hak_mark_is_out(block)))
        refuse(function, block);
}

void hak_mark_back_anywhere(const void *block) {
    hak_mark_must_be_out("free", block);
    *hak_mark_of(block) = 0;
}
