/* The table of size classes and all that is derived from it, walked over every size and offset. */
#include "base/classes.h"

#include "../support/check.h"

static uint8_t small[HAK_SMALL_STEPS], medium[HAK_MEDIUM_STEPS];

static unsigned class_by_tables(size_t size) {
    if (size <= HAK_SMALL_MAX)
        return small[(size + 15) >> HAK_SMALL_STEP_SHIFT];
    return medium[(size + 255) >> HAK_MEDIUM_STEP_SHIFT];
}

static void smallest_fitting_class_for_every_size(void) {
    for (size_t size = 0; size <= HAK_MEDIUM_MAX; size++) {
        unsigned cls = class_by_tables(size);
        CHECK_THAT(cls >= 1 && !hak_class_is_cold(cls), "size %zu", size);
        CHECK_THAT(hak_classes[cls].size >= size, "size %zu gets class %u", size, cls);
        CHECK_THAT(cls == 1 || hak_classes[cls - 1].size < size, "size %zu gets class %u", size,
                   cls);
        CHECK_THAT(size <= 128 || (hak_classes[cls].size - size) * 8 <= size, "size %zu of %u",
                   size, hak_classes[cls].size);
    }
    CHECK(hak_classes[HAK_LAST_SIZED].size == HAK_MEDIUM_MAX);
}

static void slabs_hold_what_they_say(void) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        const hak_class *class = &hak_classes[cls];
        size_t bytes = class->pages * HAK_PAGE_SIZE, filled = class->capacity * (size_t)class->size;
        CHECK(class->size > hak_size_below(cls));
        CHECK(class->size % HAK_MIN_ALIGN == 0);
        CHECK_THAT(filled <= bytes && bytes - filled < class->size, "class %u", cls);
        CHECK_THAT((bytes - filled) * 8 <= bytes, "class %u leaves %zu of %zu", cls, bytes - filled,
                   bytes);
        CHECK(class->capacity <= HAK_SLAB_MAX_BLOCKS && class->pages <= HAK_PAGES_PER_SEGMENT);
    }
}

/* offset / size by multiplication, and its remainder's being 0, are exact for every offset of a
 * slab. */
static void reciprocals_are_exact(void) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        const hak_class *class = &hak_classes[cls];
        for (size_t offset = 0; offset < class->pages * HAK_PAGE_SIZE; offset++) {
            hak_quotient at = hak_divide(offset, class->reciprocal);
            CHECK_THAT(at.index == offset / class->size &&
                           at.is_exact == (offset % class->size == 0),
                       "class %u, offset %zu", cls, offset);
        }
    }
}

static void magazines_lie_side_by_side(void) {
    for (unsigned cls = 2; cls < HAK_FIRST_COLD; cls++)
        CHECK(hak_classes[cls].first_slot ==
              hak_classes[cls - 1].first_slot + hak_classes[cls - 1].deepest + HAK_EMPTY_SLOTS);
    const hak_class *last = &hak_classes[HAK_LAST_SIZED];
    CHECK(last->first_slot + last->deepest < HAK_MAGAZINE_SLOTS);
}

static unsigned cold_class(size_t size, size_t alignment) {
    return hak_class_aligned(HAK_FIRST_COLD, HAK_CLASSES, size, alignment);
}

/* The smallest that holds the size and is aligned; none is deeper than usual, and so needs a place
 * for that. */
static void cold_class_for(size_t size, size_t alignment) {
    unsigned cls = cold_class(size, alignment);
    CHECK_THAT(hak_class_is_cold(cls) && hak_classes[cls].size >= size, "size %zu", size);
    CHECK(hak_classes[cls].size % alignment == 0);
    CHECK(hak_classes[cls].deepest == hak_classes[cls].depth);
    for (unsigned below = HAK_FIRST_COLD; below < cls; below++)
        CHECK(hak_classes[below].size < size || hak_classes[below].size % alignment != 0);
}

static void cold_classes_up_to_their_largest(void) {
    size_t largest = hak_classes[HAK_CLASSES - 1].size;
    for (size_t alignment = 1; alignment <= HAK_SMALL_MAX; alignment *= 2)
        for (size_t size = 0; size <= largest; size += size < HAK_SMALL_MAX ? 1 : 63)
            cold_class_for(size, alignment);
    CHECK(cold_class(largest + 1, 16) == HAK_CLASSES);
    CHECK(cold_class(100, 2 * largest) == HAK_CLASSES);
}

int main(void) {
    hak_classes_fill(small, medium);
    smallest_fitting_class_for_every_size();
    slabs_hold_what_they_say();
    reciprocals_are_exact();
    magazines_lie_side_by_side();
    cold_classes_up_to_their_largest();
    return 0;
}
