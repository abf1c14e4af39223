/* Blocks freed by a thread that does not own their slab. The freeing thread links those of one
 * owner into a chain and hands the chain over with one atomic operation; the owner takes all
 * chains at once when it needs blocks. Lock-free: a Treiber stack that is only pushed and emptied,
 * which has no ABA problem. Source: Treiber, IBM RJ 5118 (1986).
 *
 *   remote -> carrier | next | block | block | ... |  -> carrier | next | block | 0 |  -> NULL
 *
 * The chain is unrolled: one block carries the addresses of others, as many as fit into it. To read
 * a block that another processor wrote costs about as much as all the rest of its free, and each
 * link has to be there before the next can be asked for. */
#pragma once

#include "base/classes.h"
#include "heap/seat.h"
#include "remote/link.h"
#include "slab/slab.h"

/* Chains in the making, each of blocks of one owner and class. */
typedef struct hak_chains {
    struct hak_chain {
        uintptr_t owner;        /* the owner word of their pages; 0: no chain */
        hak_link *first, *last; /* carriers; the first one has room, perhaps: */
        hak_link *next, *end;   /* the word for the next address, and the one behind the last */
        uintptr_t key;          /* of the first carrier's words */
        size_t full;            /* carriers behind the first one */
    } open[HAK_FEW_SEATS];
} hak_chains;

/* Seats lie side by side in a table: a few threads that start one after the other never share a
 * chain, wherever the table lies. All blocks of one go have the same class. */
HAK_INLINE unsigned hak_chain_of(uintptr_t owner) {
    return (unsigned)(owner / HAK_CLASS_LIMIT) % HAK_FEW_SEATS;
}

HAK_INLINE void hak_chains_begin(hak_chains *chains) {
    for (unsigned i = 0; i < HAK_FEW_SEATS; i++)
        chains->open[i].owner = 0;
}

/* Adds the first of `count` blocks to its owner's chain, and those behind it that have the same
 * owner, as far as the carrier has room. `owner`: the owner word of its page. Returns how many. */
size_t hak_chains_add_run(hak_chains *chains, uintptr_t owner, void *const *blocks, size_t count);

void hak_chains_send(hak_chains *chains);

/* Blocks of a class that were sent and have not been unloaded. Any thread. */
size_t hak_chain_blocks_away(unsigned cls);

void hak_chain_came_home(unsigned cls, size_t blocks);

/* ---- what both sides ask of a carrier ---- */

HAK_INLINE unsigned hak_words_in(unsigned cls) {
    return (unsigned)(hak_classes[cls].size / sizeof(hak_link));
}

/* Ends the program if no block begins there: malloc would hand out the middle of one. */
HAK_COLD void hak_chain_look_closer(const hak_class *of, const void *block);
