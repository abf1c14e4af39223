#include "cold/remote.h"

#include "cold/range.h"
#include "cold/slab.h"
#include "stats/stats.h"

void hak_chain_send(hak_chain *chain) {
    if (chain->owner == NULL)
        return;
    _Atomic(hak_link *) *remote = &chain->owner->remote;
    hak_link *head = atomic_load_explicit(remote, memory_order_relaxed);
    do
        chain->last->next = head;
    while (!atomic_compare_exchange_weak_explicit(remote, &head, chain->first, memory_order_release,
                                                  memory_order_relaxed));
    chain->owner = NULL;
    HAK_COUNT(remote_chains, 1);
}

void hak_chain_add(hak_chain *chain, hak_heap *owner, void *block) {
    hak_link *link = block;
    if (chain->owner != owner) {
        hak_chain_send(chain);
        chain->owner = owner;
        chain->last = link;
        link->next = NULL;
    } else {
        link->next = chain->first;
    }
    chain->first = link;
}

static bool into_magazine(hak_heap *heap, unsigned cls, void *block) {
    if (heap->top[cls] == heap->end[cls])
        return false;
    *++heap->top[cls] = block;
    return true;
}

void hak_remote_drain(hak_heap *heap, unsigned cls) {
    if (atomic_load_explicit(&heap->remote, memory_order_relaxed) == NULL)
        return;
    hak_chain elsewhere = {0};
    hak_link *link = atomic_exchange_explicit(&heap->remote, NULL, memory_order_acquire);
    while (link != NULL) {
        void *block = link;
        link = link->next;
        hak_slab *slab = hak_run_of(block);
        hak_heap *owner = atomic_load_explicit(&slab->owner, memory_order_relaxed);
        if (HAK_UNLIKELY(slab->cls == HAK_CLASS_NONE))
            hak_slab_refuse(slab, block);
        if (owner != heap)
            hak_chain_add(&elsewhere, owner, block);
        else if (slab->cls != cls || !into_magazine(heap, cls, block))
            hak_slab_put(heap, slab, block);
    }
    hak_chain_send(&elsewhere);
}
