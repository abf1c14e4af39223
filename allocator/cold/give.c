#include "cold/give.h"

#include "base/classes.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "pages/range.h"
#include "stats/stats.h"

/* ---- to other heaps ---- */

/* Puts the blocks of other heaps that come first into chains; returns how many. */
static HAK_DOOR size_t give_elsewhere(hak_heap *heap, unsigned cls, void *const *blocks,
                                      size_t count, hak_chains *chains) {
    uintptr_t own = hak_owner_word(heap, cls), owner;
    size_t given = 0;
    while (given < count && (owner = hak_owner_of(blocks[given])) != own) {
        if (HAK_UNLIKELY(hak_class_of_owner(owner) != cls))
            hak_slab_refuse(hak_run_of(blocks[given]), blocks[given]);
        given += hak_chains_add_run(chains, owner, blocks + given, count - given);
    }
    HAK_TALLY_MANY(heap, cls, remote, given);
    return given;
}

/* One block of this heap outside the first range, or all those of others that come first. */
static size_t give_odd(hak_heap *heap, unsigned cls, void *const *blocks, size_t count,
                       hak_chains *chains, size_t *foreign) {
    size_t given = give_elsewhere(heap, cls, blocks, count, chains);
    *foreign += given;
    if (given == 0)
        hak_slab_put(heap, hak_run_of(*blocks), *blocks);
    return given != 0 ? given : 1;
}

/* ---- to the slabs of this heap ---- */

/* Returns how many of the blocks, the first of which lies in the slab, went. The class is the
 * caller's: the slab entry need not be read for it. */
static inline size_t give_home(hak_heap *heap, hak_slab *slab, bool in_row, void *const *blocks,
                               size_t count, const hak_class *of) {
    if (in_row)
        return hak_slab_put_run(heap, slab, blocks, count);
    hak_slab_put_as(heap, slab, blocks[0], of);
    return 1;
}

/* Blocks freed one after the other often lie in one slab: the second one in a row takes those
 * behind it along. */
hak_given hak_give_back(hak_heap *heap, unsigned cls, void *const *blocks, size_t count) {
    hak_given given = {0};
    hak_chains elsewhere = {0};
    const hak_slab *last = NULL;
    for (size_t i = 0; i < count; given.runs++) {
        hak_slab *slab = hak_slab_at_home(heap, cls, blocks[i]);
        if (HAK_LIKELY(slab != NULL))
            i += give_home(heap, slab, slab == last, blocks + i, count - i, &hak_classes[cls]);
        else
            i += give_odd(heap, cls, blocks + i, count - i, &elsewhere, &given.foreign);
        last = slab;
    }
    hak_chains_send(&elsewhere);
    return given;
}
