#include "cold/remote.h"

#include "base/classes.h"
#include "cold/link.h"
#include "cold/purge.h"
#include "cold/range.h"
#include "cold/route.h"
#include "cold/slab.h"
#include "stats/stats.h"

enum { MOST_WORDS = 16 }; /* of a carrier that are used: two cache lines, read together */

static unsigned words_in(unsigned cls) {
    size_t words = hak_classes[cls].size / sizeof(hak_link);
    return words < MOST_WORDS ? (unsigned)words : MOST_WORDS;
}

/* 0 behind the last address. */
static void close_carrier(const struct hak_chain *chain) {
    if (chain->filled < chain->words)
        hak_link_to(chain->first + chain->filled, NULL);
}

static void send(struct hak_chain *chain) {
    _Atomic(hak_link *) *remote = &chain->owner->remote;
    hak_link *head = atomic_load_explicit(remote, memory_order_relaxed);
    close_carrier(chain);
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

/* The block becomes the carrier of those that follow it. */
static void carry(struct hak_chain *chain, hak_link *next, unsigned cls, hak_link *carrier) {
    hak_link_to(carrier, next);
    chain->first = carrier;
    chain->filled = 1;
    chain->words = words_in(cls);
}

static void start(struct hak_chain *chain, hak_heap *owner, unsigned cls, hak_link *carrier) {
    if (chain->owner != NULL)
        send(chain);
    chain->owner = owner;
    chain->last = carrier;
    carry(chain, NULL, cls, carrier);
}

/* Multiplicative hashing; the factor is 2^64 divided by the golden ratio. Source: Knuth, The Art of
 * Computer Programming, vol. 3, 6.4. */
static unsigned place_of(const hak_heap *owner) {
    return (unsigned)(((uintptr_t)owner * UINT64_C(0x9e3779b97f4a7c15)) >> 62) % HAK_OPEN_CHAINS;
}

void hak_chains_add(hak_chains *chains, uintptr_t owner, void *block) {
    hak_heap *heap = hak_heap_in(owner);
    struct hak_chain *chain = &chains->open[place_of(heap)];
    if (chain->owner != heap)
        start(chain, heap, hak_class_of_owner(owner), block);
    else if (chain->filled < chain->words)
        hak_link_to(chain->first + chain->filled++, block);
    else
        carry(chain, chain->first, hak_class_of_owner(owner), block);
}

/* ---- the owner ---- */

static uintptr_t owner_of(const void *block) {
    uintptr_t owner = hak_owner_of(block);
    if (HAK_UNLIKELY(owner == 0))
        hak_slab_refuse(hak_run_of(block), block);
    return owner;
}

static void take_home(hak_heap *heap, uintptr_t owner, void *block, hak_chains *elsewhere) {
    if (HAK_LIKELY(hak_heap_in(owner) == heap))
        hak_route_take_home(heap, hak_class_of_owner(owner), block);
    else
        hak_chains_add(elsewhere, owner, block);
}

/* The carrier comes last: until then its slab has a block in use, and its memory stays. */
static hak_link *unload(hak_heap *heap, hak_link *carrier, hak_chains *elsewhere) {
    uintptr_t owner = owner_of(carrier);
    unsigned words = words_in(hak_class_of_owner(owner));
    hak_link *next = hak_link_next(carrier), *block;
    __builtin_prefetch(next);
    for (unsigned i = 1; i < words && (block = hak_link_next(carrier + i)) != NULL; i++)
        take_home(heap, owner_of(block), block, elsewhere);
    take_home(heap, owner, carrier, elsewhere);
    return next;
}

void hak_remote_drain(hak_heap *heap) {
    if (atomic_load_explicit(&heap->remote, memory_order_relaxed) == NULL)
        return;
    hak_chains elsewhere = {0};
    hak_link *carrier = atomic_exchange_explicit(&heap->remote, NULL, memory_order_acquire);
    while (carrier != NULL)
        carrier = unload(heap, carrier, &elsewhere);
    hak_chains_send(&elsewhere);
}
