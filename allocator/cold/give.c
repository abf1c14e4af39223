#include "cold/give.h"

#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "stats/stats.h"

/* True: it belongs to another heap, and is on its way in a chain. */
static HAK_DOOR bool give_elsewhere(hak_heap *heap, unsigned cls, void *block, hak_chains *chains) {
    uintptr_t owner = hak_owner_of(block);
    if (HAK_UNLIKELY(hak_class_of_owner(owner) != cls))
        hak_slab_refuse(hak_run_of(block), block);
    if (hak_heap_in(owner) != heap) {
        HAK_TALLY(heap, cls, remote);
        hak_chains_add(chains, owner, block);
        return true;
    }
    hak_slab_put(heap, hak_run_of(block), block);
    return false;
}

size_t hak_give_back(hak_heap *heap, unsigned cls, void *const *blocks, size_t count) {
    size_t foreign = 0;
    hak_chains elsewhere = {0};
    for (size_t i = 0; i < count; i++)
        if (HAK_UNLIKELY(!hak_slab_give_home(heap, cls, blocks[i])))
            foreign += give_elsewhere(heap, cls, blocks[i], &elsewhere);
    hak_chains_send(&elsewhere);
    return foreign;
}
