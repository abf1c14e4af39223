/* Giving back what lies free inside slabs. Free blocks hold nothing of ours, so the system pages
 * that consist of free blocks alone can go, even where a slab is still in use: a heap of which nine
 * tenths were freed at random shrinks. */
#ifndef HAK_COLD_TRIM_H
#define HAK_COLD_TRIM_H

#include "base/types.h"

/* Once per purge epoch, by the owner: empties the magazines, takes back what others freed and
 * purges free pages in slabs that were quiet for a whole epoch. Returns the number of slabs of
 * which more can go later. */
size_t hak_heap_trim(hak_heap *heap);

/* The same for a heap without a thread; costs nothing when there is nothing to do. */
size_t hak_heap_trim_idle(hak_heap *heap);

/* The same at once and for all slabs of the heap. Returns the bytes given back. */
size_t hak_heap_trim_now(hak_heap *heap);

/* Empties all magazines of the heap into their slabs and gives every empty slab back. By the
 * owner. */
void hak_heap_flush(hak_heap *heap);

#endif
