#include "cold/arm.h"

#include "base/classes.h"

enum {
    WINDOW_MS = 20, /* all magazines are armed at most once in this time */
    CREDITS = 40,   /* magazines that may be armed again within one tick, per window */
};

void *const hak_nothing[1];

static bool is_armed(const hak_heap *heap, unsigned cls) {
    return heap->top[cls] == (void **)hak_nothing;
}

void **hak_magazine_end(hak_heap *heap, unsigned cls) {
    return heap->slots + hak_classes[cls].first_slot + hak_classes[cls].depth;
}

size_t hak_magazine_count(const hak_heap *heap, unsigned cls) {
    void *const *top = is_armed(heap, cls) ? heap->held_top[cls] : heap->top[cls];
    return (size_t)(top - (heap->slots + hak_classes[cls].first_slot));
}

static void arm_class(hak_heap *heap, unsigned cls) {
    if (is_armed(heap, cls))
        return;
    heap->held_top[cls] = heap->top[cls];
    heap->top[cls] = heap->end[cls] = (void **)hak_nothing;
}

void hak_disarm(hak_heap *heap, unsigned cls) {
    if (!is_armed(heap, cls))
        return;
    heap->top[cls] = heap->held_top[cls];
    heap->end[cls] = hak_magazine_end(heap, cls);
}

static void arm_all(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        arm_class(heap, cls);
}

/* True when the class was last hit in an earlier tick, else while there are credits. */
static bool may_rearm(hak_heap *heap, unsigned cls, uint16_t tick) {
    bool was_idle = heap->hit_at[cls] != tick;
    heap->hit_at[cls] = tick;
    if (was_idle)
        return true;
    if (heap->arm_credits == 0)
        return false;
    heap->arm_credits--;
    return true;
}

void hak_arm(hak_heap *heap, unsigned cls, uint64_t now) {
    if (now - heap->armed_at_ms >= WINDOW_MS) {
        heap->armed_at_ms = now;
        heap->arm_credits = CREDITS;
        arm_all(heap);
    } else if (cls != HAK_CLASS_NONE && may_rearm(heap, cls, (uint16_t)now)) {
        arm_class(heap, cls);
    }
}
