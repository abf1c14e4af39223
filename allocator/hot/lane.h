/* Which lane a class takes: decided when the library is built. A build with one route for all small
 * classes contains that lane alone. */
#ifndef HAK_HOT_LANE_H
#define HAK_HOT_LANE_H

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

#endif
