/* The owner's side of remote frees: blocks that other threads have chained (remote/chain.h) come
 * back. */
#pragma once

#include "base/types.h"

/* Takes back what others freed: into the heap's magazines while they have room, the rest into the
 * slabs. Blocks whose slab has another owner by now travel on. By the owner. */
void hak_drain(hak_heap *heap);
/* The same for so many carriers, which it counts down. True: all that had come is back. */
bool hak_drain_some(hak_heap *heap, size_t *carriers);
