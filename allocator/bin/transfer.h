/* Where threads leave medium blocks that they have too many of, for whoever wants some. As in a
 * magazine, it does not matter whose slabs the blocks lie in.
 *
 * Several threads may free what any of them allocated. Then each frees a little more of a class
 * than it allocates for a while, and later a little less. Without this cache one would give blocks
 * back to its slabs while another makes new ones. In the long run each thread would have slabs for
 * all blocks that the program ever needed at once.
 *
 *   magazine full  -> hak_transfer_put  -> | block | block | ... |  of each class
 *   magazine empty <- hak_transfer_take <-
 *
 * Blocks wait here until the next purge epoch at most. */
#pragma once

#include "base/types.h"
#include "os/lock.h"

/* Only tried: who finds it held goes on without. No other lock is taken under it. */
extern HAK_HIDDEN hak_lock hak_transfer_lock;

/* Leaves the first of `count` blocks, as many as there is room for, and returns how many. It leaves
 * none of a class of small blocks, and none while another thread is here. */
size_t hak_transfer_put(unsigned cls, void *const *blocks, size_t count);

/* Takes at most `want` blocks, those left last; returns how many. */
size_t hak_transfer_take(unsigned cls, void **blocks, size_t want);

/* Gives all of a class back to the slabs they lie in, by way of a heap. By the owner of the heap.
 */
void hak_transfer_empty(hak_heap *heap, unsigned cls);

size_t hak_transfer_count(unsigned cls);

/* In a forked child: where another thread was at the shelves, what lies on them is lost. */
void hak_transfer_after_fork_in_child(void);
