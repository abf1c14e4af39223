#include "base/classes.h"

#define HAK_CLASS(id, size, pages, depth)                                                          \
    {(size), (pages), (depth), (uint16_t)((pages) * HAK_PAGE_SIZE / (size)),                       \
     (((uint64_t)1 << HAK_RECIPROCAL_SHIFT) + (size) - 1) / (size)},
const hak_class hak_classes[HAK_CLASSES] = {
    {0, 0, 0, 0, 0},
#include HAK_CLASS_TABLE
};
#undef HAK_CLASS

static void fill(uint8_t *table, size_t steps, unsigned shift) {
    unsigned cls = 1;
    for (size_t i = 0; i < steps; i++) {
        while (cls < HAK_CLASSES - 1 && hak_classes[cls].size < i << shift)
            cls++;
        table[i] = (uint8_t)cls;
    }
}

void hak_classes_fill(uint8_t small[HAK_SMALL_STEPS], uint8_t medium[HAK_MEDIUM_STEPS]) {
    fill(small, HAK_SMALL_STEPS, HAK_SMALL_STEP_SHIFT);
    fill(medium, HAK_MEDIUM_STEPS, HAK_MEDIUM_STEP_SHIFT);
}
