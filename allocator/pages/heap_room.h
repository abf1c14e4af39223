/* Room for heaps: address space of its own, apart from what users' blocks lie in, and memory that
 * faults in front of each heap and behind it. Who writes on and on behind a block does not come to
 * one.
 *
 *   a yard:  | table | wall | heap: head, usual magazines | deep magazines | wall | heap ... | wall
 * |
 *                             |<-- HAK_USUAL_HEAP_SIZE -->|
 *
 * The deep magazines, most of a heap, become usable when the first of them is wanted. All functions
 * but hak_heap_room_deepen and hak_heap_room_holds under one lock: the registry's. */
#ifndef HAK_COLD_HEAP_ROOM_H
#define HAK_COLD_HEAP_ROOM_H

#include "base/types.h"

/* Memory for a heap; all but its slots reads as zero. NULL: out of memory or address space. */
hak_heap *hak_heap_room_take(void);

/* Nobody knows the heap any more: its memory goes back to the system, its place to the next one. */
void hak_heap_room_give(hak_heap *heap);

/* Makes the deep magazines usable. False: the system refused, now or before. By the owner. */
bool hak_heap_room_deepen(hak_heap *heap);

/* Whether the address lies in a heap, or in a wall beside one. Any thread. */
bool hak_heap_room_holds(const void *address);

#endif
