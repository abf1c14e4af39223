#include "base/classes.h"

/* A cold class has fewer blocks in a slab than fit where pages are so large that they would be more
 * than a bitmap has bits. */
#define HAK_FITTING(size, pages) ((pages) * HAK_PAGE_SIZE / (size))
#define HAK_ENTRY(size_, pages_, depth_, deepest_, first_slot_)                                    \
    {.size = (size_),                                                                              \
     .pages = (pages_),                                                                            \
     .depth = (depth_),                                                                            \
     .deepest = (deepest_),                                                                        \
     .capacity =                                                                                   \
         (uint16_t)(HAK_FITTING(size_, pages_) < HAK_SLAB_MAX_BLOCKS ? HAK_FITTING(size_, pages_)  \
                                                                     : HAK_SLAB_MAX_BLOCKS),       \
     .first_slot = (first_slot_),                                                                  \
     .reciprocal = UINT64_MAX / (size_) + 1},
#define HAK_CLASS(size, pages, depth)                                                              \
    HAK_ENTRY(size, pages, depth, HAK_DEEPEST(size, depth), HAK_ROW(HAK_FIRST_SLOT_))
#define HAK_COLD_CLASS(size, pages, depth) HAK_ENTRY(size, pages, depth, depth, 0)
const hak_class hak_classes[HAK_CLASSES] = {
    {.size = 0},
#include HAK_CLASS_TABLE
#include "base/cold_classes.def"
};
#undef HAK_COLD_CLASS
#undef HAK_CLASS

static void fill(uint8_t *table, size_t steps, unsigned shift) {
    unsigned cls = 1;
    for (size_t i = 0; i < steps; i++) {
        while (cls < HAK_LAST_SIZED && hak_classes[cls].size < i << shift)
            cls++;
        table[i] = (uint8_t)cls;
    }
}

void hak_classes_fill(uint8_t small[HAK_SMALL_STEPS], uint8_t medium[HAK_MEDIUM_STEPS]) {
    fill(small, HAK_SMALL_STEPS, HAK_SMALL_STEP_SHIFT);
    fill(medium, HAK_MEDIUM_STEPS, HAK_MEDIUM_STEP_SHIFT);
}

unsigned hak_class_by_search(size_t size) {
    unsigned low = 1, high = HAK_LAST_SIZED;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (hak_classes[middle].size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

unsigned hak_class_aligned(unsigned cls, unsigned end, size_t size, size_t alignment) {
    while (cls < end &&
           (hak_classes[cls].size < size || (hak_classes[cls].size & (alignment - 1)) != 0))
        cls++;
    return cls;
}
