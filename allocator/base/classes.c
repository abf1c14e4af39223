#include "base/classes.h"

/* Where each magazine begins: an enumerator's value is one more than its predecessor's, which is
 * the last slot of the magazine before it. */
#define HAK_CLASS(size, pages, depth)                                                              \
    HAK_ROW(FIRST_SLOT_),                                                                          \
        HAK_ROW(LAST_SLOT_) =                                                                      \
            HAK_ROW(FIRST_SLOT_) + HAK_DEEPEST(size, depth) + HAK_EMPTY_SLOTS - 1,
enum {
    FIRST_SLOT_NONE,
#include HAK_CLASS_TABLE
};
#undef HAK_CLASS

#define HAK_CLASS(size_, pages_, depth_)                                                           \
    {.size = (size_),                                                                              \
     .pages = (pages_),                                                                            \
     .depth = (depth_),                                                                            \
     .deepest = HAK_DEEPEST(size_, depth_),                                                        \
     .capacity = (uint16_t)((pages_) * HAK_PAGE_SIZE / (size_)),                                   \
     .first_slot = HAK_ROW(FIRST_SLOT_),                                                           \
     .reciprocal = UINT64_MAX / (size_) + 1},

/* With larger pages the smallest classes would have more blocks than a bitmap has bits. */
#define HAK_COLD_CAPACITY(size, pages)                                                             \
    ((pages) * HAK_PAGE_SIZE / (size) < HAK_SLAB_MAX_BLOCKS ? (pages) * HAK_PAGE_SIZE / (size)     \
                                                            : HAK_SLAB_MAX_BLOCKS)
#define HAK_COLD_CLASS(size_, pages_, depth_)                                                      \
    {.size = (size_),                                                                              \
     .pages = (pages_),                                                                            \
     .depth = (depth_),                                                                            \
     .deepest = (depth_),                                                                          \
     .capacity = (uint16_t)HAK_COLD_CAPACITY(size_, pages_),                                       \
     .reciprocal = UINT64_MAX / (size_) + 1},
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
