/* The route HOT behind the hot path: the word is used up, or a block is not this heap's. The
 * class's magazine gathers foreign blocks for their way home. All by the heap's owner. */
#ifndef HAK_COLD_PAGE_H
#define HAK_COLD_PAGE_H

#include "base/types.h"

/* A block, after the next word was taken. NULL: out of memory. */
void *hak_page_take(hak_heap *heap, unsigned cls);

/* Takes back a block of whatever heap. */
void hak_page_give(hak_heap *heap, unsigned cls, void *block);

/* Gives back what the word and the magazine hold. */
void hak_page_flush(hak_heap *heap, unsigned cls);

/* Free blocks in the word. */
size_t hak_page_count(const hak_heap *heap, unsigned cls);

#endif
