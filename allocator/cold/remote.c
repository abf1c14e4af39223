#include "cold/remote.h"

#include "cold/link.h"
#include "cold/purge.h"
#include "cold/range.h"
#include "cold/route.h"
#include "cold/slab.h"
#include "stats/stats.h"

static void send(struct hak_chain *chain) {
    _Atomic(hak_link *) *remote = &chain->owner->remote;
    hak_link *head = atomic_load_explicit(remote, memory_order_relaxed);
    do
        hak_link_to(chain->last, head);
    while (!atomic_compare_exchange_weak_explicit(remote, &head, chain->first, memory_order_release,
                                                  memory_order_relaxed));
    chain->owner = NULL;
    HAK_COUNT(remote_chains, 1);
    hak_purge_expect(); /* the owner may have ended: the epoch takes the blocks back for it */
}

void hak_chains_send(hak_chains *chains) {
    for (unsigned i = 0; i < HAK_OPEN_CHAINS; i++)
        if (chains->open[i].owner != NULL)
            send(&chains->open[i]);
}

static void start(struct hak_chain *chain, hak_heap *owner, hak_link *link) {
    if (chain->owner != NULL)
        send(chain);
    chain->owner = owner;
    chain->last = link;
    hak_link_to(link, NULL);
}

/* Multiplicative hashing; the factor is 2^64 divided by the golden ratio. Source: Knuth, The Art of
 * Computer Programming, vol. 3, 6.4. */
static unsigned place_of(const hak_heap *owner) {
    return (unsigned)(((uintptr_t)owner * UINT64_C(0x9e3779b97f4a7c15)) >> 62) % HAK_OPEN_CHAINS;
}

void hak_chains_add(hak_chains *chains, hak_heap *owner, void *block) {
    hak_link *link = block;
    struct hak_chain *chain = &chains->open[place_of(owner)];
    if (chain->owner != owner)
        start(chain, owner, link);
    else
        hak_link_to(link, chain->first);
    chain->first = link;
}

void hak_remote_drain(hak_heap *heap) {
    if (atomic_load_explicit(&heap->remote, memory_order_relaxed) == NULL)
        return;
    hak_chains elsewhere = {0};
    hak_link *link = atomic_exchange_explicit(&heap->remote, NULL, memory_order_acquire);
    while (link != NULL) {
        void *block = link;
        uintptr_t owner = hak_owner_of(block);
        if (HAK_UNLIKELY(owner == 0))
            hak_slab_refuse(hak_run_of(block), block);
        link = hak_link_next(link);
        if (HAK_LIKELY(hak_heap_in(owner) == heap))
            hak_route_take_home(heap, hak_class_of_owner(owner), block);
        else
            hak_chains_add(&elsewhere, hak_heap_in(owner), block);
    }
    hak_chains_send(&elsewhere);
}
