/* The route ULTRA_LIST behind the hot path: a thread's list is empty, or full. All by the heap's
 * owner. */
#ifndef HAK_COLD_LIST_H
#define HAK_COLD_LIST_H

#include "base/types.h"

/* Makes the lists of a new heap ready: as long as a magazine of the class is usually deep. */
void hak_lists_lay_out(hak_heap *heap);

/* A block, after the list was filled if it was empty. NULL: out of memory. */
void *hak_list_take(hak_heap *heap, unsigned cls);

/* Puts a block on the list, after half of a full one was given back. */
void hak_list_give(hak_heap *heap, unsigned cls, void *block);

/* Gives all blocks of the list back. */
void hak_list_flush(hak_heap *heap, unsigned cls);

/* Blocks on the list. */
size_t hak_list_count(const hak_heap *heap, unsigned cls);

#endif
