/* Which lane a class takes: decided when the library is built. A build with one route for all small
 * classes contains that lane alone. */
#ifndef HAK_HOT_LANE_H
#define HAK_HOT_LANE_H

#include "cold/thread.h"
#include "hot/list.h"
#include "hot/magazine.h"
#include "hot/page.h"

/* A free block of a small class; NULL when the lane has none. */
HAK_INLINE void *hak_lane_pop(hak_heap *heap, unsigned cls) {
    if (hak_is_hot(cls))
        return hak_page_pop(heap, cls);
    if (hak_is_list(cls))
        return hak_list_pop(heap, cls);
    return hak_magazine_pop(heap, cls);
}

/* False, and nothing happened: the lane cannot take the block. */
HAK_INLINE bool hak_lane_push(hak_heap *heap, unsigned cls, void *block) {
    if (hak_is_hot(cls))
        return hak_page_push(heap, cls, block);
    if (hak_is_list(cls))
        return hak_list_push(heap, cls, block);
    return hak_magazine_push(heap, cls, block);
}

/* Index into class_of_small. In 32 bits, because that saves two bytes of code, and with them the
 * hot path of malloc lies in one cache line even when its slow calls are long jumps. */
HAK_INLINE unsigned hak_small_step(size_t size) {
    unsigned rounded = (unsigned)size + 15;
    HAK_KEEP_WIDTH(rounded);
    return rounded >> HAK_SMALL_STEP_SHIFT;
}

/* A free block for at most HAK_SMALL_MAX bytes from the calling thread's lane; NULL when that has
 * none, and hak_refill is to be asked. */
HAK_INLINE void *hak_take_small(size_t size) {
    hak_heap *heap = hak_this_thread.heap;
    return hak_lane_pop(heap, heap->class_of_small[hak_small_step(size)]);
}

#endif
