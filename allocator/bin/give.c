#include "bin/give.h"

#include "heap/heap.h"
#include "pages/range.h"
#include "remote/chain.h"
#include "slab/slab.h"

/* Puts the blocks of other heaps that come first into chains; returns how many. */
static HAK_DOOR size_t give_elsewhere(hak_heap *heap, unsigned cls, void *const *blocks,
                                      size_t count, hak_chains *chains) {
    uintptr_t own = hak_owner_word(heap, cls), owner;
    size_t given = 0;
    while (given < count && (owner = hak_owner_of(blocks[given])) != own) {
        if (HAK_UNLIKELY(hak_class_of_owner(owner) != cls))
            hak_slab_refuse(hak_run_of(blocks[given]), blocks[given]);
        if (hak_heap_inherits(heap, owner, blocks[given]))
            continue;
        given += hak_chains_add_run(chains, owner, blocks + given, count - given);
    }
    HAK_TALLY_MANY(heap, cls, remote, given);
    return given;
}

/* One block of this heap that lies outside the first range, or all leading blocks of other
 * heaps. */
static size_t give_odd(hak_heap *heap, unsigned cls, void *const *blocks, size_t count,
                       hak_chains *chains, size_t *remote) {
    size_t given = give_elsewhere(heap, cls, blocks, count, chains);
    *remote += given;
    if (given == 0)
        hak_slab_put(heap, hak_run_of(*blocks), *blocks);
    return given != 0 ? given : 1;
}

enum { SOME = 16 }; /* scattered blocks before the next look */

static bool is_run(void *const *blocks, size_t count) {
    return count > HAK_LONG_RUN && (uintptr_t)blocks[0] >> HAK_PAGE_SHIFT ==
                                       (uintptr_t)blocks[HAK_LONG_RUN] >> HAK_PAGE_SHIFT;
}

/* Blocks freed one after the other often lie in one slab. Returns how many went, 0 where the first
 * one is not at home. */
static size_t give_home(hak_heap *heap, unsigned cls, void *const *blocks, size_t count,
                        size_t *runs) {
    if (is_run(blocks, count)) {
        hak_slab *slab = hak_slab_at_home(heap, cls, blocks[0]);
        *runs += 1;
        return slab != NULL ? hak_slab_put_run(heap, slab, blocks, count) : 0;
    }
    size_t n = hak_slab_put_scattered(heap, cls, blocks, count < SOME ? count : SOME);
    *runs += n;
    return n;
}

hak_given hak_give_back(hak_heap *heap, unsigned cls, void *const *blocks, size_t count) {
    hak_given given = {0};
    hak_chains elsewhere;
    hak_chains_begin(&elsewhere);
    for (size_t i = 0, n; i < count; i += n) {
        n = give_home(heap, cls, blocks + i, count - i, &given.runs);
        if (n == 0)
            n = give_odd(heap, cls, blocks + i, count - i, &elsewhere, &given.remote);
    }
    hak_chains_send(&elsewhere);
    return given;
}
