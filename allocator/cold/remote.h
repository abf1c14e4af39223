/* Blocks freed by a thread that does not own their slab. The freeing thread links those of one
 * owner into a chain and hands the chain over with one atomic operation; the owner takes all
 * chains at once when it needs blocks. Lock-free: a Treiber stack that is only pushed and emptied,
 * which has no ABA problem. Source: Treiber, IBM RJ 5118 (1986).
 *
 *   remote -> carrier | next | block | block | ... |  -> carrier | next | block | 0 |  -> NULL
 *
 * The chain is unrolled: one block in up to sixteen carries the addresses of the others, as many as
 * fit into it. To read a block that another processor wrote costs about as much as all the rest of
 * its free, and each link has to be there before the next can be asked for. */
#ifndef HAK_COLD_REMOTE_H
#define HAK_COLD_REMOTE_H

#include "base/types.h"

enum { HAK_OPEN_CHAINS = 4 };

/* Chains in the making, each of blocks of one owner. Zero-initialised. */
typedef struct hak_chains {
    struct hak_chain {
        hak_heap *owner;
        hak_link *first, *last; /* carriers; the first one has room, perhaps: */
        unsigned filled, words; /* words of it that say something, and all */
    } open[HAK_OPEN_CHAINS];
} hak_chains;

/* Adds a block to its owner's chain; sends another owner's that is in its place first. `owner`: the
 * owner word of its page. */
void hak_chains_add(hak_chains *chains, uintptr_t owner, void *block);
/* Hands all chains to their owners. */
void hak_chains_send(hak_chains *chains);

/* Takes back what others freed: into the heap's magazines while they have room, the rest into the
 * slabs. Blocks whose slab has another owner by now travel on. By the owner. */
void hak_remote_drain(hak_heap *heap);

#endif
