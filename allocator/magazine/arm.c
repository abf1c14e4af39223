#include "magazine/arm.h"

#include "base/classes.h"
#include "magazine/magazine.h"

#include <string.h>

enum {
    WINDOW_MS = 50, /* all magazines are armed at most once in this time ... */
    PAUSE_MS = 8,   /* ... unless the clock was not looked at for so long */
    LOOK_EVERY = 4, /* hits of armed magazines between two looks at the clock */
    FEW = 32,       /* looks of a class within a tick after which it is left alone */
};

void *const hak_nothing[HAK_EMPTY_SLOTS];

static void arm_class(hak_heap *heap, unsigned cls) {
    if (hak_is_armed(heap, cls))
        return;
    heap->held_top[cls] = hak_magazine_lay_down(heap, cls);
    heap->top[cls] = heap->end[cls] = HAK_NOTHING;
    if (HAK_HAND)
        heap->hand[cls] = NULL;
}

/* Makes the sizes of a class lead to class `to`. */
static void lead_sizes(hak_heap *heap, unsigned cls, unsigned to) {
    size_t above = hak_classes[cls - 1].size, last = hak_classes[cls].size;
    size_t first = cls == 1 ? 0 : above / HAK_SMALL_STEP + 1;
    if (last <= HAK_SMALL_MAX)
        memset(heap->class_of_small + first, (int)to, last / HAK_SMALL_STEP - first + 1);
    first = above / HAK_MEDIUM_STEP + 1;
    if (last > HAK_SMALL_MAX)
        memset(heap->class_of_medium + first, (int)to, last / HAK_MEDIUM_STEP - first + 1);
}

void hak_lead_malloc_away(hak_heap *heap, unsigned cls) {
    lead_sizes(heap, cls, HAK_CLASS_NONE);
}

void hak_lead_malloc_back(hak_heap *heap, unsigned cls) {
    lead_sizes(heap, cls, cls);
}

void hak_arm_malloc(hak_heap *heap, unsigned cls) {
    heap->malloc_is_armed[cls] = true;
    hak_lead_malloc_away(heap, cls);
}

void hak_arm_malloc_again(hak_heap *heap, unsigned cls) {
    if (hak_is_armed(heap, cls) || heap->malloc_hits[cls] == FEW)
        return;
    heap->malloc_hits[cls]++;
    hak_arm_malloc(heap, cls);
}

void hak_disarm(hak_heap *heap, unsigned cls) {
    if (heap->malloc_is_armed[cls] && !heap->sheds[cls])
        hak_lead_malloc_back(heap, cls);
    heap->malloc_is_armed[cls] = false;
    if (!hak_is_armed(heap, cls))
        return;
    hak_magazine_set_top(heap, cls, heap->held_top[cls]);
    heap->end[cls] = hak_magazine_end(heap, cls);
}

static bool time_to_look(hak_heap *heap) {
    return ++heap->armed_hits % LOOK_EVERY == 0;
}

void *hak_armed_pop(hak_heap *heap, unsigned cls) {
    void *block = hak_is_armed(heap, cls) ? *heap->held_top[cls] : NULL;
    if (block == NULL || heap->sheds[cls] || time_to_look(heap))
        return NULL;
    heap->held_top[cls]--;
    HAK_TALLY(heap, cls, pop);
    return block;
}

bool hak_armed_push(hak_heap *heap, unsigned cls, void *block) {
    if (!hak_is_armed(heap, cls) || heap->held_top[cls] == hak_magazine_end(heap, cls) ||
        *heap->held_top[cls] == block || time_to_look(heap))
        return false;
    *++heap->held_top[cls] = block;
    HAK_TALLY(heap, cls, push);
    return true;
}

static void arm_all(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        arm_class(heap, cls);
}

static bool was_hit_often(hak_heap *heap, unsigned cls, uint16_t tick) {
    if (heap->hit_at[cls] != tick) {
        heap->hit_at[cls] = tick;
        heap->hits[cls] = heap->malloc_hits[cls] = 0;
    }
    if (heap->hits[cls] < FEW)
        heap->hits[cls]++;
    return heap->hits[cls] == FEW;
}

void hak_arm(hak_heap *heap, unsigned cls, uint64_t now) {
    bool paused = now - heap->seen_at_ms >= PAUSE_MS;
    heap->seen_at_ms = now;
    if (paused || now - heap->armed_at_ms >= WINDOW_MS) {
        heap->armed_at_ms = now;
        arm_all(heap);
    } else if (cls != HAK_CLASS_NONE && !was_hit_often(heap, cls, (uint16_t)now)) {
        arm_class(heap, cls);
    }
}
