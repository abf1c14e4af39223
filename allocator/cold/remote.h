/* Blocks freed by a thread that does not own their slab. The freeing thread links those of one
 * owner into a chain and hands the chain over with one atomic operation; the owner takes all
 * chains at once when it needs blocks. Lock-free: a Treiber stack that is only pushed and emptied,
 * which has no ABA problem. Source: Treiber, IBM RJ 5118 (1986). */
#ifndef HAK_COLD_REMOTE_H
#define HAK_COLD_REMOTE_H

#include "base/types.h"

/* A chain in the making: blocks of one owner. Zero-initialised. */
typedef struct hak_chain {
    hak_heap *owner;
    hak_link *first, *last;
} hak_chain;

/* Adds a block; sends the chain first when it belongs to another owner. */
void hak_chain_add(hak_chain *chain, hak_heap *owner, void *block);
/* Hands the chain to its owner; an empty one is left alone. */
void hak_chain_send(hak_chain *chain);

/* Takes back what others freed: blocks of `class` into the heap's magazine while it has room, the
 * rest into their slabs. Blocks whose slab has another owner by now travel on. By the owner. */
void hak_remote_drain(hak_heap *heap, unsigned cls);

#endif
