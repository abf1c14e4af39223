#include "cold/pool.h"

#include "cold/give.h"
#include "cold/heap.h"
#include "cold/remote.h"
#include "cold/slab.h"

void *hak_pool_take(hak_heap *heap, unsigned cls) {
    hak_remote_drain(heap);
    hak_slab *slab = hak_heap_slab(heap, cls);
    void *block = NULL;
    if (slab != NULL)
        hak_slab_take(heap, slab, &block, 1);
    return block;
}

void hak_pool_give(hak_heap *heap, unsigned cls, void *block) {
    hak_give_back(heap, cls, &block, 1);
}
