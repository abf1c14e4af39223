/* Arming: how the slow path is called again, although the hot path never looks at the clock.
 *
 * A program may come to mallocs and frees that its magazines serve alone. It then never visits a
 * slow path, and dirty pages would wait for ever. So magazines are armed: an armed magazine looks
 * empty to malloc and full to free. The next operations on its class come to the slow path. The
 * held magazine serves them, and the one that looks at the clock puts it back:
 *
 *   top, end -> | NULL |      hand: | no block | 0 |      held_top -> the real top; the block that
 *                                                         was in hand is written to its slot
 *
 * The cost is bounded. A hit is an operation that meets an armed magazine:
 * - the held magazine serves it in a few instructions, and only every fourth looks at the clock;
 * - a class with very many hits within a tick of the clock is left alone until the next moment;
 * - all magazines are armed at most once in a moment (policy/policy.h).
 *
 * So a thread that allocates up to some ten thousand blocks of a class in a second stays armed. One
 * that allocates in a tight loop is soon left alone. */
#pragma once

#include "base/types.h"

/* The slots of magazines that can neither give nor take. Always NULL. */
extern HAK_HIDDEN void *const hak_nothing[HAK_EMPTY_SLOTS];
#define HAK_NOTHING ((void **)&hak_nothing[HAK_EMPTY_SLOTS - 1])

/* Arms all magazines of the heap if a new moment begins (HAK_MOMENT_MS). Else arms that of `cls`
 * alone, unless it was hit too often. `now` is in milliseconds. Called by the owner. */
void hak_arm(hak_heap *heap, unsigned cls, uint64_t now);

/* Arms that of `cls`. Called by the owner. */
void hak_arm_class(hak_heap *heap, unsigned cls);

/* One operation on an armed magazine. Pop returns NULL when there is no block, push false when
 * there is no room. Both also do so when it is time to look at the clock. Called by the owner. */
void *hak_armed_pop(hak_heap *heap, unsigned cls);
bool hak_armed_push(hak_heap *heap, unsigned cls, void *block);

/* Away: from now on malloc comes to the slow path for all sizes of the class. Back: no more. While
 * a heap is counted, all sizes stay away. Called by the owner. */
void hak_lead_malloc_away(hak_heap *heap, unsigned cls);
void hak_lead_malloc_back(hak_heap *heap, unsigned cls);

/* Makes the next malloc of the class come to the slow path, once; free stays fast. The table of
 * sizes leads it there: it has no class for these sizes until then. So a burst of frees costs
 * nothing, and the first malloc after it looks at the clock. Called by the owner. */
void hak_arm_malloc(hak_heap *heap, unsigned cls);

/* The same again, right after malloc came by, a few times within a tick of the clock. A burst of
 * frees and the malloc after it may fall into one tick. The class may have had its hits by then,
 * and without this nobody would look at the clock any more. Called by the owner. */
void hak_arm_malloc_again(hak_heap *heap, unsigned cls);

/* Puts the real magazine of a class back; nothing happens when it is not armed. By the owner. */
void hak_disarm(hak_heap *heap, unsigned cls);

/* When the owner last came to a slow path while something waited; 0: never. Any thread. */
HAK_INLINE uint64_t hak_seen_at_ms(const hak_heap *heap) {
    return atomic_load_explicit(&heap->arming.seen_at_ms, memory_order_relaxed);
}

/* The owner wants to see the next malloc of the class, or all of them while it sheds. */
HAK_INLINE bool hak_malloc_is_led_away(const hak_heap *heap, unsigned cls) {
    return heap->bins[cls].malloc_is_armed || heap->bins[cls].mode == HAK_SHEDDING;
}

HAK_INLINE bool hak_is_armed(const hak_heap *heap, unsigned cls) {
    return HAK_READ_SHARED(heap->top[cls]) == HAK_NOTHING;
}
