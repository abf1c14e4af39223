/* The hot box: popping from and pushing to a thread's magazine. Nothing else.
 *
 *   | NULL | block | block | block |       |       |
 *            oldest           ^ top           ^ end
 *
 * The block freed last is handed out first, while its memory is still in the cache, and without
 * being touched: no line of a block is read or written here. */
#ifndef HAK_HOT_MAGAZINE_H
#define HAK_HOT_MAGAZINE_H

#include "base/types.h"
#include "hot/ahead.h"

/* NULL when the magazine is empty. */
HAK_INLINE void *hak_magazine_pop(hak_heap *heap, unsigned cls) {
    void **top = heap->top[cls];
    void *block = HAK_READ_SHARED(*top);
    if (HAK_LIKELY(block != NULL)) {
        HAK_WRITE_SHARED(heap->top[cls], top - 1);
        hak_fetch_ahead(top[-1]);
        HAK_TALLY(heap, cls, pop);
    }
    return block;
}

/* False, and nothing happened: the magazine is full, or the block is the one freed last. */
HAK_INLINE bool hak_magazine_push(hak_heap *heap, unsigned cls, void *block) {
    void **top = heap->top[cls];
    if (HAK_UNLIKELY(top == heap->end[cls] || HAK_READ_SHARED(*top) == block))
        return false;
    HAK_WRITE_SHARED(top[1], block);
    HAK_WRITE_SHARED(heap->top[cls], top + 1);
    HAK_TALLY(heap, cls, push);
    return true;
}

#endif
