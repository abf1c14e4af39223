/* The free pages of a slab: free blocks hold nothing of ours, so system pages that consist of them
 * alone can go, even where the slab is still in use.
 *
 *   blocks    |used|free|free|free|free|used|free|  never carved    |
 *   pages     |         |xxxxxxxxx|         |       xxxxxxxxxxxxxxxx|      x: goes
 *
 * All by the owner of the slab's heap. */
#pragma once

#include "base/types.h"

/* Purges what lies wholly in free blocks, and notes that in the slab's pulse. Returns the bytes. */
size_t hak_slab_purge_free_blocks(hak_slab *slab);

/* Purges what lies behind the carved blocks, where another slab has left something there. */
size_t hak_slab_purge_tail(hak_slab *slab);

/* Whether the free blocks are a page together; they need not be side by side. */
bool hak_slab_has_free_page(const hak_slab *slab);
