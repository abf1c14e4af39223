/* What lies behind the hot path: a thread's magazine of a class is empty, or full, or blocks come
 * home. All by the heap's owner; the class is not armed. */
#pragma once

#include "base/types.h"

/* A block, after the magazine was filled if it was empty. NULL: out of memory. */
void *hak_bin_take(hak_heap *heap, unsigned cls);

/* A block that no magazine has had. NULL: out of memory. */
void *hak_bin_take_alone(hak_heap *heap, unsigned cls);

/* Puts a block into the magazine, after room was made if it was full. */
void hak_bin_give(hak_heap *heap, unsigned cls, void *block);

/* Blocks come home from other threads, to be handed out again soon: a magazine may grow for them.
 */
void hak_bin_grow_for_home(hak_heap *heap, unsigned cls);

/* Gives all blocks of the magazine back. */
void hak_bin_flush(hak_heap *heap, unsigned cls);

/* Takes back what others freed (remote/chain.h), of all classes, armed or not: into the magazines
 * while they have room, the rest into the slabs. Blocks whose slab has another owner by now travel
 * on. */
void hak_drain(hak_heap *heap);
/* The same for so many carriers, which it counts down. True: all that had come is back. */
bool hak_drain_some(hak_heap *heap, size_t *carriers);
