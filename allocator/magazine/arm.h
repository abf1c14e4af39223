/* Arming: how the slow path is called again, although the hot path never looks at the clock.
 *
 * A program may settle into mallocs and frees that its magazines can serve. It then never visits a
 * slow path, and dirty pages would wait for ever. An armed magazine looks empty to malloc and full
 * to free. So the next operation on its class comes to the slow path, which puts the real one back:
 *
 *   top, end -> | NULL |        hand: NULL        held_top -> the real top of the magazine, whose
 *                                                              slot is written meanwhile
 *
 * The cost is bounded. A hit is an operation that meets an armed magazine:
 * - the held magazine serves it in a few instructions, and only every fourth looks at the clock;
 * - a class with very many hits within a tick of the clock is left alone until the next window;
 * - all magazines are armed at most once in a window, or when nothing looked at the clock for long.
 *
 * So a thread that allocates up to some ten thousand blocks of a class in a second stays armed. One
 * that allocates in a tight loop is soon left alone. */
#ifndef HAK_MAGAZINE_ARM_H
#define HAK_MAGAZINE_ARM_H

#include "base/types.h"

/* The slots of magazines that can neither give nor take. Always NULL. */
extern HAK_HIDDEN void *const hak_nothing[HAK_EMPTY_SLOTS];
#define HAK_NOTHING ((void **)&hak_nothing[HAK_EMPTY_SLOTS - 1])

/* Arms all magazines of the heap when a new window begins, else that of `cls` if it may be; `now`
 * in milliseconds. By the owner. */
void hak_arm(hak_heap *heap, unsigned cls, uint64_t now);

/* One operation on an armed magazine: pops a block, NULL when there is none; pushes a block, false
 * when there is no room. Both say so, too, when it is time to look at the clock. By the owner. */
void *hak_armed_pop(hak_heap *heap, unsigned cls);
bool hak_armed_push(hak_heap *heap, unsigned cls, void *block);

/* Makes malloc come to the slow path for all sizes of a class from now on, or no more. By the
 * owner. */
void hak_lead_malloc_away(hak_heap *heap, unsigned cls);
void hak_lead_malloc_back(hak_heap *heap, unsigned cls);

/* Makes malloc alone come to the slow path, once, by leading the sizes of a class to no class; free
 * stays as it is. It costs nothing in a burst of frees, and after it the first malloc looks at the
 * clock. By the owner. */
void hak_arm_malloc(hak_heap *heap, unsigned cls);

/* The same once more, for a class that malloc has just been armed for, a few times within a tick:
 * when a burst of frees and the malloc after it fall into one, that class is left alone by then,
 * and the program may never come by again. By the owner. */
void hak_arm_malloc_again(hak_heap *heap, unsigned cls);

/* Puts the real magazine of a class back; nothing happens when it is not armed. By the owner. */
void hak_disarm(hak_heap *heap, unsigned cls);

/* When the owner last came to a slow path while something waited; 0: never. Any thread. */
HAK_INLINE uint64_t hak_seen_at_ms(const hak_heap *heap) {
    return atomic_load_explicit(&heap->seen_at_ms, memory_order_relaxed);
}

HAK_INLINE bool hak_is_armed(const hak_heap *heap, unsigned cls) {
    return heap->top[cls] == HAK_NOTHING;
}

#endif
