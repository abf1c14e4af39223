#include "cold/arm.h"

#include "base/classes.h"

enum { REARM = 32 };

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

void hak_arm(hak_heap *heap, unsigned cls, uint64_t now) {
    if (heap->armed_at_ms != now) {
        heap->armed_at_ms = now;
        for (unsigned each = 1; each < HAK_CLASSES; each++) {
            heap->rearmed[each] = 0;
            arm_class(heap, each);
        }
    } else if (cls != HAK_CLASS_NONE && heap->rearmed[cls] < REARM) {
        heap->rearmed[cls]++;
        arm_class(heap, cls);
    }
}
