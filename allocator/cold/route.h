/* The routes of the classes, seen from the cold side: one switch for each thing that can happen.
 * All by the heap's owner. */
#ifndef HAK_COLD_ROUTE_H
#define HAK_COLD_ROUTE_H

#include "base/types.h"

/* A block of class `cls`, at least `size` bytes. NULL: out of memory. */
void *hak_route_take(hak_heap *heap, unsigned cls, size_t size);

/* Takes a block back that the hot path did not take. */
void hak_route_give(hak_heap *heap, unsigned cls, void *block);

/* A block of this heap that another thread freed. */
void hak_route_take_home(hak_heap *heap, unsigned cls, void *block);

/* Gives all free blocks that the heap keeps of the class back. */
void hak_route_flush(hak_heap *heap, unsigned cls);

/* How many free blocks it keeps; another thread's answer may be off. */
size_t hak_route_count(const hak_heap *heap, unsigned cls);

#endif
