/* The route HOT: blocks come straight from a page of the heap and go straight back into it.
 *
 *   slab's bitmap   | 0000 | 0110 | 0000 | 1011 | ...        a one is a free block
 *                              |
 *   heap->word      0110 ------+  taken out of the bitmap as a whole; malloc takes its lowest one
 *
 * No block waits in a cache: memory is as dense as the pages are, blocks are handed out in the
 * order of their addresses, and a second free is found at once. A free costs a division by a
 * constant. */
#ifndef HAK_HOT_PAGE_H
#define HAK_HOT_PAGE_H

#include "base/bits.h"
#include "base/classes.h"
#include "cold/slab.h"

/* NULL when the word is used up. */
HAK_INLINE void *hak_page_pop(hak_heap *heap, unsigned cls) {
    uint64_t word = heap->word[cls];
    if (HAK_UNLIKELY(word == 0))
        return NULL;
    heap->word[cls] = word & (word - 1);
    HAK_TALLY(heap, cls, pop);
    return heap->word_start[cls] + (size_t)hak_lowest_bit(word) * hak_classes[cls].size;
}

/* False, and nothing happened: the block is not this heap's. */
HAK_INLINE bool hak_page_push(hak_heap *heap, unsigned cls, void *block) {
    if (HAK_UNLIKELY(!hak_slab_give_home(heap, cls, block)))
        return false;
    HAK_TALLY(heap, cls, push);
    return true;
}

#endif
