#include "cold/remote.h"

#include "base/classes.h"
#include "cold/link.h"
#include "cold/epoch.h"
#include "cold/route.h"
#include "cold/slab.h"
#include "pages/range.h"
#include "stats/stats.h"

enum { MOST_WORDS = 16 }; /* of a carrier that are used: two cache lines, read together */

static unsigned words_in(unsigned cls) {
    size_t words = hak_classes[cls].size / sizeof(hak_link);
    return words < MOST_WORDS ? (unsigned)words : MOST_WORDS;
}

/* 0 behind the last address. */
static void close_carrier(const struct hak_chain *chain) {
    if (chain->next != chain->end)
        hak_link_to(chain->next, NULL);
}

static void send(struct hak_chain *chain) {
    _Atomic(hak_link *) *remote = &hak_seat_in(chain->owner)->remote;
    hak_link *head = atomic_load_explicit(remote, memory_order_relaxed);
    close_carrier(chain);
    do
        hak_link_to(chain->last, head);
    while (!atomic_compare_exchange_weak_explicit(remote, &head, chain->first, memory_order_release,
                                                  memory_order_relaxed));
    chain->owner = 0;
    HAK_COUNT(remote_chains, 1);
    hak_purge_expect(); /* the owner may have ended: the epoch takes the blocks back for it */
}

void hak_chains_send(hak_chains *chains) {
    for (unsigned i = 0; i < HAK_OPEN_CHAINS; i++)
        if (chains->open[i].owner != 0)
            send(&chains->open[i]);
}

void hak_chains_carry(struct hak_chain *chain, uintptr_t owner, void *block) {
    hak_link *carrier = block;
    if (chain->owner != owner) {
        if (chain->owner != 0)
            send(chain);
        chain->owner = owner;
        chain->first = NULL;
        chain->last = carrier;
    }
    hak_link_to(carrier, chain->first);
    chain->first = carrier;
    chain->next = carrier + 1;
    chain->end = carrier + words_in(hak_class_of_owner(owner));
}

size_t hak_chains_add_run(hak_chains *chains, uintptr_t owner, void *const *blocks, size_t count) {
    const hak_owners owners = hak_owners_now();
    struct hak_chain *chain = &chains->open[hak_chain_of(owner)];
    hak_chains_add(chains, owner, *blocks);
    size_t room = (size_t)(chain->end - chain->next), most = count - 1 < room ? count - 1 : room;
    size_t n = 0;
    for (; n < most && hak_owners_say(&owners, blocks[n + 1], owner); n++)
        hak_link_to(&chain->next[n], blocks[n + 1]);
    chain->next += n;
    return n + 1;
}

/* ---- the owner ---- */

/* A carrier; or a block for which the magazine of its class has no room, or whose slab has another
 * owner by now, or which is no block at all. */
static HAK_DOOR void take_odd(hak_heap *heap, void *block, hak_chains *elsewhere) {
    uintptr_t owner = hak_owner_of(block);
    if (owner == 0)
        hak_slab_refuse(hak_run_of(block), block);
    if (hak_seat_in(owner) == heap->seat)
        hak_route_take_home(heap, hak_class_of_owner(owner), block);
    else
        hak_chains_add(elsewhere, owner, block);
}

/* Room in the magazine of a class; other routes have none. */
static size_t room_of(const hak_heap *heap, unsigned cls) {
    return hak_is_hot(cls) || hak_is_list(cls) ? 0 : (size_t)(heap->end[cls] - heap->top[cls]);
}

/* The magazine takes the blocks in `words` that are still its heap's, as long as it has room.
 * Returns how many. */
static inline size_t take_home(hak_heap *heap, uintptr_t expected, const hak_link *words,
                               size_t count) {
    const hak_owners owners = hak_owners_now();
    unsigned cls = hak_class_of_owner(expected);
    size_t room = room_of(heap, cls), most = count < room ? count : room, n = 0;
    void **slots = heap->top[cls] + 1, *block;
    for (; n < most && hak_owners_say(&owners, block = hak_link_next(&words[n]), expected); n++)
        slots[n] = block;
    heap->top[cls] += n;
    return n;
}

/* The carrier comes last: until then its slab has a block in use, and its memory stays. */
static hak_link *unload(hak_heap *heap, hak_link *carrier, hak_chains *elsewhere) {
    uintptr_t owner = hak_owner_of(carrier);
    if (HAK_UNLIKELY(owner == 0))
        hak_slab_refuse(hak_run_of(carrier), carrier);
    unsigned cls = hak_class_of_owner(owner);
    uintptr_t expected = hak_owner_word(heap, cls);
    heap->comes_home[cls] = true;
    hak_link *next = hak_link_next(carrier), *block;
    __builtin_prefetch(next);
    const hak_link *word = carrier + 1, *end = carrier + words_in(cls);
    word += take_home(heap, expected, word, (size_t)(end - word));
    for (; word < end && (block = hak_link_next(word)) != NULL; word++)
        take_odd(heap, block, elsewhere);
    if (HAK_UNLIKELY(owner != expected) || room_of(heap, cls) == 0)
        take_odd(heap, carrier, elsewhere);
    else
        *++heap->top[cls] = carrier;
    return next;
}

static hak_link *fetch(hak_heap *heap) {
    _Atomic(hak_link *) *remote = &heap->seat->remote;
    if (heap->came != NULL || atomic_load_explicit(remote, memory_order_relaxed) == NULL)
        return heap->came;
    return atomic_exchange_explicit(remote, NULL, memory_order_acquire);
}

bool hak_remote_drain_some(hak_heap *heap, size_t *carriers) {
    hak_link *carrier = fetch(heap);
    if (carrier == NULL)
        return true;
    hak_chains elsewhere = {0};
    for (; carrier != NULL && *carriers > 0; --*carriers)
        carrier = unload(heap, carrier, &elsewhere);
    heap->came = carrier;
    hak_chains_send(&elsewhere);
    return carrier == NULL;
}

void hak_remote_drain(hak_heap *heap) {
    size_t all = SIZE_MAX;
    if (heap->came != NULL)
        hak_remote_drain_some(heap, &all);
    hak_remote_drain_some(heap, &all);
}
