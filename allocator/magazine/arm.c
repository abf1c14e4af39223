#include "magazine/arm.h"

#include "base/classes.h"
#include "magazine/count.h"
#include "magazine/magazine.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <string.h>

enum {
    HITS_PER_LOOK = 4, /* hits of armed magazines between two looks at the clock */
    FEW = 32,          /* looks of a class within a tick after which it is left alone */
};

void *const hak_nothing[HAK_EMPTY_SLOTS];

void hak_arm_class(hak_heap *heap, unsigned cls) {
    if (hak_is_armed(heap, cls))
        return;
    heap->bins[cls].held_top = hak_magazine_lay_down(heap, cls);
    heap->top[cls] = heap->end[cls] = HAK_NOTHING;
    if (HAK_HAND)
        heap->hand[cls] = 0;
}

/* Makes the steps of a table for sizes above `above`, up to `last`, lead to class `to`. */
static void lead_steps(uint8_t *table, size_t above, size_t last, size_t step, unsigned to) {
    size_t first = above / step + 1;
    memset(table + first, (int)to, last / step - first + 1);
}

/* Makes the sizes of a class lead to class `to`. None leads to a cold class. A class that is larger
 * than HAK_SMALL_MAX may have sizes in both tables. */
static void lead_sizes(hak_heap *heap, unsigned cls, unsigned to) {
    if (hak_class_is_cold(cls))
        return;
    size_t above = hak_classes[cls - 1].size, last = hak_classes[cls].size;
    size_t last_small = last < HAK_SMALL_MAX ? last : HAK_SMALL_MAX;
    if (cls == 1)
        heap->class_of_small[0] = (uint8_t)to;
    if (above < HAK_SMALL_MAX)
        lead_steps(heap->class_of_small, above, last_small, HAK_SMALL_STEP, to);
    if (last > HAK_SMALL_MAX)
        lead_steps(heap->class_of_medium, above, last, HAK_MEDIUM_STEP, to);
}

void hak_lead_malloc_away(hak_heap *heap, unsigned cls) {
    lead_sizes(heap, cls, HAK_CLASS_NONE);
}

void hak_lead_malloc_back(hak_heap *heap, unsigned cls) {
    bool stays =
        hak_is_led_to_count(heap) || (HAK_HARDENED && hak_range_count() > 1); /* pages/mark.h */
    lead_sizes(heap, cls, stays ? HAK_CLASS_NONE : cls);
}

void hak_arm_malloc(hak_heap *heap, unsigned cls) {
    heap->bins[cls].malloc_is_armed = true;
    hak_lead_malloc_away(heap, cls);
}

void hak_arm_malloc_again(hak_heap *heap, unsigned cls) {
    if (hak_is_armed(heap, cls) || heap->bins[cls].malloc_hits == FEW)
        return;
    heap->bins[cls].malloc_hits++;
    hak_arm_malloc(heap, cls);
}

void hak_disarm(hak_heap *heap, unsigned cls) {
    if (heap->bins[cls].malloc_is_armed && heap->bins[cls].mode != HAK_SHEDDING)
        hak_lead_malloc_back(heap, cls);
    heap->bins[cls].malloc_is_armed = false;
    if (!hak_is_armed(heap, cls))
        return;
    hak_magazine_set_top(heap, cls, heap->bins[cls].held_top);
    heap->end[cls] = hak_magazine_end(heap, cls);
}

/* Counts a hit; true: it is one that looks at the clock. */
static bool count_hit(hak_heap *heap) {
    return ++heap->arming.hits % HITS_PER_LOOK == 0;
}

void *hak_armed_pop(hak_heap *heap, unsigned cls) {
    void *block = hak_is_armed(heap, cls) ? *heap->bins[cls].held_top : NULL;
    if (block == NULL || heap->bins[cls].mode == HAK_SHEDDING || count_hit(heap))
        return NULL;
    heap->bins[cls].held_top--;
    HAK_TALLY(heap, cls, pop);
    return block;
}

bool hak_armed_push(hak_heap *heap, unsigned cls, void *block) {
    if (!hak_is_armed(heap, cls) || heap->bins[cls].held_top == hak_magazine_end(heap, cls) ||
        *heap->bins[cls].held_top == block || count_hit(heap))
        return false;
    *++heap->bins[cls].held_top = block;
    HAK_TALLY(heap, cls, push);
    return true;
}

/* Notes in which tick the class was hit; true: it was hit often in this one. */
static bool note_hit(hak_heap *heap, unsigned cls, uint16_t tick) {
    if (heap->bins[cls].hit_at != tick) {
        heap->bins[cls].hit_at = tick;
        heap->bins[cls].hits = heap->bins[cls].malloc_hits = 0;
    }
    if (heap->bins[cls].hits < FEW)
        heap->bins[cls].hits++;
    return heap->bins[cls].hits == FEW;
}

void hak_arm(hak_heap *heap, unsigned cls, uint64_t now) {
    atomic_store_explicit(&heap->arming.seen_at_ms, now, memory_order_relaxed);
    if (now - heap->arming.at_ms >= HAK_MOMENT_MS) {
        heap->arming.at_ms = now;
        for (unsigned each = 1; each < HAK_CLASSES; each++)
            hak_arm_class(heap, each);
    } else if (cls != HAK_CLASS_NONE && !note_hit(heap, cls, (uint16_t)now)) {
        hak_arm_class(heap, cls);
    }
}
