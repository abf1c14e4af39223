/* The route ULTRA_LIST: the thread's free blocks of a class as a list whose links lie in them.
 *
 *   heap->list -> | next | ... | -> | next | ... | -> NULL        list_room: how many more it takes
 *
 * Like a magazine it hands out the block freed last, and needs no memory of its own; but each push
 * and pop touches the block, and a write after free lands in a link. For comparison: no profile
 * that we ship takes it (docs/experiments.md). Lists are not armed (cold/arm.h). */
#ifndef HAK_HOT_LIST_H
#define HAK_HOT_LIST_H

#include "base/types.h"
#include "hot/ahead.h"

/* NULL when the list is empty. */
HAK_INLINE void *hak_list_pop(hak_heap *heap, unsigned cls) {
    hak_link *first = heap->list[cls];
    if (HAK_UNLIKELY(first == NULL))
        return NULL;
    heap->list[cls] = first->next;
    hak_fetch_ahead(first->next);
    heap->list_room[cls]++;
    HAK_TALLY(heap, cls, pop);
    return first;
}

/* False, and nothing happened: the list is full, or the block is the one freed last. */
HAK_INLINE bool hak_list_push(hak_heap *heap, unsigned cls, void *block) {
    hak_link *link = block;
    if (HAK_UNLIKELY(heap->list_room[cls] == 0 || heap->list[cls] == link))
        return false;
    link->next = heap->list[cls];
    heap->list[cls] = link;
    heap->list_room[cls]--;
    HAK_TALLY(heap, cls, push);
    return true;
}

#endif
