/* Room for heaps. They have addresses of their own, apart from users' blocks, and a page that
 * faults in front of each heap and behind it. So a write that runs on and on behind a block does
 * not reach a heap.
 *
 *   a yard:  | seats | wall | heap | wall | heap | wall ...
 *   a heap:  | head, usual magazines  | deep magazines |
 *             <- HAK_USUAL_HEAP_SIZE ->
 *
 * The deep magazines, most of a heap, become usable when the first of them is wanted. A seat and
 * its heap's place stay together for ever. */
#pragma once

#include "base/types.h"
#include "os/os.h"

/* Another seat, all zero but for the place of its heap, which is not open yet. NULL: out of memory
 * or address space. Under the registry lock. */
hak_seat *hak_heap_room_add(void);

/* Makes the heap's memory usable; all but its slots reads as zero. HAK_TAKEN: its place is of no
 * use, now and later. These two by whoever has the seat for itself. */
enum hak_commit hak_heap_room_open(hak_seat *seat);
/* Gives the memory back to the system, until the place is opened again. */
void hak_heap_room_close(hak_seat *seat);

/* Makes the deep magazines usable. False: the system refuses. By the owner. */
bool hak_heap_room_deepen(hak_heap *heap);

/* Whether the address lies in a heap, or in a wall beside one. Any thread. */
bool hak_heap_room_holds(const void *address);
