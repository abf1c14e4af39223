/* Whatever the table of size classes: where malloc is led away from a class, all sizes of it are,
 * and no other. Who robs a magazine counts on it (reclaim/robbed_magazines.c). */
#include "base/classes.h"
#include "magazine/arm.h"

#include "../support/check.h"

static hak_heap heap;

static unsigned class_by_tables(size_t size) {
    return size <= HAK_SMALL_MAX
               ? heap.class_of_small[(size + HAK_SMALL_STEP - 1) >> HAK_SMALL_STEP_SHIFT]
               : heap.class_of_medium[(size + HAK_MEDIUM_STEP - 1) >> HAK_MEDIUM_STEP_SHIFT];
}

/* 0: from none. */
static void is_led_away_from(unsigned away) {
    for (size_t size = 0; size <= HAK_MEDIUM_MAX; size++) {
        unsigned cls = hak_class_by_search(size), wanted = cls == away ? HAK_CLASS_NONE : cls;
        CHECK_THAT(class_by_tables(size) == wanted, "size %zu of class %u leads to %u, not %u",
                   size, cls, class_by_tables(size), wanted);
    }
}

int main(void) {
    hak_classes_fill(heap.class_of_small, heap.class_of_medium);
    for (unsigned cls = 1; cls < HAK_FIRST_COLD; cls++) {
        hak_lead_malloc_away(&heap, cls);
        is_led_away_from(cls);
        hak_lead_malloc_back(&heap, cls);
    }
    is_led_away_from(0);
    return 0;
}
