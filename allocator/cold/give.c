#include "cold/give.h"

#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "stats/stats.h"

/* Puts the blocks of other heaps that come first into chains; returns how many. */
static HAK_DOOR size_t give_elsewhere(hak_heap *heap, unsigned cls, void *const *blocks,
                                      size_t count, hak_chains *chains) {
    uintptr_t own = hak_owner_word(heap, cls), owner;
    size_t given = 0;
    for (; given < count && (owner = hak_owner_of(blocks[given])) != own; given++) {
        if (HAK_UNLIKELY(hak_class_of_owner(owner) != cls))
            hak_slab_refuse(hak_run_of(blocks[given]), blocks[given]);
        HAK_TALLY(heap, cls, remote);
        hak_chains_add(chains, owner, blocks[given]);
    }
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

size_t hak_give_back(hak_heap *heap, unsigned cls, void *const *blocks, size_t count) {
    size_t foreign = 0;
    hak_chains elsewhere = {0};
    for (size_t i = 0; i < count;)
        if (HAK_LIKELY(hak_slab_give_home(heap, cls, blocks[i])))
            i++;
        else
            i += give_odd(heap, cls, blocks + i, count - i, &elsewhere, &foreign);
    hak_chains_send(&elsewhere);
    return foreign;
}
